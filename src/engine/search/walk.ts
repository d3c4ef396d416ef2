// A tree as a lazy stream of entries in path order; the caller limits by breaking out. What a walk could not do
// is in its report, to be read when the stream has ended.
import type { Directory } from "../workspace/directory.ts";
import { Pace, type Patience } from "./pace.ts";
import { type Scope, WalkEntry, Walker } from "./walker.ts";

export interface WalkOptions extends Scope, Patience {
  /** The most entries to give. */
  readonly maxEntries?: number | undefined;
  /** The most files to look at, given or not. */
  readonly maxFiles?: number | undefined;
}

export interface WalkReport {
  /** Files met, whether given or not. */
  files: number;
  /** Directories that could not be read. */
  inaccessible: number;
  /** Why it ended before the tree did. */
  stopped: "entries" | "files" | "time" | undefined;
}

export interface Walk extends AsyncIterable<WalkEntry> {
  readonly report: Readonly<WalkReport>;
}

/**
 * Goes through what lies below `start`. Links are given and never followed. Faults: `cancelled`, and whatever
 * reading the start itself runs into.
 */
export function walk(start: Directory, options: WalkOptions = {}): Walk {
  const report: WalkReport = { files: 0, inaccessible: 0, stopped: undefined };
  return { report, [Symbol.asyncIterator]: () => entries(start, options, report) };
}

async function* entries(
  start: Directory,
  options: WalkOptions,
  report: WalkReport,
): AsyncGenerator<WalkEntry, void, undefined> {
  const { maxEntries = Number.POSITIVE_INFINITY, maxFiles = Number.POSITIVE_INFINITY } = options;
  const pace = new Pace(options);
  using walker = new Walker(start, options);
  let given = 0;
  for (;;) {
    if (pace.isDue) await pace.rest();
    const entry = walker.next();
    report.inaccessible = walker.inaccessible;
    report.files = Math.min(walker.files, maxFiles);
    if (walker.files > maxFiles) report.stopped = "files";
    else if (entry !== undefined && pace.isOver) report.stopped = "time";
    else if (entry instanceof WalkEntry && given === maxEntries) report.stopped = "entries";
    if (report.stopped !== undefined || entry === undefined) return;
    if (entry === "entered") continue;
    given++;
    yield entry;
  }
}
