// A tree as one value: each directory with its entries, sorted by name. It is in memory as a whole, so it has a
// limit.
import { Fault, type Kind } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { type WalkOptions, walk } from "./walk.ts";

export interface TreeNode {
  readonly name: string;
  readonly kind: Kind;
  /** The entries of a directory, down to the requested depth. */
  readonly children: readonly TreeNode[];
}

export interface TreeOptions extends WalkOptions {
  /** How many levels to show: 0 is the start alone. All by default. */
  readonly levels?: number | undefined;
  /** The most names, in characters, that are held. Beyond it: `too_large`. */
  readonly maxLength: number;
}

type Growing = TreeNode & { readonly children: Growing[] };

/** Faults: `too_large`, `cancelled`. */
export async function treeOf(start: Directory, options: TreeOptions): Promise<TreeNode> {
  const { levels = Number.POSITIVE_INFINITY, maxLength } = options;
  const root: Growing = {
    name: start.path.slice(start.path.lastIndexOf("/") + 1),
    kind: "directory",
    children: [],
  };
  if (levels <= 0) return root;
  const directories = new Map<string, Growing>([["", root]]);
  let size = 0;
  // A directory comes before its entries.
  await walk(start, { ...options, maxDepth: levels - 1 }).each(({ name, kind, path }) => {
    size += name.length + 40;
    if (size > maxLength) throw new Fault("too_large", { path: start.given, size, limit: maxLength });
    const node: Growing = { name, kind, children: [] };
    directories.get(path.slice(0, -name.length - 1))?.children.push(node);
    if (kind === "directory") directories.set(path, node);
    return true;
  });
  return root;
}
