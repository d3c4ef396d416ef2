// How many files a tree had when it was last searched as a whole. A guess about the next search, and never more.
import type { Directory } from "../workspace/directory.ts";
import type { Root } from "../workspace/root.ts";

const mostTrees = 256;

/** What an engine remembers of its searches. */
class TreeSizes {
  readonly byRoot = new WeakMap<Root, Map<string, number>>();
}

/** Undefined if unknown; infinite if there were too many files to search in process. */
export function sizeOf({ root, path }: Directory): number | undefined {
  return root.caches.of(TreeSizes).byRoot.get(root)?.get(path);
}

/** Whether anything below the root was searched before. */
export function wasSearched({ root }: Directory): boolean {
  return root.caches.of(TreeSizes).byRoot.has(root);
}

/** Undefined: searched, and not known how many. */
export function rememberSize({ root, path }: Directory, files: number | undefined): void {
  const { byRoot } = root.caches.of(TreeSizes);
  const byPath = byRoot.get(root) ?? new Map();
  byRoot.set(root, byPath);
  if (files === undefined) byPath.delete(path);
  else if (byPath.size < mostTrees || byPath.has(path)) byPath.set(path, files);
}
