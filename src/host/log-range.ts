// A part of a log file, known by its place and the hash of its bytes. A log is only appended to, so a part of it stays
// the same for good.
import { createHash } from "node:crypto";
import { readSync } from "node:fs";

export interface LogRange {
  readonly from: number;
  readonly to: number;
  readonly sha256: string;
}

const newline = 10;
const pieceBytes = 64 * 1024;

/** The hash of a part of a file. Undefined if the file is shorter. */
export function hashOfRange(fd: number, from: number, to: number): string | undefined {
  const sum = createHash("sha256");
  const piece = Buffer.allocUnsafe(Math.min(to - from, pieceBytes));
  for (let at = from; at < to; ) {
    const read = readSync(fd, piece, 0, Math.min(piece.length, to - at), at);
    if (read === 0) return undefined;
    sum.update(piece.subarray(0, read));
    at += read;
  }
  return sum.digest("hex");
}

/** The last complete line of a file of this size, with its end; an empty range if there is none. */
export function lastLineIn(fd: number, size: number): { readonly from: number; readonly to: number } {
  for (let length = Math.min(size, pieceBytes); ; length = Math.min(size, length * 4)) {
    const bytes = Buffer.alloc(length);
    const read = readSync(fd, bytes, 0, length, size - length);
    const end = bytes.subarray(0, read).lastIndexOf(newline);
    const before = end > 0 ? bytes.lastIndexOf(newline, end - 1) : -1;
    if (before < 0 && length < size) continue;
    return end < 0 ? { from: 0, to: 0 } : { from: size - length + before + 1, to: size - length + end + 1 };
  }
}

/** The last complete lines of a file: at least one, and as many as are read at once. */
export function lastLinesIn(fd: number, size: number): LogRange {
  const { from, to } = lastLineIn(fd, size);
  const start = Math.min(from, Math.max(0, to - pieceBytes));
  return { from: start, to, sha256: hashOfRange(fd, start, to) ?? "" };
}
