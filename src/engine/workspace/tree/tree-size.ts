// How much a tree holds of its own: files that have no other name, and their bytes.
import type { Handle } from "../handle.ts";
import { filesBelow } from "./files-below.ts";

export interface TreeSize {
  readonly bytes: number;
  readonly files: number;
}

/** What is shared by hard links does not count. */
export async function treeSize(tree: Handle, signal?: AbortSignal): Promise<TreeSize> {
  let [bytes, files] = [0, 0];
  for await (const { stats } of filesBelow(tree, signal)) {
    if (stats.nlink > 1) continue;
    bytes += stats.size;
    files++;
  }
  return { bytes, files };
}
