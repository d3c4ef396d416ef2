// Tests for files that are not text, one for each contract's rule. Each reads an open file, and no more of it than
// needed.
import { isUtf8 } from "node:buffer";
import type { OpenFile } from "../workspace/file.ts";

/** True for a file that a search leaves out. */
export type BinaryTest = (file: OpenFile) => boolean | Promise<boolean>;

const pieceBytes = 1024 * 1024;

/** Anything that is not valid UTF-8, to its last byte. */
export async function notUtf8(file: OpenFile): Promise<boolean> {
  if (file.size <= pieceBytes) return !isUtf8(file.readNow(0, file.size));
  let remainder = Buffer.alloc(0);
  for (let at = 0; at < file.size; at += pieceBytes) {
    const piece = await file.read(at, pieceBytes);
    const whole = Buffer.concat([remainder, piece]);
    const end = lastBoundary(whole);
    if (!isUtf8(whole.subarray(0, end))) return true;
    remainder = whole.subarray(end);
    if (remainder.length > 3) return true;
  }
  return remainder.length > 0;
}

/** A NUL in the first `head` or the last `tail` bytes. */
export function nulWithin(head: number, tail = 0): BinaryTest {
  return file => {
    if (file.readNow(0, head).includes(0)) return true;
    return tail > 0 && file.size > head && file.readNow(Math.max(0, file.size - tail), tail).includes(0);
  };
}

/** The start of the character that the end of `bytes` may have cut, or the end. */
function lastBoundary(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return wanted > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}
