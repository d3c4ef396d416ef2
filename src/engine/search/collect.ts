// Runs ripgrep to its end, its time or its limit, and keeps what it found, file by file, within bounded memory.
// It searches in parallel and reports in no order, so the first hits are only known when it has finished.
import { Fault } from "../fault.ts";
import { isTemporaryName } from "../workspace/commit/temporary.ts";
import type { Directory } from "../workspace/directory.ts";
import { written } from "../workspace/name.ts";
import type { Standpoint } from "./above.ts";
import { hitsOf, wantedLines } from "./give.ts";
import type { GrepOptions, GrepReport } from "./grep-terms.ts";
import { type FileBlock, HitParser } from "./hits.ts";
import { type Block, Kept, type Place } from "./kept.ts";
import { placeOf, type Query, searchArguments, startRipgrep } from "./ripgrep.ts";
import type { Scope } from "./walker.ts";

/** A search under way. */
export interface Run {
  /**
   * Reads what it finds behind a place, to the end; in path order. Until then it waits when it has much to say. At
   * least `enough` hits are kept, if there are as many.
   */
  blocks(behind?: Place, enough?: number): Promise<Found>;
  /** Whether it has found much that nobody has read yet. */
  readonly isAmple: boolean;
  /** Ends it at once; nobody reads any more. */
  kill(): void;
}

/** What a search found. */
export interface Found {
  readonly blocks: readonly Block[];
  /** Whether there is more behind the last block, let go of because it would hardly be wanted. */
  readonly trimmed: boolean;
}

const ampleBytes = 16 * 1024; // so much is taken from a process that nobody reads

/** Starts a search of the whole scope, or of some files of it. */
export async function launch(
  start: Directory,
  query: Query,
  options: GrepOptions,
  report: GrepReport,
  above: Standpoint,
  files?: readonly string[],
): Promise<Run> {
  const { maxFileSize, signal, timeoutMs } = options;
  const { before, after, most, maxLineBytes, sample } = wantedLines(options);
  const printing = { before, after, maxPerFile: Number.isFinite(most) ? most : undefined, maxFileSize };
  const args = searchArguments(query, options, placeOf(above), printing, files);
  const child = await startRipgrep(start, args, above, signal);
  const tooLate = (): void => {
    report.stopped = "time";
    child.kill();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(tooLate, timeoutMs);
  const kill = (): void => {
    clearTimeout(timer);
    child.drop();
  };
  const blocks = async (behind?: Place, enough = Number.POSITIVE_INFINITY): Promise<Found> => {
    const kept = new Kept(enough, behind);
    const add = ({ path: dotted, lines, proof, count, cut }: FileBlock): void => {
      const bytes = dotted.subarray(2); // behind "./"
      const path = written(bytes);
      if (files === undefined && !isInScope(path, options)) return;
      kept.add({ path, bytes, lines, proof, count, hits: hitsOf(count, options), cut });
    };
    const parser = new HitParser(maxLineBytes, add, sample);
    const { code, errors } = await child.read(chunk => parser.push(chunk));
    clearTimeout(timer);
    if (signal?.aborted) throw new Fault("cancelled", {});
    report.files = Number(/(\d+) files searched/.exec(parser.end())?.[1] ?? 0);
    if (code === 2) report.inaccessible = unreadable(query, errors);
    accept(query);
    if (kept.overflowed) report.stopped ??= "output";
    return { blocks: kept.sorted(), trimmed: kept.trimmed };
  };
  return {
    blocks,
    get isAmple() {
      return child.waiting >= ampleBytes;
    },
    kill,
  };
}

/** Expressions that ripgrep has taken. */
const accepted = new Set<string>();
const mostAccepted = 500;

export function isAccepted(query: Query): boolean {
  return accepted.has(JSON.stringify(query));
}

function accept(query: Query): void {
  if (accepted.size >= mostAccepted) accepted.clear();
  accepted.add(JSON.stringify(query));
}

/**
 * Ripgrep's failures about single files end with the system's error. What it says about lines of ignore files that it
 * cannot read is of no interest. Anything else is about the pattern.
 */
function unreadable({ pattern }: Query, errors: string): number {
  const lines = errors
    .split("\n")
    .filter(line => line !== "" && !/: line \d+: error parsing glob/.test(line));
  const single = lines.filter(line => /\(os error \d+\)$/.test(line)).length;
  if (single > 0 || lines.length === 0) return single;
  const reason = errors.replace(/^rg: /, "").trim();
  throw new Fault("invalid_pattern", { pattern, kind: "regex", reason });
}

/** Whether globs and the rule on hidden names let a path in. Ignore files are another matter. */
export function isInScope(path: string, { ignore, include, exclude }: Scope): boolean {
  if (ignore?.hidden === false && /(^|\/)\./.test(path)) return false;
  if (path.includes(".polyfs-") && path.split("/").some(isTemporaryName)) return false;
  if (include !== undefined && !include.matches(path)) return false;
  if (exclude === undefined) return true;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    if (exclude.matches(path.slice(0, slash))) return false;
  }
  return !exclude.matches(path);
}
