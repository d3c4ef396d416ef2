// The texts that an expression is matched against, in path order and in batches. Where there is a looser pattern that
// ripgrep understands, only the files that it finds are read. ripgrep reports them in no order, so the first of them is
// known only when it has finished: where few hits are enough, the first files of the tree are read without it.
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import { written } from "../workspace/name.ts";
import { candidates, type LooserQuery } from "./candidates.ts";
import { everything } from "./ignore.ts";
import { ignoreContext, reopener } from "./ignore-context.ts";
import type { LinePattern, MatchOptions, MatchReport } from "./match-terms.ts";
import { compareBytes } from "./order.ts";
import { bodyOf } from "./readable.ts";
import { type Walk, walk } from "./walk.ts";
import type { WorkSlice } from "./work-slice.ts";

export interface SearchText {
  readonly path: string;
  readonly body: string;
}

export interface TextBatch {
  readonly sources: readonly SearchText[];
  /** Whether it pays to match it before the next one is requested. */
  readonly mayDo: boolean;
}

const firstBatch = 256 * 1024;
const largestBatch = 4 * 1024 * 1024;
/** How many files are read before ripgrep has reported, and how long the walk to them may take. */
const unaskedFiles = 64;
const unaskedMs = 20;

interface OpenedFile {
  readonly path: string;
  readonly file: OpenFile;
}

/** Faults: `cancelled`, `spawn_failed`. */
export async function* batches(
  start: Directory,
  pattern: LinePattern,
  options: MatchOptions,
  slice: WorkSlice,
  report: MatchReport,
): AsyncGenerator<TextBatch, void, undefined> {
  let sources: SearchText[] = [];
  let size = 0;
  let most = firstBatch;
  for await (const found of files(start, pattern, options, slice, report)) {
    if (found === "unasked") {
      if (sources.length > 0) yield { sources, mayDo: true };
      [sources, size] = [[], 0];
      continue;
    }
    using _ = found.file;
    if (slice.isDue) await slice.rest();
    if (slice.isOver) {
      report.stopped = "time";
      break;
    }
    const source = await read(found, options, report);
    if (source === undefined) continue;
    sources.push(source);
    size += source.body.length + 100;
    if (size < most) continue;
    yield { sources, mayDo: false };
    [sources, size, most] = [[], 0, Math.min(largestBatch, most * 4)];
  }
  if (sources.length > 0) yield { sources, mayDo: false };
}

/** Undefined if the file is left out, or cannot be read. */
async function read(
  { path, file }: OpenedFile,
  { binary, reading, maxFileSize = 64 * 1024 * 1024 }: MatchOptions,
  report: MatchReport,
): Promise<SearchText | undefined> {
  try {
    if (file.size <= maxFileSize && (await binary?.(file))) return undefined;
    return { path, body: await bodyOf(await file.bytes(maxFileSize), reading) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (Fault.is(error, "too_large")) report.tooLarge += 1;
    else report.inaccessible += 1;
    return undefined;
  }
}

/**
 * The candidate files, open; the consumer closes each. A string separates the files read before ripgrep answered from
 * the rest.
 */
async function* files(
  start: Directory,
  { looser, flags }: LinePattern,
  options: MatchOptions,
  slice: WorkSlice,
  report: MatchReport,
): AsyncGenerator<OpenedFile | "unasked", void, undefined> {
  const { ignore, include, exclude, maxDepth, limit, maxFiles } = options;
  const scope = { ignore, include, exclude, maxDepth };
  let last: string | undefined;
  const walked = async function* (steps: Walk): AsyncGenerator<OpenedFile, void, undefined> {
    const after = last;
    for await (const entry of steps) {
      if (entry.kind !== "file" || (after !== undefined && compareBytes(entry.path, after) <= 0)) continue;
      if (report.files === maxFiles) {
        report.stopped = "files";
        return;
      }
      report.files += 1;
      last = entry.path;
      const file = opened(() => entry.parent?.file(entry));
      if (file === undefined) report.inaccessible += 1;
      else yield { path: entry.path, file };
    }
  };
  if (looser !== undefined) {
    // Started at once: the answer may have arrived when the first files have been read. A rejection is handled when
    // awaited.
    const over = new AbortController();
    const signal =
      options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
    const query = { pattern: looser, ignoreCase: flags.includes("i") };
    const asked = hinted(start, query, options, signal);
    asked.catch(() => {});
    try {
      if (limit !== undefined) {
        const head = walk(start, { ...scope, signal, timeoutMs: unaskedMs, maxFiles: unaskedFiles });
        yield* walked(head);
        if (head.report.stopped === undefined) return;
        yield "unasked";
      }
      const hints = await asked;
      if (hints !== undefined) {
        using reopened = hints.reopened;
        for (const bytes of hints.paths) {
          const path = written(bytes);
          if (last !== undefined && compareBytes(path, last) <= 0) continue;
          const file = reopened.open(bytes);
          if (file === undefined) continue;
          report.files += 1;
          yield { path, file };
        }
        return;
      }
    } finally {
      over.abort();
    }
  }
  const all = walk(start, { ...scope, signal: options.signal, timeoutMs: slice.left });
  yield* walked(all);
  report.inaccessible += all.report.inaccessible;
  if (all.report.stopped === "time") report.stopped = "time";
}

/** The paths that ripgrep reports, and a way to reopen them; undefined if it rejects the pattern. */
async function hinted(start: Directory, query: LooserQuery, options: MatchOptions, signal: AbortSignal) {
  const context = ignoreContext(start, options.ignore ?? everything);
  const paths = await candidates(start, query, options, context, signal);
  return paths === undefined ? undefined : { paths, reopened: reopener(start, context) };
}

/** Undefined if it is gone, or cannot be read. */
function opened(open: () => OpenFile | undefined): OpenFile | undefined {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Fault) || Fault.is(error, "too_many_open_files")) throw error;
    return undefined;
  }
}
