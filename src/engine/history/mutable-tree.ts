// A tree snapshot that can be changed path by path: the tree as if only some of the changes had happened.
import type { TreeEntry, TreeSnapshot } from "../workspace/footprint/tree-snapshot.ts";
import { isWithin } from "../workspace/root.ts";

interface MutableNode {
  entry: TreeEntry;
  /** Absent for anything but a directory, and for a directory that was not entered. */
  children?: Map<string, MutableNode>;
}

export class MutableTree {
  readonly #of: TreeSnapshot;
  readonly #roots = new Map<string, Map<string, MutableNode>>();

  constructor(of: TreeSnapshot) {
    this.#of = of;
    for (const [path, children] of of.roots) this.#roots.set(path, nodesOf(children));
  }

  get(path: string): TreeEntry | undefined {
    return this.#siblings(path)?.get(nameOf(path))?.entry;
  }

  /**
   * Sets or removes an entry. A directory that stays one keeps its contents. False if there is no parent: outside the
   * roots, or in a directory that was not entered.
   */
  set(path: string, entry: TreeEntry | undefined): boolean {
    const siblings = this.#siblings(path);
    if (siblings === undefined) return false;
    const name = nameOf(path);
    const there = siblings.get(name);
    if (entry === undefined) siblings.delete(name);
    else if (entry.kind === "directory" && there?.entry.kind === "directory") there.entry = entry;
    else siblings.set(name, entry.kind === "directory" ? { entry, children: new Map() } : { entry });
    return true;
  }

  /** Takes away a file, or a directory that is empty. */
  remove(path: string): void {
    const siblings = this.#siblings(path);
    if (siblings?.get(nameOf(path))?.children?.size) return;
    siblings?.delete(nameOf(path));
  }

  /** The entries at and below a path, by relative path. */
  subtree(path: string): Map<string, TreeEntry> {
    const found = new Map<string, TreeEntry>();
    const visit = (node: MutableNode, below: string): void => {
      found.set(below, node.entry);
      for (const [name, child] of node.children ?? []) visit(child, `${below}/${name}`);
    };
    const node = this.#siblings(path)?.get(nameOf(path));
    if (node !== undefined) visit(node, "");
    return found;
  }

  snapshot(): TreeSnapshot {
    const roots = new Map([...this.#roots].map(([path, nodes]) => [path, entriesOf(nodes)] as const));
    return { ...this.#of, roots };
  }

  /** The directory that a path is in. */
  #siblings(path: string): Map<string, MutableNode> | undefined {
    let root: string | undefined;
    for (const one of this.#roots.keys())
      if (isWithin(path, one) && one.length > (root?.length ?? 0)) root = one;
    if (root === undefined || path === root) return undefined;
    let nodes = this.#roots.get(root);
    for (const name of path
      .slice(root.length + 1)
      .split("/")
      .slice(0, -1))
      nodes = nodes?.get(name)?.children;
    return nodes;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function nodesOf(children: ReadonlyMap<string, TreeEntry>): Map<string, MutableNode> {
  const nodes = new Map<string, MutableNode>();
  for (const [name, { children: below, ...entry }] of children)
    nodes.set(name, below === undefined ? { entry } : { entry, children: nodesOf(below) });
  return nodes;
}

function entriesOf(nodes: ReadonlyMap<string, MutableNode>): Map<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>();
  for (const [name, { entry, children }] of [...nodes].sort(([a], [b]) => (a < b ? -1 : 1)))
    entries.set(name, children === undefined ? entry : { ...entry, children: entriesOf(children) });
  return entries;
}
