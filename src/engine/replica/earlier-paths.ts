// Paths of a directory that hold what they held earlier, although no change here put that back: the directory was
// restored from a copy while no server ran. Sent as a change, that would take back what others have done since.
import type { ChangeLog, RecordedFile } from "../workspace/archive/log.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { PathMap, pathsAbove } from "../workspace/within.ts";
import type { Node, TreeState } from "./tree-state.ts";

/** A tree of the log, with the paths at which it differs from the one before. The root is "". */
export interface EarlierTree {
  readonly tree: Pick<TreeState, "get">;
  readonly touched: readonly string[];
}

type Made = Extract<Operation, { readonly do: "write" | "symlink" | "mkdir" }>;

/** `operations` turn the latest of the trees into the directory. The paths are relative to the root. */
export async function earlierPaths(
  operations: readonly Operation[],
  root: string,
  changes: Pick<ChangeLog, "newestInTurns">,
  trees: () => AsyncIterable<EarlierTree>,
): Promise<Set<string>> {
  const made = operations.filter((one): one is Made => /^(write|symlink|mkdir)$/.test(one.do));
  const open = await notMadeHere(made, root, changes);
  const earlier = new Set<string>();
  if (open.isEmpty) return earlier;
  for await (const { tree, touched } of trees()) {
    for (const at of touched)
      for (const [path, one] of open.within(at && under("/", at))) {
        if (!isAt(tree.get(one.at), one)) continue;
        earlier.add(one.at);
        open.delete(path);
      }
    if (open.isEmpty) break;
  }
  // A directory stays for what is new in it.
  for (const { at } of made) if (!earlier.has(at)) for (const above of pathsAbove(at)) earlier.delete(above);
  return earlier;
}

/** Those that the latest change here that concerns their path did not leave like that. */
async function notMadeHere(
  made: readonly Made[],
  root: string,
  changes: Pick<ChangeLog, "newestInTurns">,
): Promise<PathMap<Made>> {
  const open = new PathMap<Made>();
  for (const one of made) open.set(under(root, one.at), one);
  const others = new PathMap<Made>();
  const isOther = (path: string, one: Made) => {
    others.set(under("/", one.at), one);
    open.delete(path);
  };
  if (open.isEmpty) return others;
  for await (const { files, parents } of changes.newestInTurns()) {
    for (const file of files.toReversed()) {
      for (const [path, one] of open.within(file.at))
        if (file.effect === "removed" || (path === file.at && !isAfter(file, one))) isOther(path, one);
        else if (path === file.at || file.effect !== "modified") open.delete(path);
      if (file.effect === "moved" && file.from !== undefined)
        for (const [path, one] of open.within(file.from)) isOther(path, one);
    }
    for (const path of parents) open.delete(path);
    if (open.isEmpty) return others;
  }
  for (const [path, one] of open) isOther(path, one);
  return others;
}

function isAfter({ effect, after }: RecordedFile, one: Made): boolean {
  if (after === undefined) return effect === "moved" || effect === "copied"; // with what it held
  if (after.kind === "file") return one.do === "write" && after.hash === one.hash;
  if (after.kind === "symlink") return one.do === "symlink" && after.target === one.target;
  return after.kind === "directory" && one.do === "mkdir";
}

/** Permissions do not count: a copy may have been made under another umask. */
function isAt(node: Node | undefined, one: Made): boolean {
  if (node?.kind === "file") return one.do === "write" && node.hash === one.hash;
  if (node?.kind === "symlink") return one.do === "symlink" && node.target === one.target;
  return node?.kind === "directory" && one.do === "mkdir";
}
