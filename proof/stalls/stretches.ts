// How long the server's main thread works without a turn of the event loop, in processor time: what a call beside it
// waits at least, on any machine. Known only on Linux.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repository } from "../places.ts";

const monitor = pathToFileURL(join(repository, "proof/stalls/monitor-program.mjs")).href;
const isKnown = existsSync("/proc/self/schedstat");

export class Stretches {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    writeFileSync(file, "");
  }

  /** What the server needs in its environment. */
  get env(): Record<string, string> {
    return isKnown ? { NODE_OPTIONS: `--import=${monitor}`, POLYFS_STRETCHES: this.#file } : {};
  }

  /** The longest one between two times, in milliseconds; undefined if that is not known. */
  longest(from: number, to: number): number | undefined {
    if (!isKnown) return undefined;
    const all = readFileSync(this.#file, "utf8").trim().split("\n");
    const within = all
      .map(line => line.split(" ").map(Number))
      .filter(([at = 0]) => at >= from && at <= to)
      .map(([, ms = 0]) => ms);
    return Math.max(0, ...within);
  }
}
