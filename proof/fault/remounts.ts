// The server is killed in the middle of a patch on a disk of its own, which is taken away. The next server starts without
// it, with another disk in its place, or with the disk read-only; then the disk is back. The same on an overlay over two
// disks, whose directories have other inode numbers each time that it is mounted. What is there at the end is the result
// of a whole number of calls, at least those that were acknowledged, and the other disk has nothing of it.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Chance } from "../chance.ts";
import { program } from "../places.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";
import { known } from "./traced.ts";

const names = Array.from({ length: 10 }, (_, i) => `disk/d/f${i}`);
const hunk = (name: string, from: number) =>
  `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${from + 1}\n`;
const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

interface Place {
  /** Puts it there; false if that is not possible here. */
  mount(): boolean;
  unmount(): void;
  end(): void;
}

const places: Readonly<
  Record<string, (server: ServerUnderTest, at: string, chance: Chance) => Place | undefined>
> = {
  "a disk": (server, at) => onOneDisk(newDisk(join(server.base, "image")), at),
  // Its device number stands for no disk.
  "a disk with btrfs": (server, at) => onOneDisk(newDisk(join(server.base, "image"), "btrfs"), at),
  "an overlay"(server, at, chance) {
    const layers = ["lower", "upper"].map(name => join(server.base, name));
    for (const layer of layers) {
      const image = newDisk(`${layer}-image`);
      mkdirSync(layer);
      if (image === undefined || !run("mount", "-o", "loop", image, layer)) return undefined;
    }
    const [lower = "", upper = ""] = layers;
    for (const name of [`${lower}/l`, `${lower}/l/e`, `${lower}/l/g`, `${upper}/u`, `${upper}/w`])
      mkdirSync(name);
    return {
      mount() {
        const how = `lowerdir=${lower}/l,upperdir=${upper}/u,workdir=${upper}/w`;
        if (!run("mount", "-t", "overlay", "overlay", "-o", how, at)) return false;
        // Directories are numbered as they are looked at.
        for (const name of chance.shuffled(readdirSync(at))) statSync(join(at, name));
        return true;
      },
      unmount: () => run("umount", "-l", at),
      end() {
        for (const one of [at, ...layers]) run("umount", "-l", one);
      },
    };
  },
};

function onOneDisk(image: string | undefined, at: string): Place | undefined {
  if (image === undefined) return undefined;
  return {
    mount: () => run("mount", "-o", "loop", image, at),
    unmount: () => run("umount", "-l", at),
    end: () => run("umount", "-l", at),
  };
}

function fill(server: ServerUnderTest, text: string): void {
  for (const name of names) server.put(name, text);
}

/** On a busy machine, a disk may be in use for a while after it was unmounted. */
async function isMountedAgain(place: Place): Promise<boolean> {
  for (let tries = 0; tries < 100; tries++) {
    if (place.mount()) return true;
    await setTimeout(100);
  }
  return false;
}

let disks = 0;

/**
 * Each is formatted an hour after the one before: only that tells the tops of two disks apart. Undefined if it cannot be
 * made.
 */
function newDisk(image: string, kind: "ext4" | "btrfs" = "ext4"): string | undefined {
  writeFileSync(image, "");
  truncateSync(image, kind === "ext4" ? 16e6 : 128e6);
  const at = 1_700_000_000 + 3600 * disks++;
  const [format, ...how] =
    kind === "ext4"
      ? ["mkfs.ext4", "-q", "-F", "-I", "256", image]
      : [
          "faketime",
          "-f",
          `@${new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ")}`,
          "mkfs.btrfs",
          "-q",
          image,
        ];
  const env = { ...process.env, E2FSPROGS_FAKE_TIME: String(at) };
  const { status } = spawnSync(format ?? "", how, { env });
  return status === 0 ? image : undefined;
}

/** With "no server", none starts without the disk. */
const meanwhile: Readonly<Record<string, readonly string[]>> = {
  "a disk": ["nothing", "another disk", "memory", "read-only", "no server"],
  "a disk with btrfs": ["nothing", "another disk", "memory", "read-only", "no server"],
  // Memory has no number of a disk either, so nothing shows that it is not the overlay without the directory.
  "an overlay": ["nothing", "another disk", "read-only", "no server"],
};

export async function takeDisksAway({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R142")) return;
  if (!run("strace", "-o", "/dev/null", "true"))
    return tally.skipped("R142", "needs strace, and permission to trace");
  for (const [kind, make] of Object.entries(places)) {
    await using server = new ServerUnderTest();
    const at = join(server.root, "disk");
    mkdirSync(at);
    const other = newDisk(join(server.base, "other"), kind === "a disk with btrfs" ? "btrfs" : "ext4");
    // Its directory and files have the same names and numbers as those of the disk that is patched.
    if (other !== undefined && run("mount", "-o", "loop", other, at)) {
      fill(server, "of the other disk\n");
      run("umount", "-l", at);
    }
    const place = make(server, at, chance);
    if (!place?.mount() || other === undefined) {
      place?.end();
      tally.skipped(`R142 (${kind})`, "needs permission to mount loop devices, and mkfs.ext4");
      continue;
    }
    try {
      fill(server, "0\n");
      let version = 0;
      for (let round = 0; round < (long ? 100 : 6); round++) {
        const when = 4 + chance.below(14);
        const between = chance.pick(meanwhile[kind] ?? []);
        await tally.attempt(`R142 (${kind}; ${between}; killed in rename ${when})`, async () => {
          const answered = patchAndKill(server, version, when) ? version + 1 : version;
          place.unmount();
          if (between !== "no server") {
            if (between === "another disk") run("mount", "-o", "loop", other, at);
            if (between === "memory") run("mount", "-t", "tmpfs", "tmpfs", at);
            if (between === "read-only" && (await isMountedAgain(place)))
              run("mount", "-o", "remount,ro", at);
            const before = JSON.stringify(server.tree());
            const wire = await server.serve();
            await told(wire, "list_directory", { path: "disk" });
            const after = JSON.stringify(server.tree());
            if (after !== before) throw new Error(`written to ${between}: ${before}, then ${after}`);
            await end(wire, chance.pick(["SIGKILL", "SIGTERM"]));
            run("umount", "-l", at);
          }
          if (!(await isMountedAgain(place))) throw new Error("it cannot be mounted again");
          const next = await server.serve();
          for (const name of names) await told(next, "read_file", { path: name });
          await end(next);
          const texts = new Set(names.map(name => server.tree()[name]));
          version = Number([...texts][0]);
          if (texts.size !== 1) throw new Error(`half a commit: ${[...texts].join()}`);
          if (version < answered) throw new Error(`version ${answered} was answered, ${version} is there`);
          server.orderly();
        });
      }
    } finally {
      place.end();
    }
  }
}

/** Whether it was acknowledged. */
function patchAndKill(server: ServerUnderTest, from: number, when: number): boolean {
  const patch = names.map(name => hunk(name, from)).join("");
  const how = [
    "--state-dir",
    server.state,
    "--workspace",
    server.root,
    "apply_patch",
    JSON.stringify({ patch }),
  ];
  const kill = `inject=${known("renameat,renameat2,rename")}:signal=KILL:when=${when}`;
  const traced = ["-f", "-qq", "-o", "/dev/null", "-e", kill, process.execPath, program, "call", ...how];
  return spawnSync("strace", traced).status === 0;
}
