// Identifies files by device and number. NTFS numbers files with 64 bits: 16 count the uses of a table entry, 48 name
// the entry. Node's plain stats round that to a float, so two files may look the same. An inexact number is read as a
// bigint and folded into 53 bits, with a minus sign, which no exact number has.
import { type BigIntStats, fstatSync, type Stats } from "node:fs";
import { lstatSync } from "./calls.ts";
import type { Address } from "./held.ts";

const entryBits = 37n; // a table of more than 10^11 files is not to be expected
const safeBits = 53n;

/** The number of a file as a safe integer: the same for the same file, and lossless for every real table of NTFS. */
export function foldedInode(inode: bigint): number {
  if (inode < 1n << safeBits) return Number(inode);
  const [uses, entry] = [inode >> 48n, inode & ((1n << 48n) - 1n)];
  if (entry < 1n << entryBits) return -Number((uses << entryBits) | entry);
  return -Number(BigInt.asUintN(Number(safeBits), inode ^ (inode >> 11n) ^ (inode << 23n)));
}

/** Stats whose `ino` is exact. `ask` is called only if it is not. */
function exact<S extends Stats | undefined>(stats: S, ask: () => BigIntStats | undefined): S {
  if (stats === undefined || Number.isSafeInteger(stats.ino)) return stats;
  const big = ask();
  if (big !== undefined) stats.ino = foldedInode(big.ino);
  return stats;
}

/** `lstat`. Throws if there is no such entry. */
export function lstatNow(address: Address): Stats {
  return exact(lstatSync(address), () => lstatSync(address, { bigint: true, throwIfNoEntry: false }));
}

/** `lstat`; undefined if there is no such entry. */
export function lstatIfThere(address: Address): Stats | undefined {
  return exact(lstatSync(address, { throwIfNoEntry: false }), () =>
    lstatSync(address, { bigint: true, throwIfNoEntry: false }),
  );
}

/** About an open file. */
export function fstatNow(fd: number): Stats {
  return exact(fstatSync(fd), () => fstatSync(fd, { bigint: true }));
}
