// Search by JavaScript expressions: a lazy stream of files with the lines that match, in path order. Matching runs
// in worker threads under a deadline, so no expression can hang anything. Where the expression has a rougher twin
// that ripgrep understands, only the files that it finds are read; otherwise all are. The answer is the same.
import { Fault } from "../fault.ts";
import { type LineHit, longestPattern, searchLines } from "../regex/find.ts";
import { roughPattern } from "../regex/rough.ts";
import { shown } from "../text/escape.ts";
import { LineIndex } from "../text/lines.ts";
import { decode } from "../text/text.ts";
import type { Directory } from "../workspace/directory.ts";
import type { OpenFile } from "../workspace/file.ts";
import { standpoint } from "./above.ts";
import type { BinaryRule } from "./binary.ts";
import { candidates } from "./candidates.ts";
import type { FileHits, FoundLine } from "./grep.ts";
import { everything, IgnoreRules } from "./ignore.ts";
import { Pace, type Patience } from "./pace.ts";
import { Trail } from "./trail.ts";
import { walk } from "./walk.ts";
import type { Scope } from "./walker.ts";

export interface LinePattern {
  /** A JavaScript regular expression, matched with each line by itself. */
  readonly pattern: string;
  readonly ignoreCase?: boolean | undefined;
}

export interface MatchLinesOptions extends Scope, Patience {
  /** Lines of context before and behind each hit. */
  readonly context?: number | undefined;
  /** How many matching lines are enough. */
  readonly limit?: number | undefined;
  /** Files to leave out as not text; by default none. */
  readonly binary?: BinaryRule | undefined;
  /** Larger files are left out, and counted. Default 64 MB. */
  readonly maxFileSize?: number | undefined;
  /** Lines are cut here, in characters. Default 64 K. */
  readonly maxLineLength?: number | undefined;
}

export interface MatchLinesReport {
  /** Files that were left out because they are too large. */
  tooLarge: number;
}

export interface LineMatches extends AsyncIterable<FileHits> {
  readonly report: Readonly<MatchLinesReport>;
}

const defaultTimeoutMs = 30_000;
/** An expression that takes longer than this for a few megabytes is one of those that never end. */
const batchTimeoutMs = 10_000;
/** How much is handed to a thread at a time: little at first, for a quick first answer. */
const firstBatch = 256 * 1024;
const largestBatch = 4 * 1024 * 1024;

interface Candidate {
  readonly path: string;
  readonly body: string;
}

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
  const pace = new Pace({ ...options, timeoutMs });
  const flags = ignoreCase ? "i" : "";
  let left = limit;
  const search = (batch: readonly Candidate[]) => {
    const found = searchLines(
      pattern,
      flags,
      batch.map(({ body }) => body),
      { ms: Math.max(1, Math.min(pace.left, batchTimeoutMs)), signal: options.signal, limit: left },
    );
    found.catch(() => {}); // told to whoever waits for it
    return { batch, found };
  };
  let running: ReturnType<typeof search> | undefined;
  const settle = async function* ({ batch, found }: ReturnType<typeof search>) {
    const { hits, timedOut } = await found;
    for (const [i, lines] of hits.entries()) {
      const candidate = batch[i];
      if (lines.length === 0 || candidate === undefined) continue;
      const kept = lines.slice(0, left);
      left -= kept.length;
      yield fileHits(candidate, kept, options);
      if (left <= 0) return;
    }
    if (timedOut) throw new Fault("timeout", { ms: Math.min(timeoutMs, batchTimeoutMs), what: pattern });
  };
  // The next batch is read while the last one is searched.
  for await (const batch of batches(start, { pattern, ignoreCase }, options, pace, report)) {
    const next = search(batch);
    if (running !== undefined) yield* settle(running);
    if (left <= 0) return;
    running = next;
  }
  if (running !== undefined) yield* settle(running);
}

async function* batches(
  start: Directory,
  expression: LinePattern,
  options: MatchLinesOptions,
  pace: Pace,
  report: MatchLinesReport,
): AsyncGenerator<Candidate[], void, undefined> {
  const { binary, maxFileSize = 64 * 1024 * 1024 } = options;
  let batch: Candidate[] = [];
  let size = 0;
  let most = firstBatch;
  for await (const { path, file: opened } of files(start, expression, options)) {
    using file = opened;
    if (pace.isDue) await pace.rest();
    if (pace.isOver) throw new Fault("timeout", { ms: options.timeoutMs ?? defaultTimeoutMs, what: path });
    if (file.size > maxFileSize) {
      if (!(await binary?.(file))) report.tooLarge += 1;
      continue;
    }
    if (await binary?.(file)) continue;
    const { body } = await decode(path, await file.bytes(maxFileSize));
    batch.push({ path, body });
    size += body.length + 100;
    if (size < most) continue;
    yield batch;
    [batch, size, most] = [[], 0, Math.min(largestBatch, most * 4)];
  }
  if (batch.length > 0) yield batch;
}

/** The files to look at, open; the consumer closes each. */
async function* files(
  start: Directory,
  { pattern, ignoreCase = false }: LinePattern,
  options: MatchLinesOptions,
): AsyncGenerator<{ path: string; file: OpenFile }, void, undefined> {
  const rough = roughPattern(pattern, ignoreCase);
  const policy = options.ignore ?? everything;
  const { prefix, rules } = standpoint(start, policy);
  const decidesAgain = prefix !== "" && !rules.isEmpty;
  const scope = decidesAgain && rules.overridesBelow ? { ...options, ignore: everything } : options;
  const paths =
    rough === undefined
      ? undefined
      : await candidates(start, { pattern: rough, ignoreCase }, scope, options.signal);
  if (paths !== undefined) {
    using trail = new Trail(start, prefix, decidesAgain ? rules : IgnoreRules.of(everything));
    for (const bytes of paths) {
      const file = trail.open(bytes);
      if (file !== undefined) yield { path: bytes.toString("utf8"), file };
    }
    return;
  }
  const { signal, ignore, include, exclude, maxDepth } = options;
  for await (const entry of walk(start, { ignore, include, exclude, maxDepth, signal })) {
    if (entry.kind !== "file") continue;
    let file: OpenFile | undefined;
    try {
      file = entry.parent?.file(entry);
    } catch (error) {
      if (Fault.is(error, "too_many_open_files")) throw error;
      // It is gone, or may not be read.
    }
    if (file !== undefined) yield { path: entry.path, file };
  }
}

function fileHits({ path, body }: Candidate, hits: readonly LineHit[], options: MatchLinesOptions): FileHits {
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
  try {
    if (pattern.length > longestPattern) throw new Error(`longer than ${longestPattern} characters`);
    new RegExp(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Fault(
      "invalid_pattern",
      { pattern: pattern.slice(0, 200), kind: "regex", reason },
      { cause: error },
    );
  }
}
