// Runs ripgrep to its end, its timeout or its limit, and keeps its results file by file, in bounded memory. It
// searches in parallel and reports in no order, so the first hits are known only when it has finished.
import { Fault } from "../fault.ts";
import { startSpan } from "../span.ts";
import type { Directory } from "../workspace/directory.ts";
import { isTemporaryName } from "../workspace/disk/temporary.ts";
import { written } from "../workspace/name.ts";
import { FirstBlocks, type HitBlock, type PathPosition } from "./first-blocks.ts";
import type { GrepOptions, GrepReport } from "./grep-terms.ts";
import { hitsOf, wantedLines } from "./result-form.ts";
import { type Query, scopeArguments, searchArguments, startRipgrep } from "./ripgrep.ts";
import { type FileBlock, HitParser } from "./ripgrep-output.ts";
import type { Scope } from "./walker.ts";

/** A search under way. */
export interface RipgrepRun {
  /**
   * Reads the results after a position, to the end, in path order. Until then the process blocks once its output
   * buffer is full. Keeps at least `enough` hits, if there are that many.
   */
  blocks(behind?: PathPosition, enough?: number): Promise<RipgrepResult>;
  /** Whether it has much unread output. */
  readonly isAmple: boolean;
  /** Stops it; its output is discarded. */
  kill(): void;
}

/** The result of a search. */
export interface RipgrepResult {
  readonly blocks: readonly HitBlock[];
  /** Whether there is more after the last block, dropped because it would hardly be wanted. */
  readonly trimmed: boolean;
  /** The signal that ended ripgrep early, unless we sent it. */
  readonly killedBy: string | undefined;
}

export interface RipgrepLaunch {
  readonly start: Directory;
  readonly query: Query;
  readonly options: GrepOptions;
  /** The ignore rules, as ripgrep gets them. */
  readonly rules: string;
  /** Only this file of the start, by its name. */
  readonly file?: string | undefined;
}

const ampleBytes = 16 * 1024; // the most to buffer from a process before its output is read
const longestMs = 5 * 60_000; // the longest wait

/** Starts a search of the whole scope, or of one file. */
export async function launch(
  { start, query, options, rules, file }: RipgrepLaunch,
  report: GrepReport,
): Promise<RipgrepRun> {
  const { maxFileSize, signal, timeoutMs = longestMs, columns, maxFiles } = options;
  const { before, after, most, maxLineBytes, sample } = wantedLines(options);
  const tally = maxFiles !== undefined;
  const maxPerFile = Number.isFinite(most) ? most : undefined;
  const printing = { before, after, maxPerFile, maxFileSize, columns, tally };
  const isTree = file === undefined;
  const scope = isTree ? scopeArguments(options, rules) : ["--no-ignore", "--hidden"];
  const args = searchArguments(query, printing, scope, [isTree ? "." : `./${file}`]);
  const span = startSpan("ripgrep");
  const child = await startRipgrep(start, args, { signal, rules: isTree ? rules : "" }).catch(error => {
    span?.fail(error);
    span?.[Symbol.dispose]();
    throw error;
  });
  let wasEnded = false;
  const tooLate = (): void => {
    report.stopped = "time";
    wasEnded = true;
    child.kill();
  };
  const timer = setTimeout(tooLate, Math.max(0, Math.min(timeoutMs, longestMs)));
  const kill = (): void => {
    clearTimeout(timer);
    wasEnded = true;
    child.drop();
    span?.[Symbol.dispose]();
  };
  const blocks = async (behind?: PathPosition, enough = Number.POSITIVE_INFINITY): Promise<RipgrepResult> => {
    const firstBlocks = new FirstBlocks(enough, behind);
    const add = ({ path: dotted, lines, proof, count, cut }: FileBlock): void => {
      const bytes = dotted.subarray(2); // after "./"
      const path = written(bytes);
      if (isTree && !isInScope(path, options)) return;
      firstBlocks.add({ path, bytes, lines, proof, count, hits: hitsOf(count, options), cut });
    };
    const parser = new HitParser({ maxLineBytes, sample, most, columns }, add);
    const { code, signal: killedBy, errors } = await child.read(chunk => parser.push(chunk));
    clearTimeout(timer);
    span?.set("exit_code", code ?? -1);
    span?.[Symbol.dispose]();
    if (signal?.aborted) throw new Fault("cancelled", {});
    const told = parser.end();
    report.files = Number(/(\d+) files searched/.exec(told)?.[1] ?? 0);
    if (code === 2) report.inaccessible = unreadable(query, errors);
    if (firstBlocks.overflowed) report.stopped ??= "output";
    return {
      blocks: firstBlocks.sorted(),
      trimmed: firstBlocks.trimmed,
      killedBy: wasEnded ? undefined : killedBy,
    };
  };
  return {
    blocks,
    get isAmple() {
      return child.waiting >= ampleBytes;
    },
    kill,
  };
}

/** Ripgrep's failures about single files end with the system's error. Anything else is about the pattern. */
function unreadable({ pattern }: Query, errors: string): number {
  const lines = errors.split("\n").filter(line => line !== "");
  const single = lines.filter(line => /\(os error \d+\)$/.test(line)).length;
  if (single > 0 || lines.length === 0) return single;
  const message = errors.replace(/^rg: /, "").trim();
  throw new Fault("invalid_pattern", { pattern, kind: "regex", problem: { is: "message", message } });
}

/** Whether globs and the rule on hidden names let a path in. Ignore files are another matter. */
export function isInScope(path: string, { ignore, include, exclude }: Scope): boolean {
  if (ignore?.hidden === false && /(^|\/)\./.test(path)) return false;
  if (path.includes(".polyfs-") && path.split("/").some(isTemporaryName)) return false;
  if (include !== undefined && !include.matches(path)) return false;
  if (exclude === undefined) return true;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    if (exclude.covers(path.slice(0, slash))) return false;
  }
  return !exclude.matches(path);
}
