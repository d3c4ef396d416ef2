// Line changes as numbers, for the way from the text thread: a list of many objects takes the receiver long to read.
import type { LineChange } from "./line-diff.ts";

export function packed(changes: readonly LineChange[]): Uint32Array {
  const numbers = new Uint32Array(4 * changes.length);
  for (const [i, { aStart, aEnd, bStart, bEnd }] of changes.entries())
    numbers.set([aStart, aEnd, bStart, bEnd], 4 * i);
  return numbers;
}

export function unpacked(numbers: Uint32Array): LineChange[] {
  const changes: LineChange[] = [];
  for (let i = 0; i < numbers.length; i += 4) {
    const [aStart = 0, aEnd = 0, bStart = 0, bEnd = 0] = numbers.subarray(i, i + 4);
    changes.push({ aStart, aEnd, bStart, bEnd });
  }
  return changes;
}

/** Changes by hunk. */
export interface PackedHunks {
  readonly changes: Uint32Array;
  /** How many changes each hunk has. */
  readonly sizes: Uint32Array;
}

export function packedHunks(hunks: readonly (readonly LineChange[])[]): PackedHunks {
  return { changes: packed(hunks.flat()), sizes: Uint32Array.from(hunks, ({ length }) => length) };
}

export function unpackedHunks({ changes, sizes }: PackedHunks): LineChange[][] {
  const hunks: LineChange[][] = [];
  let at = 0;
  for (const size of sizes) {
    hunks.push(unpacked(changes.subarray(at, at + 4 * size)));
    at += 4 * size;
  }
  return hunks;
}
