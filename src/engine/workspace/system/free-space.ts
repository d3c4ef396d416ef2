// How much room is left on the disks of the roots, so that a command can be stopped before it takes the last.

import type { Root } from "../root.ts";
import { statfsSync } from "./calls.ts";

/** The least free space on any of them, in bytes; infinite if it cannot be determined. */
export function freeSpace(roots: readonly Root[]): number {
  return Math.min(...roots.map(root => freeBelow(root.handle.address)));
}

/** The free space on the disk of a path, in bytes; infinite if it cannot be determined. */
export function freeBelow(address: string): number {
  try {
    const { bavail, bsize } = statfsSync(address);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
