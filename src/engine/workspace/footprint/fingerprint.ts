// Tells whether a directory outside the snapshot changed, without reading its files: a hash over names, inodes, sizes
// and times of all its entries. Bounded: too many entries give no answer.
import { createHash, type Hash } from "node:crypto";
import { isAnswer } from "../errno.ts";
import { Handle } from "../handle.ts";
import { lstatSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";
import { addressOf, rawNamesIn } from "./raw-names.ts";
import type { TimeSlice } from "./time-slice.ts";

const maxDepth = 64;

/** Undefined if the budget is exceeded, or something cannot be looked at; entries that were examined count against it. */
export async function fingerprint(
  address: Address,
  budget: { left: number },
  slice: TimeSlice,
): Promise<string | undefined> {
  const hash = createHash("sha256");
  return (await add(hash, address, budget, slice, 0)) ? hash.digest("base64") : undefined;
}

async function add(
  hash: Hash,
  address: Address,
  budget: { left: number },
  slice: TimeSlice,
  depth: number,
): Promise<boolean> {
  let handle: Handle;
  let names: string[];
  try {
    handle = Handle.open(address, { follow: false, directory: true });
  } catch (error) {
    return isAnswer(error);
  }
  using directory = handle;
  try {
    names = rawNamesIn(directory);
  } catch (error) {
    return isAnswer(error);
  }
  budget.left -= names.length;
  if (budget.left < 0 || depth > maxDepth) return false;
  for (const name of names) {
    if (slice.isOver) await slice.turn();
    const below = directory.below(addressOf(name));
    const stats = lstatSync(below, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) continue;
    const isDirectory = stats.isDirectory();
    // The times of a directory change with its entries, which are examined themselves.
    hash.update(
      `${name}\0${stats.ino} ${stats.mode} ${isDirectory ? "" : `${stats.size} ${stats.ctimeNs}`}\0`,
      "latin1",
    );
    if (isDirectory && !(await add(hash, below, budget, slice, depth + 1))) return false;
  }
  return true;
}
