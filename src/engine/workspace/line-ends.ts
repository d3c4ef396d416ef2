// Where lines end in a piece of a file. Whole files are passed over here, so this is what looking for a line costs.
import { memoryFrom, program } from "../text/simd/program.ts";
import type { LineOptions, RawLine } from "./line-window.ts";

const worthVectors = 128 * 1024;
const vectorBytes = 64 * 1024;
const blockBytes = 16 * 1024;
const shortLine = 12; // bytes

/** Finds line ends: LF as a byte, or as a unit of two. */
export class LineEnds {
  readonly width: 1 | 2;
  readonly #low: number; // offset of the 0x0a within a unit
  #short = false;

  constructor(encoding?: LineOptions["encoding"]) {
    this.width = encoding === undefined ? 1 : 2;
    this.#low = encoding === "utf-16be" ? 1 : 0;
  }

  /** The position after the next line end from `at` on, or -1. */
  next(chunk: Buffer, at: number): number {
    if (this.width === 1) return chunk.indexOf(10, at) + 1 || -1;
    for (let i = at; i + 1 < chunk.length; i += 2) if (this.#isUnit(chunk, i, 10)) return i + 2;
    return -1;
  }

  /** The position after the last line end that is not after `limit`, or 0. */
  before(chunk: Buffer, limit: number): number {
    if (this.width === 1) return limit <= 0 ? 0 : chunk.lastIndexOf(10, limit - 1) + 1;
    for (let i = limit - 2; i >= 0; i -= 2) if (this.#isUnit(chunk, i, 10)) return i + 2;
    return 0;
  }

  /** The line break before `end`, in a line that begins at `from`. */
  breakAt(chunk: Buffer, end: number, from = 0): RawLine["end"] {
    const { width } = this;
    if (end - width < from || !this.#isUnit(chunk, end - width, 10)) return "";
    return end - 2 * width >= from && this.#isUnit(chunk, end - 2 * width, 13) ? "\r\n" : "\n";
  }

  /** Passes over up to `most` line ends: how many there were, where the last one ended, and whether more follows it. */
  skip(chunk: Buffer, most: number): { lines: number; end: number; partial: boolean } {
    let lines = 0;
    let end = 0;
    if (this.width === 1) {
      const first = this.#skipBlocks(chunk, most);
      lines = first.lines;
      end = first.end;
      for (let at = end; at < chunk.length && lines < most; at += blockBytes) {
        const passed = this.#skipBytes(chunk, at, Math.min(chunk.length, at + blockBytes), most - lines);
        lines += passed.lines;
        if (passed.lines > 0) end = passed.end;
      }
    } else {
      for (let i = 0; i + 1 < chunk.length && lines < most; i += 2) {
        if (this.#isUnit(chunk, i, 10)) {
          lines++;
          end = i + 2;
        }
      }
    }
    if (lines < most) {
      const partial = this.width === 1 ? chunk.length > 0 && chunk.at(-1) !== 10 : end < chunk.length;
      return { lines, end: chunk.length, partial };
    }
    return { lines, end, partial: false };
  }

  /** Passes over whole blocks of which none has the line that is looked for. */
  #skipBlocks(chunk: Buffer, most: number): { lines: number; end: number } {
    const quick = chunk.length < worthVectors ? undefined : program();
    let lines = 0;
    let end = 0;
    while (quick !== undefined && end < chunk.length) {
      const length = chunk.copy(quick.memory, memoryFrom, end, Math.min(chunk.length, end + vectorBytes));
      const breaks = quick.countBreaks(memoryFrom, memoryFrom + length);
      if (lines + breaks >= most) break;
      lines += breaks;
      end += length;
    }
    return { lines, end };
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

  #isUnit(chunk: Buffer, i: number, value: number): boolean {
    if (this.width === 1) return chunk[i] === value;
    return chunk[i + this.#low] === value && chunk[i + 1 - this.#low] === 0;
  }
}
