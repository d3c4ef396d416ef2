// The beginning of a search, done here: the first files in path order are read and searched in this process. A small
// tree is through before ripgrep would have started, and the first hits of a common word are found at once. What
// takes longer is handed over, with the place that was reached.
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Directory, Entry } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import type { Root } from "../workspace/root.ts";
import { given, hitsOf, wantedLines } from "./give.ts";
import type { FileHits, GrepOptions, GrepReport } from "./grep-terms.ts";
import type { HeadStart } from "./head-start.ts";
import type { GrepLine } from "./hits.ts";
import type { Place } from "./kept.ts";
import { type Finder, isWide, linesWith } from "./lines-with.ts";
import type { Pace } from "./pace.ts";
import { WalkEntry, Walker } from "./walker.ts";

const largestFile = 1024 * 1024;
const mostMs = 60; // where hits come so often that the limit will be reached
const ampleMs = 500; // where ripgrep would have to tell of masses

const patienceMs = 10; // what ripgrep takes to start and to end
const sharedMs = 6; // where it began meanwhile
const littleMs = 2; // before it can be told how long it will take

/** How many files there were the last time. A guess about the next, and never more. */
const sizes = new WeakMap<Root, Map<string, number>>();
const maxRemembered = 256;

/** Where ripgrep has to go on: behind a place, or from the start. */
export interface Handover {
  readonly behind: Place | undefined;
  /** How many matching lines were given. */
  readonly hits: number;
}

/** Gives the files with hits until the end, which it returns undefined for, or until ripgrep had better go on. */
export async function* searchHere(
  start: Directory,
  find: Finder,
  options: GrepOptions,
  report: GrepReport,
  pace: Pace,
  headStart: HeadStart,
): AsyncGenerator<FileHits, Handover | undefined, undefined> {
  const { limit = Number.POSITIVE_INFINITY, maxFiles = Number.POSITIVE_INFINITY } = options;
  const { maxFileSize = Number.POSITIVE_INFINITY } = options;
  let most = mostMs;
  if (headStart.hasBegun) {
    if (!(await headStart.isAmple())) return { behind: undefined, hits: 0 };
    most = ampleMs;
  }
  const files = sizes.get(start.root)?.get(start.path);
  using walker = new Walker(start, { ...options, order: "paths" });
  let began = clock();
  let behind: Place | undefined;
  let hits = 0;
  let seen = 0;
  let searched = 0;
  let unreadable = 0;
  for (;;) {
    if (pace.isDue) await pace.rest();
    const spent = clock() - began;
    if (spent > littleMs && (spent * limit) / hits > most) {
      const isLong = files === undefined ? spent > sharedMs : (spent * files) / searched > patienceMs;
      if (isLong) return { behind, hits };
      if (files === undefined) await headStart.begin();
    }
    const entry = walker.next();
    if (entry === undefined) break;
    if (!(entry instanceof WalkEntry) || entry.kind !== "file") continue;
    if (seen++ === maxFiles) {
      report.stopped = "files";
      break;
    }
    if (entry.raw !== undefined) return { behind, hits };
    using file = opened(entry.parent, entry);
    if (file === undefined) unreadable++;
    else if (file.size <= maxFileSize) {
      searched++;
      const lines = await searchText(file, find, options);
      if (lines === undefined) return { behind, hits };
      if (lines.length > 0) {
        const count = matching(lines);
        const paused = clock();
        yield given(entry.path, file, lines, count, options);
        began += clock() - paused;
        hits += hitsOf(count, options);
      }
    }
    behind = { path: entry.path, bytes: Buffer.from(entry.path) };
    if (hits >= limit) {
      report.stopped = "limit";
      break;
    }
  }
  report.files = report.stopped === "files" ? maxFiles : searched;
  report.inaccessible = walker.inaccessible + unreadable;
  if (report.stopped === undefined) rememberSize(start, searched);
  return undefined;
}

/** Takes note of how many files were searched. */
export function rememberSize({ root, path }: Directory, files: number): void {
  const known = sizes.get(root) ?? new Map();
  sizes.set(root, known);
  if (known.size < maxRemembered || known.has(path)) known.set(path, files);
}

/** The same for one file of the start; undefined where ripgrep has to search it. What is no file has no hits. */
export async function searchFile(
  start: Directory,
  name: string,
  find: Finder | undefined,
  options: GrepOptions,
  report: GrepReport,
): Promise<FileHits[] | undefined> {
  using file = opened(start, { name, kind: "file" });
  if (file === undefined) {
    report.inaccessible = 1;
    return [];
  }
  if (find === undefined) return undefined;
  const lines = await searchText(file, find, options);
  if (lines === undefined) return undefined;
  report.files = 1;
  return lines.length === 0 ? [] : [given(name, file, lines, matching(lines), options)];
}

/** The lines of one file; undefined where it is not for us to read. Whether it is text matters only where it has some. */
export async function searchText(
  file: OpenFile,
  find: Finder,
  options: GrepOptions,
): Promise<GrepLine[] | undefined> {
  const lines = search(file, find, options);
  return lines?.length === 0 || !(await options.binary?.(file)) ? lines : [];
}

function search(file: OpenFile, find: Finder, options: GrepOptions): GrepLine[] | undefined {
  if (file.size > largestFile) return undefined;
  const bytes = file.readNow(0, file.size);
  if (isWide(bytes)) return undefined;
  return linesWith(find, bytes, wantedLines(options));
}

export function matching(lines: readonly GrepLine[]): number {
  let count = 0;
  for (const line of lines) if (line.column !== undefined) count++;
  return count;
}

function opened(parent: Directory | undefined, entry: Entry): OpenFile | undefined {
  try {
    return parent?.file(entry);
  } catch (error) {
    if (Fault.is(error, "too_many_open_files")) throw error;
    return undefined;
  }
}
