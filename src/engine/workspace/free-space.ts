// How much room is left on the disks of the roots, so that a command can be stopped before it takes the last.
import { statfsSync } from "node:fs";
import type { Root } from "./root.ts";

/** The least that is free on any of them, in bytes. */
export function freeSpace(roots: readonly Root[]): number {
  return Math.min(
    ...roots.map(root => {
      const { bavail, bsize } = statfsSync(root.handle.address);
      return bavail * bsize;
    }),
  );
}
