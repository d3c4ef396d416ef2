// The beginning of a search, done in this process: the first files in path order are read and searched here. A small
// tree is searched before ripgrep would have started, and the first hits of a common word are found at once. What
// takes longer is handed over, with the place that was reached.

import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import type { OpenFile } from "../workspace/file.ts";
import type { PathPosition } from "./first-blocks.ts";
import type { FileHits, GrepOptions } from "./grep-terms.ts";
import { type Finder, linesWith } from "./lines-with.ts";
import { mayNeedReading, readable } from "./readable.ts";
import { fileHits, hitsOf, matching, wantedLines } from "./result-form.ts";
import type { GrepLine } from "./ripgrep-output.ts";
import type { Handover, SearchContext } from "./search-context.ts";
import { rememberSize, sizeOf } from "./tree-size.ts";
import { noteUndecoded } from "./undecoded.ts";
import { WalkEntry, Walker } from "./walker.ts";

const largestFile = 1024 * 1024;
const mostMs = 60; // where hits come so often that the limit will be reached
const ampleMs = 500; // where ripgrep would report very many hits

const littleMs = 2; // before the duration can be estimated
const patienceMs = 10; // what ripgrep takes to start and to end
/**
 * This many files are searched here before ripgrep would have ended, on a machine that is busy, too: it takes longer to
 * start then. Unless reading them is slow.
 */
const smallTree = 256;
const slowMs = 200;

/** Yields the files with hits until the end, and returns undefined, or until ripgrep should take over. */
export async function* searchInProcess({
  start,
  query,
  find,
  options,
  report,
  slice,
  early,
}: SearchContext): AsyncGenerator<FileHits, Handover | undefined, undefined> {
  if (find === undefined) return { behind: undefined, hits: 0 };
  const { limit = Number.POSITIVE_INFINITY, maxFiles = Number.POSITIVE_INFINITY } = options;
  const { maxFileSize = Number.POSITIVE_INFINITY } = options;
  let most = mostMs;
  const files = sizeOf(start);
  rememberSize(start, files); // it was searched
  if (early.hasBegun) {
    if (!(await early.isAmple())) return { behind: undefined, hits: 0 };
    most = ampleMs;
  }
  using walker = new Walker(start, { ...options, order: "paths" });
  let began = clock();
  let behind: PathPosition | undefined;
  let hits = 0;
  let seen = 0;
  let searched = 0;
  let unreadable = 0;
  const missed = (path: string) => (bytes: Buffer) => noteUndecoded(report, query, path, bytes, options);
  const handover = (size: number | undefined): Handover => {
    rememberSize(start, size);
    return { behind, hits };
  };
  for (;;) {
    if (slice.isDue) await slice.rest();
    const spent = clock() - began;
    if (spent > littleMs && (spent * limit) / hits > most) {
      if (isLong(spent, searched, files))
        return handover(files ?? (searched > smallTree ? Number.POSITIVE_INFINITY : undefined));
      // It may be needed, and is not waited for.
      if (files === undefined && searched > smallTree / 2) await early.begin();
    }
    const entry = walker.next();
    if (entry === undefined) break;
    if (!(entry instanceof WalkEntry) || entry.kind !== "file") continue;
    if (seen++ === maxFiles) {
      report.stopped = "files";
      break;
    }
    if (entry.raw !== undefined) return handover(Number.POSITIVE_INFINITY);
    using file = opened(entry.parent, entry);
    if (file?.isMasked && slice.isDueNow) await slice.rest(); // that takes as long as many other files
    if (file === undefined) unreadable++;
    else if (file.size <= maxFileSize) {
      searched++;
      const lines = await searchText(file, find, options, missed(entry.path));
      if (lines === undefined) return handover(Number.POSITIVE_INFINITY);
      if (lines.length > 0) {
        const count = matching(lines);
        const paused = clock();
        yield fileHits(entry.path, file.whole(), lines, count, options);
        began += clock() - paused;
        hits += hitsOf(count, options);
      }
    }
    behind = { path: entry.path };
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

/** Whether ripgrep would be quicker, for a tree of this many files, if that is known. */
function isLong(spent: number, searched: number, files: number | undefined): boolean {
  if (files === undefined) return searched > smallTree || spent > slowMs;
  return (spent * files) / searched > (files <= smallTree ? slowMs : patienceMs);
}

/** The same for one file of the start; undefined if ripgrep has to search it. Anything but a file has no hits. */
export async function searchFile({
  start,
  query,
  find,
  options,
  report,
}: SearchContext): Promise<FileHits[] | undefined> {
  const { file: name = "", form = "lines" } = options;
  const { limit = Number.POSITIVE_INFINITY, maxFileSize = Number.POSITIVE_INFINITY } = options;
  using file = opened(start, { name, kind: "file" });
  if (file === undefined) {
    report.inaccessible = 1;
    return [];
  }
  if (file.size > maxFileSize) return [];
  if (find === undefined) return undefined;
  const missed = (bytes: Buffer) => noteUndecoded(report, query, name, bytes, options);
  const lines = await searchText(file, find, options, missed);
  if (lines === undefined) return undefined;
  report.files = 1;
  if (lines.length === 0) return [];
  const count = matching(lines);
  // No more lines were looked for than are enough.
  if (form === "lines" && count >= limit) report.stopped = "limit";
  return [fileHits(name, file.whole(), lines, count, options)];
}

/**
 * The lines of one file; undefined if it cannot be searched here. Whether it is text matters only if it has hits, or
 * bytes that are not UTF-8; `missed` gets those without a hit.
 */
async function searchText(
  file: OpenFile,
  find: Finder,
  options: GrepOptions,
  missed: (bytes: Buffer) => void,
): Promise<GrepLine[] | undefined> {
  if (file.size > largestFile) return undefined;
  const bytes = file.readNow(0, file.size);
  const isOdd = mayNeedReading(bytes, options.reading, { isWhole: true });
  const text = isOdd ? await readable(bytes, options.reading) : undefined;
  const lines = linesWith(find, text ?? bytes, wantedLines(options));
  const isMissed = lines?.length === 0 && isOdd && text === undefined;
  if (lines?.length === 0 && !isMissed) return lines;
  if (await options.binary?.(file)) return [];
  if (isMissed) missed(bytes);
  return lines;
}

function opened(parent: Directory | undefined, entry: DirectoryEntry): OpenFile | undefined {
  try {
    return parent?.file(entry);
  } catch (error) {
    if (Fault.is(error, "too_many_open_files")) throw error;
    return undefined;
  }
}
