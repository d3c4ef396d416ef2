// Assembles lines from the chunks in which a file is read, within the limits.
import type { LineOptions, RawLine } from "./line-window.ts";

export class LineCollector {
  readonly lines: RawLine[] = [];
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

  #push(end: RawLine["end"], endBytes: number): void {
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
