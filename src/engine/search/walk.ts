// A tree as a lazy stream of entries in path order; the caller stops by breaking out. The report, complete when the
// stream has ended, says what the walk could not do.
import type { Directory } from "../workspace/directory.ts";
import { type Group, type Scope, type WalkEntry, Walker } from "./walker.ts";
import { type WorkLimits, WorkSlice } from "./work-slice.ts";

/** Entries and directories to process between looks at the clock. */
const seldom = 64;

export interface WalkOptions extends Scope, WorkLimits {
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
  /** Entries that the policy leaves out, a directory with all that it holds as one; `.git` does not count. */
  leftOut: number;
  /** Directories that were not entered because they are as deep as the scope goes. */
  tooDeep: number;
  /** Why it ended before the tree did. */
  stopped: "entries" | "files" | "time" | undefined;
}

export interface Walk extends AsyncIterable<WalkEntry> {
  readonly report: Readonly<WalkReport>;
  /** Gives every entry to `visit`, which ends the walk with false. Quicker for many: nothing waits in between. */
  each(visit: (entry: WalkEntry) => boolean | undefined): Promise<void>;
}

/**
 * Walks everything below `start`. Links are listed and never followed. Faults: `cancelled`, and those of reading the
 * start.
 */
export function walk(start: Directory, options: WalkOptions = {}): Walk {
  const report: WalkReport = { files: 0, inaccessible: 0, leftOut: 0, tooDeep: 0, stopped: undefined };
  return {
    report,
    each: async visit => new Entries(start, options, report).each(visit),
    [Symbol.asyncIterator]: () => new Entries(start, options, report),
  };
}

/**
 * The same in groups: the cheapest way to get many entries. Returning false from `visit` stops the walk. Includes
 * everything, not only files.
 */
export async function walkGroups(
  start: Directory,
  options: Scope & WorkLimits,
  visit: (group: Group) => boolean | undefined,
): Promise<WalkReport> {
  const slice = new WorkSlice(options);
  using walker = new Walker(start, options);
  let stopped: WalkReport["stopped"];
  let unasked = 0;
  for (let group = walker.nextGroup(); group !== undefined; group = walker.nextGroup()) {
    if (group !== "entered" && visit(group) === false) break;
    // Asking for the time takes as long as some of this.
    unasked += group === "entered" ? 1 : group.entries.length;
    if (unasked < seldom) continue;
    unasked = 0;
    if (!slice.isDueNow) continue;
    await slice.rest();
    if (!slice.isOver) continue;
    stopped = "time";
    break;
  }
  const { files, inaccessible, leftOut, tooDeep } = walker;
  return { files, inaccessible, leftOut, tooDeep, stopped };
}

/** An iterator by hand: an async generator would cost more per entry than finding it does. */
class Entries implements AsyncIterator<WalkEntry, undefined, undefined> {
  readonly #walker: Walker;
  readonly #slice: WorkSlice;
  readonly #maxEntries: number;
  readonly #maxFiles: number;
  readonly #report: WalkReport;
  #given = 0;

  constructor(start: Directory, options: WalkOptions, report: WalkReport) {
    this.#slice = new WorkSlice(options);
    this.#walker = new Walker(start, options);
    this.#maxEntries = options.maxEntries ?? Number.POSITIVE_INFINITY;
    this.#maxFiles = options.maxFiles ?? Number.POSITIVE_INFINITY;
    this.#report = report;
  }

  next(): Promise<IteratorResult<WalkEntry, undefined>> {
    const entry = this.#step();
    if (entry === "due") return this.#rest().then(() => this.next());
    return Promise.resolve(
      entry === undefined ? { done: true, value: undefined } : { done: false, value: entry },
    );
  }

  async each(visit: (entry: WalkEntry) => boolean | undefined): Promise<void> {
    try {
      for (;;) {
        const entry = this.#step();
        if (entry === "due") await this.#rest();
        else if (entry === undefined || visit(entry) === false) return;
      }
    } finally {
      this.#walker[Symbol.dispose]();
    }
  }

  return(): Promise<IteratorResult<WalkEntry, undefined>> {
    this.#walker[Symbol.dispose]();
    return Promise.resolve({ done: true, value: undefined });
  }

  /** The next entry, undefined at the end, "due" if the event loop should run first. */
  #step(): WalkEntry | "due" | undefined {
    try {
      while (this.#report.stopped === undefined) {
        if (this.#slice.isDue) return "due";
        const entry = this.#walker.next();
        if (entry === "entered") continue;
        this.#tally(entry);
        if (entry === undefined || this.#report.stopped !== undefined) break;
        this.#given++;
        return entry;
      }
    } catch (error) {
      this.#walker[Symbol.dispose]();
      throw error;
    }
    this.#walker[Symbol.dispose]();
    return undefined;
  }

  async #rest(): Promise<void> {
    try {
      await this.#slice.rest();
    } catch (error) {
      this.#walker[Symbol.dispose]();
      throw error;
    }
    if (this.#slice.isOver) this.#report.stopped = "time";
  }

  #tally(entry: WalkEntry | undefined): void {
    const { files, inaccessible, leftOut, tooDeep } = this.#walker;
    this.#report.files = Math.min(files, this.#maxFiles);
    this.#report.inaccessible = inaccessible;
    this.#report.leftOut = leftOut;
    this.#report.tooDeep = tooDeep;
    if (files > this.#maxFiles) this.#report.stopped = "files";
    else if (entry !== undefined && this.#given === this.#maxEntries) this.#report.stopped = "entries";
  }
}
