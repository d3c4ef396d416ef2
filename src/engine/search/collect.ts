// Runs ripgrep to its end, its time or its limit, and keeps what it found, file by file, within bounded memory.
// It searches in parallel and reports in no order, so the first hits are only known when it has finished.
import { Fault } from "../fault.ts";
import { startProcess } from "../shell/process.ts";
import type { Directory } from "../workspace/directory.ts";
import { isTemporaryName } from "../workspace/temporary.ts";
import type { GrepOptions, GrepReport } from "./grep.ts";
import { type FileBlock, HitParser } from "./hits.ts";
import { compareBytes } from "./order.ts";
import { type Query, ripgrepEnvironment, ripgrepPath, searchArguments } from "./ripgrep.ts";
import type { Scope } from "./walker.ts";

const maxHeldBytes = 64 * 1024 * 1024;
const slack = 1000;
const lineOverhead = 200; // what a line costs besides its text

/** A file with hits, not yet opened by us. */
export interface Block {
  readonly path: string;
  readonly bytes: Buffer;
  readonly lines: FileBlock["lines"];
}

/** A search under way. */
export interface Run {
  /** Reads what it finds, to the end; in path order. Until then it waits when it has much to say. */
  blocks(): Promise<Block[]>;
  /** Ends it at once. */
  kill(): void;
}

/** Starts a search of the whole scope, or of only `files` of it. */
export async function launch(
  start: Directory,
  query: Query,
  options: GrepOptions,
  report: GrepReport,
  files?: readonly string[],
): Promise<Run> {
  const { before = 0, after = 0, limit, maxFileSize, maxLineBytes = 64 * 1024, signal, timeoutMs } = options;
  const place = start.path === start.root.path ? "root" : "below";
  const printing = { before, after, maxPerFile: options.perFile ?? limit, maxFileSize };
  const args = searchArguments(query, options, place, printing, files);
  const surroundings = { cwd: start.address, env: ripgrepEnvironment(), signal };
  const child = await startProcess(await ripgrepPath(), args, surroundings).catch(error => {
    // The program is ours and can be run: what may not be entered is the directory.
    if (Fault.is(error, "spawn_failed") && error.data.errno === "EACCES")
      throw new Fault("permission_denied", { path: start.given }, { cause: error });
    throw error;
  });
  const tooLate = (): void => {
    report.stopped = "time";
    child.kill();
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(tooLate, timeoutMs);
  const kill = (): void => {
    clearTimeout(timer);
    child.kill();
  };
  const blocks = async (): Promise<Block[]> => {
    const kept = new Kept(limit);
    const parser = new HitParser(maxLineBytes, ({ path: dotted, lines }) => {
      const bytes = dotted.subarray(2); // behind "./"
      const path = bytes.toString("utf8");
      if (files !== undefined || isInScope(path, options)) kept.add({ path, bytes, lines });
    });
    for await (const chunk of child.output) parser.push(chunk);
    const { code, errors } = await child.exit;
    clearTimeout(timer);
    if (signal?.aborted) throw new Fault("cancelled", {});
    report.files = Number(/(\d+) files searched/.exec(parser.end())?.[1] ?? 0);
    if (code === 2) report.inaccessible = unreadable(query, errors);
    if (kept.dropped) report.stopped ??= "output";
    return kept.sorted();
  };
  return { blocks, kill };
}

/** Ripgrep's failures about single files end with the system's error; any other is about the pattern. */
function unreadable({ pattern, literal }: Query, errors: string): number {
  const lines = errors.split("\n").filter(line => line !== "");
  const single = lines.filter(line => /\(os error \d+\)$/.test(line)).length;
  if (single > 0 || lines.length === 0) return single;
  const reason = errors.replace(/^rg: /, "").trim();
  throw new Fault("invalid_pattern", { pattern, kind: literal ? "glob" : "regex", reason });
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

/** The blocks that come first in path order, as many as memory allows and the limit can want. */
class Kept {
  #blocks: Block[] = [];
  #bytes = 0;
  #hits = 0;
  readonly #enough: number;
  /** Whether something is missing that was not beyond the limit. */
  dropped = false;

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#enough = limit + slack; // some of what is kept may not be confirmed
  }

  add(block: Block): void {
    this.#blocks.push(block);
    this.#bytes += costOf(block);
    this.#hits += hitsIn(block);
    if (this.#bytes > maxHeldBytes) this.#drop(() => this.#bytes > maxHeldBytes / 2);
    else if (this.#hits > 2 * this.#enough) this.#drop(last => this.#hits - hitsIn(last) > this.#enough);
  }

  /** Drops blocks from the end while `more` says so. */
  #drop(more: (last: Block) => boolean): void {
    this.sorted();
    const held = this.#blocks.length;
    for (let last = this.#blocks.at(-1); last !== undefined && more(last); last = this.#blocks.at(-1)) {
      if (this.#blocks.length === 1) break;
      this.#blocks.pop();
      this.#bytes -= costOf(last);
      this.#hits -= hitsIn(last);
    }
    if (this.#blocks.length < held && this.#hits < this.#enough) this.dropped = true;
  }

  sorted(): Block[] {
    return this.#blocks.sort((a, b) => compareBytes(a.path, b.path) || Buffer.compare(a.bytes, b.bytes));
  }
}

function hitsIn({ lines }: Block): number {
  let hits = 0;
  for (const line of lines) if (line.column !== undefined) hits++;
  return hits;
}

function costOf({ path, lines }: Block): number {
  return lines.reduce((sum, line) => sum + line.bytes.length + lineOverhead, 2 * path.length);
}
