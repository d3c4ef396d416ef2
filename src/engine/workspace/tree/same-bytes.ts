// Whether two files hold the same bytes, without keeping either in memory.
import { constants } from "node:fs";
import { sys } from "../disk/syscalls.ts";
import type { Address } from "../system/held.ts";

const chunk = 256 * 1024;
// One pair for all: nothing else runs between reading and comparing.
const [left, right] = [Buffer.allocUnsafeSlow(chunk), Buffer.allocUnsafeSlow(chunk)];
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Both are regular files of this size. */
export function hasSameBytes(a: Address, b: Address, size: number): boolean {
  const one = sys.open(a, flags);
  try {
    const other = sys.open(b, flags);
    try {
      for (let at = 0; at < size; ) {
        const length = Math.min(chunk, size - at);
        const [count, second] = [sys.read(one, left, 0, length, at), sys.read(other, right, 0, length, at)];
        if (count === 0 || count !== second || left.compare(right, 0, count, 0, count) !== 0) return false;
        at += count;
      }
      return true;
    } finally {
      sys.close(other);
    }
  } finally {
    sys.close(one);
  }
}
