// A masked file as it is shown: its text, and its size, which must not reveal how long the hidden values are.
import { Buffer } from "node:buffer";
import { closeSync, constants, fstatSync, readSync, type Stats } from "node:fs";
import { Fault } from "../fault.ts";
import { maxMaskedBytes, type Rules } from "./rules.ts";
import { type Stat, statOf } from "./stat.ts";
import { openSync } from "./system/calls.ts";
import type { Address } from "./system/held.ts";

/** The masked text of the file at `at`, read by `address`; undefined if it cannot be masked and is not shown. */
export function maskedText(rules: Rules, at: string, address: Address): Buffer | undefined {
  const bytes = bytesToMask(address);
  try {
    return rules.shown(at, bytes);
  } catch (error) {
    if (!Fault.is(error, "forbidden")) throw error;
    return undefined;
  }
}

/** The bytes of a file, as far as they tell whether it can be masked and how. */
export function bytesToMask(address: Address): Buffer {
  const fd = openSync(address, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxMaskedBytes + 1));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** The stat of `at` as callers see it: for a masked file, the size of the masked text. */
export function statShown(stats: Stats, address: Address, at: string, rules: Rules): Stat {
  const stat = statOf(stats);
  if (stat.kind !== "file" || !rules.restrict || rules.decide(at).contents !== "masked") return stat;
  try {
    return { ...stat, size: maskedText(rules, at, address)?.length ?? 0 };
  } catch {
    return { ...stat, size: 0 }; // gone, or not ours to read
  }
}
