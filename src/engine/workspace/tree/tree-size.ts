// How much a tree holds of its own: files that have no other name, and their bytes.
import { lstatSync } from "node:fs";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";

export interface TreeSize {
  readonly bytes: number;
  readonly files: number;
}

/** What is shared by hard links does not count. */
export async function treeSize(tree: Handle, signal?: AbortSignal): Promise<TreeSize> {
  const slice = new TimeSlice();
  let [bytes, files] = [0, 0];

  async function visit(directory: Handle): Promise<void> {
    for (const name of rawNamesIn(directory)) {
      if (slice.isOver) {
        await slice.turn();
        signal?.throwIfAborted();
      }
      const address = directory.below(addressOf(name));
      const stats = lstatSync(address, { throwIfNoEntry: false });
      if (stats?.isDirectory()) {
        using below = Handle.open(address, { follow: false, directory: true });
        await visit(below);
      } else if (stats?.isFile() && stats.nlink === 1) {
        bytes += stats.size;
        files++;
      }
    }
  }

  await visit(tree);
  return { bytes, files };
}
