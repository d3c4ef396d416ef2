// The texts that an expression is to be matched with, in path order and in batches. Where the expression has a rougher
// twin that ripgrep understands, only the files that it finds are read. It finds in no order, so it has to be through
// before the first of them is known: where few hits are enough, the first files of the tree are read without asking.
import { Fault } from "../fault.ts";
import { looserPattern } from "../regex/looser-pattern.ts";
import { decode } from "../text/text.ts";
import type { Directory } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import { written } from "../workspace/name.ts";
import { candidates } from "./candidates.ts";
import { everything } from "./ignore.ts";
import { ignoreContext, reopener } from "./ignore-context.ts";
import type { LinePattern, MatchLinesOptions, MatchLinesReport } from "./line-pattern.ts";
import { compareBytes } from "./order.ts";
import { walk } from "./walk.ts";
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

export const defaultTimeoutMs = 30_000;
const firstBatch = 256 * 1024;
const largestBatch = 4 * 1024 * 1024;
/** How many files are read without asking, and how long they may be looked for. */
const unasked = 64;
const unaskedMs = 20;

interface OpenedFile {
  readonly path: string;
  readonly file: OpenFile;
}

/** Faults: `timeout`, `cancelled`, `spawn_failed`. */
export async function* batches(
  start: Directory,
  expression: LinePattern,
  options: MatchLinesOptions,
  pace: WorkSlice,
  report: MatchLinesReport,
): AsyncGenerator<TextBatch, void, undefined> {
  let sources: SearchText[] = [];
  let size = 0;
  let most = firstBatch;
  for await (const found of files(start, expression, options)) {
    if (found === "unasked") {
      if (sources.length > 0) yield { sources, mayDo: true };
      [sources, size] = [[], 0];
      continue;
    }
    using _ = found.file;
    if (pace.isDue) await pace.rest();
    if (pace.isOver)
      throw new Fault("timeout", { ms: options.timeoutMs ?? defaultTimeoutMs, what: found.path });
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

/** Undefined where the file is left out, or cannot be read. */
async function read(
  { path, file }: OpenedFile,
  { binary, maxFileSize = 64 * 1024 * 1024 }: MatchLinesOptions,
  report: MatchLinesReport,
): Promise<SearchText | undefined> {
  try {
    if (await binary?.(file)) return undefined;
    const { body } = await decode(path, await file.bytes(maxFileSize));
    return { path, body };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (Fault.is(error, "too_large")) report.tooLarge += 1;
    return undefined;
  }
}

/**
 * The candidate files, open; the consumer closes each. A string separates the files read before ripgrep answered from
 * the rest.
 */
async function* files(
  start: Directory,
  { pattern, ignoreCase = false }: LinePattern,
  options: MatchLinesOptions,
): AsyncGenerator<OpenedFile | "unasked", void, undefined> {
  const rough = looserPattern(pattern, ignoreCase);
  const { ignore, include, exclude, maxDepth, limit } = options;
  const scope = { ignore, include, exclude, maxDepth };
  // Started at once: the answer may have arrived when the first files have been read. A rejection is handled when
  // awaited.
  const over = new AbortController();
  const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal]);
  const asked =
    rough === undefined ? undefined : hinted(start, { pattern: rough, ignoreCase }, options, signal);
  asked?.catch(() => {});
  let last: string | undefined;
  try {
    if (rough !== undefined && limit !== undefined) {
      const head = walk(start, { ...scope, signal, timeoutMs: unaskedMs, maxFiles: unasked });
      for await (const entry of head) {
        if (entry.kind !== "file") continue;
        last = entry.path;
        const file = opened(() => entry.parent?.file(entry));
        if (file !== undefined) yield { path: entry.path, file };
      }
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
        if (file !== undefined) yield { path, file };
      }
      return;
    }
  } finally {
    over.abort();
  }
  for await (const entry of walk(start, { ...scope, signal: options.signal })) {
    if (entry.kind !== "file" || (last !== undefined && compareBytes(entry.path, last) <= 0)) continue;
    const file = opened(() => entry.parent?.file(entry));
    if (file !== undefined) yield { path: entry.path, file };
  }
}

/** The paths that ripgrep reports, and a way to reopen them; undefined if it rejects the pattern. */
async function hinted(
  start: Directory,
  rough: { readonly pattern: string; readonly ignoreCase: boolean },
  options: MatchLinesOptions,
  signal: AbortSignal,
) {
  const context = ignoreContext(start, options.ignore ?? everything);
  const paths = await candidates(start, rough, options, context, signal);
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
