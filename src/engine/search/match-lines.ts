// Search by JavaScript expressions: a lazy stream of files with the lines that match, in path order. Matching runs
// in worker threads under a deadline, so no expression can hang anything. Where the expression has a rougher twin
// that ripgrep understands, only the files that it finds are read; otherwise all are. The answer is the same.
import { Fault, type PatternProblem } from "../fault.ts";
import { type LineHit, longestPattern, searchLines } from "../regex/find.ts";
import { shown } from "../text/escape.ts";
import { LineIndex } from "../text/lines.ts";
import type { Directory } from "../workspace/directory.ts";
import type { FileHits, FoundLine } from "./grep-terms.ts";
import type { LinePattern, MatchLinesOptions, MatchLinesReport } from "./line-pattern.ts";
import { batches, defaultTimeoutMs, type SearchText } from "./sources.ts";
import { WorkSlice } from "./work-slice.ts";

export interface LineMatches extends AsyncIterable<FileHits> {
  readonly report: Readonly<MatchLinesReport>;
}

/** An expression that takes longer than this for a few megabytes is catastrophic. */
const batchTimeoutMs = 10_000;

/** Faults: `invalid_pattern`, `timeout`, `cancelled`, `spawn_failed`. */
export function matchLines(
  start: Directory,
  expression: LinePattern,
  options: MatchLinesOptions = {},
): LineMatches {
  const report: MatchLinesReport = { tooLarge: 0 };
  return { report, [Symbol.asyncIterator]: () => matches(start, expression, options, report) };
}

async function* matches(
  start: Directory,
  { pattern, ignoreCase = false }: LinePattern,
  options: MatchLinesOptions,
  report: MatchLinesReport,
): AsyncGenerator<FileHits, void, undefined> {
  const { timeoutMs = defaultTimeoutMs, limit = Number.POSITIVE_INFINITY } = options;
  refuseInvalid(pattern);
  const pace = new WorkSlice({ ...options, timeoutMs });
  const flags = ignoreCase ? "i" : "";
  let left = limit;
  const search = (batch: readonly SearchText[]) => {
    const found = searchLines(
      pattern,
      flags,
      batch.map(({ body }) => body),
      { ms: Math.max(1, Math.min(pace.left, batchTimeoutMs)), signal: options.signal, limit: left },
    );
    found.catch(() => {}); // reported to the caller that awaits it
    return { batch, found };
  };
  const settle = async function* ({ batch, found }: ReturnType<typeof search>) {
    const { hits, timedOut } = await found;
    for (const [i, lines] of hits.entries()) {
      const source = batch[i];
      if (lines.length === 0 || source === undefined) continue;
      const kept = lines.slice(0, left);
      left -= kept.length;
      yield fileHits(source, kept, options);
      if (left <= 0) return;
    }
    if (timedOut) throw new Fault("timeout", { ms: Math.min(timeoutMs, batchTimeoutMs), what: pattern });
  };
  let running: ReturnType<typeof search> | undefined;
  for await (const batch of batches(start, { pattern, ignoreCase }, options, pace, report)) {
    const next = search(batch.sources);
    if (running !== undefined) yield* settle(running);
    running = undefined;
    if (left <= 0) return;
    // The next batch is read while this one is searched, unless this one may well be all that is needed.
    if (batch.mayDo) yield* settle(next);
    else running = next;
    if (left <= 0) return;
  }
  if (running !== undefined) yield* settle(running);
}

function fileHits(
  { path, body }: SearchText,
  hits: readonly LineHit[],
  options: MatchLinesOptions,
): FileHits {
  const { context = 0, maxLineLength = 64 * 1024 } = options;
  const index = new LineIndex(body);
  const total = index.count("terminated");
  const lines: FoundLine[] = [];
  const line = (number: number): string => body.slice(index.start(number), index.end(number));
  const add = (number: number, hit?: LineHit): void => {
    const text = line(number);
    const column = hit && Buffer.byteLength(text.slice(0, hit.start));
    const cut = text.length > maxLineLength;
    lines.push({ number, column, text: shown(cut ? text.slice(0, maxLineLength) : text), cut });
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

/** Told before anything is read: an expression may be wrong in a tree without files, too. */
function refuseInvalid(pattern: string): void {
  const refusal = (problem: PatternProblem, cause?: unknown) =>
    new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "regex", problem }, { cause });
  if (pattern.length > longestPattern)
    throw refusal({ is: "too_long", limit: longestPattern, unit: "characters" });
  try {
    new RegExp(pattern);
  } catch (error) {
    throw refusal({ is: "message", message: error instanceof Error ? error.message : String(error) }, error);
  }
}
