// The first and the last bytes of a stream of any length, in memory bounded in advance. Keeps bytes, not text, so a
// character split across chunks stays whole.
import { Buffer } from "node:buffer";
import { Ring } from "./ring.ts";

/** How many bytes of a stream are kept at either end. What is between is counted, not kept. */
export interface Keep {
  readonly head: number;
  readonly tail: number;
}

/** The kept bytes. `head` is everything if nothing was dropped. */
export interface Captured {
  readonly head: string;
  readonly tail: string;
  /** All bytes that were written. */
  readonly bytes: number;
  /** Bytes between head and tail that were not kept. */
  readonly omitted: number;
  readonly truncated: boolean;
}

export class Capture {
  readonly #keep: Keep;
  #head: Buffer = Buffer.alloc(0);
  #headLength = 0;
  readonly #tail: Ring;

  constructor(keep: Keep) {
    this.#keep = keep;
    this.#tail = new Ring(keep.tail);
  }

  get bytes(): number {
    return this.#headLength + this.#tail.total;
  }

  push(chunk: Buffer): void {
    this.#tail.push(this.#pushHead(chunk));
  }

  /** Takes what fits into the head, and returns the rest. */
  #pushHead(chunk: Buffer): Buffer {
    const room = this.#keep.head - this.#headLength;
    const part = chunk.length > room ? chunk.subarray(0, room) : chunk;
    const length = this.#headLength + part.length;
    if (length > this.#head.length) {
      const grown = Buffer.allocUnsafe(
        Math.min(this.#keep.head, Math.max(4096, length, this.#head.length * 2)),
      );
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    part.copy(this.#head, this.#headLength);
    this.#headLength = length;
    return chunk.subarray(part.length);
  }

  /** The kept bytes as UTF-8. Bytes that are none become U+FFFD; a character is never cut in two by the bounds. */
  captured(): Captured {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#tail.read();
    if (this.#tail.total === tail.length) {
      const text = Buffer.concat([head, tail]).toString("utf8");
      return { head: text, tail: "", bytes: this.bytes, omitted: 0, truncated: false };
    }
    const first = head.subarray(0, wholeCharacters(head));
    const last = tail.subarray(characterStart(tail));
    return {
      head: first.toString("utf8"),
      tail: last.toString("utf8"),
      bytes: this.bytes,
      omitted: this.bytes - first.length - last.length,
      truncated: true,
    };
  }
}

/** The length of `bytes` without a character at its end that is not complete. */
export function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needs > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** The start of the first whole character, after the rest of a cut one. */
function characterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}
