// Windows of lines in a file of any size: from a line on (streaming, stopping early), and the last ones (from the
// end of the file, not from its start). Only the window is kept in memory, and a limit holds for it too, so a
// line of 50 MB or a file of 300 MB costs no more than what is asked for. Lines end with LF, as search counts
// them; `width` is 2 for UTF-16.
import type { OpenFile } from "./file.ts";
import { LineMarks } from "./line-marks.ts";

/** One line. `bytes` has no terminator; `end` is how the line ended, "" at the end of a file without one. */
export interface FileLine {
  readonly bytes: Buffer;
  readonly end: "\n" | "\r\n" | "";
  /** Bytes that were left out at the end of this line because it is longer than the limit. */
  readonly left: number;
}

export interface LineWindow {
  readonly lines: readonly FileLine[];
  /** The number of the first line, from 1. From the end of a long file it is not known. */
  readonly first?: number;
  /** Whether the file goes on behind the window (before it, for the last lines). */
  readonly more: boolean;
  /** How many lines the file has, where reading came to its end. A final newline begins no further line. */
  readonly total?: number;
  /** Whether the limit on bytes, not the number of lines, ended the window. */
  readonly full: boolean;
}

export interface LineOptions {
  /** Bytes kept of one line; the rest is counted in `left`. */
  readonly maxLineBytes?: number;
  /** Bytes kept of all lines together; the line that would pass it is not begun, except the first. */
  readonly maxBytes?: number;
  /** 2 for UTF-16; its byte order tells where the LF's zero byte is. */
  readonly encoding?: "utf-16le" | "utf-16be";
  /** Bytes of a byte-order mark to leave out. */
  readonly skip?: number;
  readonly signal?: AbortSignal;
}

/** `count` lines from line `start` (from 1) on. */
export async function linesFrom(
  file: OpenFile,
  start: number,
  count: number,
  options: LineOptions = {},
): Promise<LineWindow> {
  const scan = new Scanner(options);
  const collector = new Collector(options);
  const marks = scan.width === 1 ? new LineMarks(file) : undefined;
  const mark = marks?.before(start);
  let line = mark?.line ?? 1;
  let offset = mark?.offset ?? options.skip ?? 0;
  let pending = false; // bytes of an unfinished line were seen
  for await (const chunk of file.stream(offset)) {
    options.signal?.throwIfAborted();
    let at = 0;
    offset += chunk.length;
    if (line < start) {
      const skipped = scan.skip(chunk, start - line);
      line += skipped.lines;
      at = skipped.end;
      pending = skipped.partial;
      if (line < start) marks?.note(offset, line);
      else marks?.keep();
    }
    while (at < chunk.length) {
      if (collector.lines.length === count)
        return { lines: collector.lines, first: start, more: true, full: false };
      const end = scan.next(chunk, at);
      collector.add(chunk.subarray(at, end < 0 ? chunk.length : end));
      if (collector.full) return { lines: collector.lines, first: start, more: true, full: true };
      if (end >= 0) {
        collector.finish(scan.width);
        line++;
      }
      pending = end < 0;
      at = end < 0 ? chunk.length : end;
    }
  }
  marks?.keep();
  if (collector.open) collector.finish(0);
  const total = line - 1 + (pending ? 1 : 0);
  return { lines: collector.lines, first: start, more: false, total, full: false };
}

/** The last `count` lines, read backwards. A final newline begins no further line. */
export async function lastLines(
  file: OpenFile,
  count: number,
  options: LineOptions = {},
): Promise<LineWindow> {
  const scan = new Scanner(options);
  const from = options.skip ?? 0;
  const limit = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const chunks: Buffer[] = [];
  let begin = file.size - ((file.size - from) % scan.width); // half a unit at the end is no text
  let breaks = 0;
  let kept = 0;
  while (begin > from && breaks <= count && kept < limit) {
    options.signal?.throwIfAborted();
    const size = Math.min(64 * 1024, begin - from, limit - kept);
    const chunk = await file.read(begin - size, size);
    if (chunk.length === 0) break;
    begin -= size;
    kept += chunk.length;
    breaks += scan.skip(chunk, Number.POSITIVE_INFINITY).lines;
    chunks.unshift(chunk);
  }
  const tail = Buffer.concat(chunks);
  const collector = new Collector({ maxLineBytes: options.maxLineBytes });
  for (let at = 0; at < tail.length; ) {
    const end = scan.next(tail, at);
    collector.add(tail.subarray(at, end < 0 ? tail.length : end));
    collector.finish(end < 0 ? 0 : scan.width);
    at = end < 0 ? tail.length : end;
  }
  const whole = begin <= from;
  // The first piece is the end of a line whose beginning was not read, unless the whole file was.
  const known = whole || kept >= limit ? collector.lines : collector.lines.slice(1);
  const lines = known.slice(-count);
  return {
    lines,
    first: whole ? collector.lines.length - lines.length + 1 : undefined,
    more: !whole || lines.length < collector.lines.length,
    total: whole ? collector.lines.length : undefined,
    // The first piece that was read is rarely the beginning of a line.
    full: !whole && kept >= limit && known.length <= count,
  };
}

/** How many lines the file has. A final newline begins no further line. */
export async function countLines(file: OpenFile, options: LineOptions = {}): Promise<number> {
  const window = await linesFrom(file, Number.MAX_SAFE_INTEGER, 1, options);
  return window.total ?? 0;
}

const blockBytes = 16 * 1024;
const shortLine = 12; // bytes

/** Finds line ends: LF as a byte, or as a unit of two. */
class Scanner {
  readonly width: 1 | 2;
  readonly #low: number; // offset of the 0x0a within a unit
  #short = false;

  constructor({ encoding }: LineOptions) {
    this.width = encoding === undefined ? 1 : 2;
    this.#low = encoding === "utf-16be" ? 1 : 0;
  }

  /** The position behind the next line end from `at` on, or -1. */
  next(chunk: Buffer, at: number): number {
    if (this.width === 1) return chunk.indexOf(10, at) + 1 || -1;
    for (let i = at; i + 1 < chunk.length; i += 2) if (this.#isBreak(chunk, i)) return i + 2;
    return -1;
  }

  /** Passes over up to `most` line ends: how many there were, where the last one ended, and whether more follows it. */
  skip(chunk: Buffer, most: number): { lines: number; end: number; partial: boolean } {
    let lines = 0;
    let end = 0;
    if (this.width === 1) {
      for (let at = 0; at < chunk.length && lines < most; at += blockBytes) {
        const passed = this.#skipBytes(chunk, at, Math.min(chunk.length, at + blockBytes), most - lines);
        lines += passed.lines;
        if (passed.lines > 0) end = passed.end;
      }
    } else {
      for (let i = 0; i + 1 < chunk.length && lines < most; i += 2) {
        if (this.#isBreak(chunk, i)) {
          lines++;
          end = i + 2;
        }
      }
    }
    if (lines < most) return { lines, end: chunk.length, partial: end < chunk.length };
    return { lines, end, partial: false };
  }

  /** The same for bytes from `at` to `stop`. The engine's own search wins where lines are long, a loop where they are short. */
  #skipBytes(chunk: Buffer, at: number, stop: number, most: number): { lines: number; end: number } {
    let lines = 0;
    let end = at;
    if (this.#short) {
      for (let i = at; i < stop && lines < most; i++) {
        if (chunk[i] === 10) {
          lines++;
          end = i + 1;
        }
      }
    } else {
      for (let i = chunk.indexOf(10, at); i >= 0 && i < stop && lines < most; i = chunk.indexOf(10, end)) {
        lines++;
        end = i + 1;
      }
    }
    this.#short = lines * shortLine > stop - at;
    return { lines, end };
  }

  #isBreak(chunk: Buffer, i: number): boolean {
    return chunk[i + this.#low] === 10 && chunk[i + 1 - this.#low] === 0;
  }
}

/** Puts lines together from pieces of chunks, within the limits. */
class Collector {
  readonly lines: FileLine[] = [];
  full = false;
  readonly #maxLine: number;
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #length = 0; // of the line so far, as it is in the file
  #kept = 0; // of the line so far, as it is held
  #total = 0;

  constructor({ maxLineBytes, maxBytes }: LineOptions) {
    this.#maxLine = maxLineBytes ?? Number.POSITIVE_INFINITY;
    this.#maxBytes = maxBytes ?? Number.POSITIVE_INFINITY;
  }

  get open(): boolean {
    return this.#length > 0;
  }

  add(piece: Buffer): void {
    const room = Math.min(this.#maxLine + 2 - this.#kept, this.#maxBytes - this.#total);
    const keep = piece.subarray(0, Math.max(0, room));
    this.#length += piece.length;
    this.#kept += keep.length;
    this.#total += keep.length;
    if (keep.length > 0) this.#pieces.push(Buffer.from(keep)); // the chunk's memory is used again
    if (this.#total < this.#maxBytes || keep.length === piece.length) return;
    this.full = true;
    // A first line that alone fills the window is given as far as it goes; a later one is left for the next window.
    if (this.lines.length === 0) this.#push("", 0);
  }

  /** Ends the line; its last bytes are a line break of `width`, or there is none (0). */
  finish(width: 0 | 1 | 2): void {
    if (width === 0) {
      this.#push("", 0);
      return;
    }
    const held = this.#held();
    const complete = this.#kept === this.#length;
    const before = held.length - width;
    const carriage = complete && before >= width && isCarriageReturn(held.subarray(before - width, before));
    this.#push(carriage ? "\r\n" : "\n", complete ? width * (carriage ? 2 : 1) : width);
  }

  #push(end: FileLine["end"], endBytes: number): void {
    const held = this.#held();
    const complete = this.#kept === this.#length;
    const textBytes = this.#length - endBytes;
    const bytes = held.subarray(0, Math.min(complete ? textBytes : held.length, this.#maxLine));
    this.lines.push({ bytes, end, left: textBytes - bytes.length });
    this.#pieces = [];
    this.#length = 0;
    this.#kept = 0;
  }

  #held(): Buffer {
    const [first] = this.#pieces;
    const held = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    this.#pieces = [held];
    return held;
  }
}

function isCarriageReturn(unit: Buffer): boolean {
  return unit.length === 1
    ? unit[0] === 13
    : unit[0] === 13
      ? unit[1] === 0
      : unit[1] === 13 && unit[0] === 0;
}
