// Search by a JavaScript expression: a lazy stream of files with the lines that match, in path order. Matching runs in
// worker threads under a deadline, so no expression can hang the server. Where there is a looser pattern that ripgrep
// understands, only the files that it finds are read; otherwise all are. The result is the same.
import { Fault, type PatternProblem } from "../fault.ts";
import { type LineHit, longestPattern, searchLines } from "../regex/find.ts";
import { shown } from "../text/escape.ts";
import { LineIndex } from "../text/lines.ts";
import type { Directory } from "../workspace/directory.ts";
import type { FileHits, FoundLine } from "./grep-terms.ts";
import type { LinePattern, MatchOptions, MatchReport } from "./match-terms.ts";
import { batches, type SearchText } from "./sources.ts";
import { WorkSlice } from "./work-slice.ts";

export interface LineMatches extends AsyncIterable<FileHits> {
  readonly report: Readonly<MatchReport>;
}

/** Lines are cut here, in characters. */
const maxLineLength = 64 * 1024;
/** Timers take no longer time. */
const longestMs = 2 ** 31 - 1;

/** Faults: `invalid_pattern`, `cancelled`, `spawn_failed`. */
export function matchLines(start: Directory, pattern: LinePattern, options: MatchOptions = {}): LineMatches {
  const report: MatchReport = { files: 0, inaccessible: 0, tooLarge: 0, stopped: undefined };
  return { report, [Symbol.asyncIterator]: () => found(start, pattern, options, report) };
}

async function* found(
  start: Directory,
  pattern: LinePattern,
  options: MatchOptions,
  report: MatchReport,
): AsyncGenerator<FileHits, void, undefined> {
  const { limit = Number.POSITIVE_INFINITY, batchMs = longestMs, signal } = options;
  refuseInvalid(pattern);
  const slice = new WorkSlice(options);
  let left = limit;
  let isOver = false;
  const search = (batch: readonly SearchText[]) => {
    const ms = Math.max(1, Math.min(slice.left, batchMs, longestMs));
    const texts = batch.map(({ body }) => body);
    const hits = searchLines(pattern.source, pattern.flags, texts, { ms, signal, limit: left });
    hits.catch(() => {}); // reported to the caller that awaits it
    return { batch, hits };
  };
  const settle = async function* (running: ReturnType<typeof search>) {
    const { hits, timedOut } = await running.hits;
    for (const [i, lines] of hits.entries()) {
      const source = running.batch[i];
      if (lines.length === 0 || source === undefined) continue;
      const within = lines.slice(0, left);
      left -= within.length;
      yield fileHits(source, within, options);
      if (left <= 0) break;
    }
    if (left <= 0) report.stopped = "limit";
    else if (timedOut) report.stopped = "time";
    isOver = left <= 0 || timedOut;
  };
  let running: ReturnType<typeof search> | undefined;
  for await (const batch of batches(start, pattern, options, slice, report)) {
    const next = search(batch.sources);
    if (running !== undefined) yield* settle(running);
    running = undefined;
    if (isOver) return;
    // The next batch is read while this one is searched, unless this one may well be all that is needed.
    if (batch.mayDo) yield* settle(next);
    else running = next;
    if (isOver) return;
  }
  if (running !== undefined) yield* settle(running);
}

function fileHits({ path, body }: SearchText, hits: readonly LineHit[], options: MatchOptions): FileHits {
  const { context = 0 } = options;
  const index = new LineIndex(body);
  const total = index.count("terminated");
  const lines: FoundLine[] = [];
  const line = (number: number): string => body.slice(index.start(number), index.end(number));
  const add = (number: number, hit?: LineHit): void => {
    const text = line(number);
    const column = hit && Buffer.byteLength(text.slice(0, hit.start));
    const cut = text.length > maxLineLength;
    const visible = shown(cut ? text.slice(0, maxLineLength) : text);
    lines.push({ number, column, text: visible, cut, count: hit?.count });
  };
  let done = 0;
  for (const [i, hit] of hits.entries()) {
    for (let n = Math.max(done + 1, hit.line - context); n < hit.line; n++) add(n);
    add(hit.line, hit);
    const next = hits[i + 1]?.line ?? Number.POSITIVE_INFINITY;
    done = Math.max(hit.line, Math.min(hit.line + context, next - 1, total));
    for (let n = hit.line + 1; n <= done; n++) add(n);
  }
  return { path, lines };
}

/** Checked before anything is read: the expression may be wrong in a tree without files, too. */
function refuseInvalid({ source, flags }: LinePattern): void {
  const refusal = (problem: PatternProblem, cause?: unknown) =>
    new Fault("invalid_pattern", { pattern: source.slice(0, 200), kind: "regex", problem }, { cause });
  if (source.length > longestPattern)
    throw refusal({ is: "too_long", limit: longestPattern, unit: "characters" });
  try {
    new RegExp(source, flags);
  } catch (error) {
    throw refusal({ is: "message", message: error instanceof Error ? error.message : String(error) }, error);
  }
}
