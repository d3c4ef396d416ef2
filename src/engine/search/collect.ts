// Runs ripgrep to its end, its time or its limit, and keeps what it found, file by file, within bounded memory.
// It searches in parallel and reports in no order, so the first hits are only known when it has finished.
import { Fault } from "../fault.ts";
import { startProcess } from "../shell/process.ts";
import type { Directory } from "../workspace/directory.ts";
import type { GrepOptions, GrepReport } from "./grep.ts";
import { type FileBlock, HitParser } from "./hits.ts";
import { compareBytes } from "./order.ts";
import { type Query, ripgrepEnvironment, ripgrepPath, searchArguments } from "./ripgrep.ts";

const maxHeldBytes = 64 * 1024 * 1024;
const lineOverhead = 200; // what a line costs besides its text

/** A file with hits, not yet opened by us. */
export interface Block {
  readonly path: string;
  readonly bytes: Buffer;
  readonly lines: FileBlock["lines"];
}

/** In path order. */
export async function collect(
  start: Directory,
  query: Query,
  options: GrepOptions,
  report: GrepReport,
): Promise<Block[]> {
  const { before = 0, after = 0, limit, maxFileSize, file, maxLineBytes = 64 * 1024 } = options;
  const printing = { before, after, maxPerFile: limit, maxFileSize };
  const kept = new Kept();
  const parser = new HitParser(maxLineBytes, block => {
    const bytes = block.path.subarray(2); // behind "./"
    const path = bytes.toString("utf8");
    if (file !== undefined || isInScope(path, options)) kept.add({ path, bytes, lines: block.lines });
  });
  const place = start.path === start.root.path ? "root" : "below";
  const args = searchArguments(query, options, place, printing, file);
  const child = await startProcess(await ripgrepPath(), args, {
    cwd: start.address,
    env: ripgrepEnvironment(),
    signal: options.signal,
  });
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          report.stopped = "time";
          child.kill();
        }, options.timeoutMs);
  try {
    for await (const chunk of child.output) parser.push(chunk);
  } finally {
    clearTimeout(timer);
    child.kill();
  }
  const { code, errors } = await child.exit;
  if (options.signal?.aborted) throw new Fault("cancelled", {});
  report.files = Number(/(\d+) files searched/.exec(parser.end())?.[1] ?? 0);
  if (code === 2) report.inaccessible = unreadable(query, errors);
  if (kept.dropped && report.stopped === undefined) report.stopped = "output";
  return kept.sorted();
}

/** Ripgrep's failures about single files end with the system's error; any other is about the pattern. */
function unreadable({ pattern, literal }: Query, errors: string): number {
  const lines = errors.split("\n").filter(line => line !== "");
  const single = lines.filter(line => /\(os error \d+\)$/.test(line)).length;
  if (single > 0 || lines.length === 0) return single;
  const reason = errors.replace(/^rg: /, "").trim();
  throw new Fault("invalid_pattern", { pattern, kind: literal ? "glob" : "regex", reason });
}

function isInScope(path: string, { ignore, include, exclude }: GrepOptions): boolean {
  if (ignore?.hidden === false && /(^|\/)\./.test(path)) return false;
  if (include !== undefined && !include.matches(path)) return false;
  if (exclude === undefined) return true;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    if (exclude.matches(path.slice(0, slash))) return false;
  }
  return !exclude.matches(path);
}

/** The blocks that come first in path order, as many as memory allows. */
class Kept {
  #blocks: Block[] = [];
  #bytes = 0;
  dropped = false;

  add(block: Block): void {
    this.#blocks.push(block);
    this.#bytes += costOf(block);
    if (this.#bytes > maxHeldBytes) this.#dropLast();
  }

  /** Drops the later half. */
  #dropLast(): void {
    this.dropped = true;
    this.sorted();
    while (this.#bytes > maxHeldBytes / 2 && this.#blocks.length > 1) {
      const last = this.#blocks.pop();
      if (last !== undefined) this.#bytes -= costOf(last);
    }
  }

  sorted(): Block[] {
    return this.#blocks.sort((a, b) => compareBytes(a.path, b.path) || Buffer.compare(a.bytes, b.bytes));
  }
}

function costOf({ path, lines }: Block): number {
  return lines.reduce((sum, line) => sum + line.bytes.length + lineOverhead, 2 * path.length);
}
