// What polyfs promises on each platform, and how much of it is shown: the short form of the table in SECURITY.md, which
// `polyfs doctor` prints for the machine that it runs on.
import { byDescriptor } from "../engine/workspace/system/descriptors.ts";

export interface PlatformPromises {
  readonly platform: string;
  /** Promised, and tried by the suites on this very platform. */
  readonly shown: readonly string[];
  /** Promised, and tried only where another system acts the platform's part. */
  readonly emulated: readonly string[];
  readonly notPromised: readonly string[];
}

const work = "reading, searching, writing, undo";
const containment = "containment";
const race = "containment while directories are swapped";
const together = "two servers on one tree";
const killed = "no torn file after a kill";
const power = "safety after a power cut";
const attributes = "extended attributes stay";
const sandbox = "the sandbox for commands";

const all: Readonly<Record<"linux" | "bare" | "darwin" | "win32" | "other", PlatformPromises>> = {
  linux: {
    platform: "Linux with /proc",
    shown: [work, containment, race, together, killed, power, attributes, sandbox],
    emulated: [],
    notPromised: [],
  },
  bare: {
    platform: "Linux without /proc",
    shown: [work, containment, race, together, killed],
    emulated: [],
    notPromised: [power, attributes, sandbox, "work in directories whose names are not UTF-8"],
  },
  darwin: {
    platform: "macOS",
    shown: [],
    emulated: [work, containment, race, together, killed],
    notPromised: [power, attributes, sandbox],
  },
  win32: {
    platform: "Windows",
    shown: [],
    emulated: [work, containment, together, killed],
    notPromised: [race, power, attributes, sandbox],
  },
  other: {
    platform: "this system",
    shown: [],
    emulated: [work, containment, race, together, killed],
    notPromised: [power, attributes, sandbox],
  },
};

export function promisesHere(platform: NodeJS.Platform = process.platform): PlatformPromises {
  if (platform === "linux") return byDescriptor ? all.linux : all.bare;
  return platform === "darwin" || platform === "win32" ? all[platform] : all.other;
}
