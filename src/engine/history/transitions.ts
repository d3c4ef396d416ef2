// What recorded changes did, path by path: each is a transition from one state of the path to another.
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import { listedIn, type Snapshot } from "../workspace/archive/snapshot.ts";
import type { TreeEntry } from "../workspace/footprint/tree-snapshot.ts";
import { bytesOf } from "../workspace/handle.ts";
import type { MutableTree } from "./mutable-tree.ts";

/** The content of a path; undefined if there is nothing. For a directory, only that it is one. */
export type PathState = TreeEntry | undefined;

export interface Transition {
  readonly before: PathState;
  readonly after: PathState;
  /** The change was made between these times: milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

type When = Pick<Transition, "from" | "to">;

/** `tree` is the state before the first of the changes; they are applied to it. By path, in order. */
export function transitionsOf(
  records: readonly ChangeRecord[],
  tree: MutableTree,
  objects: Objects,
): Map<string, Transition[]> {
  const found = new Map<string, Transition[]>();

  function put(path: string, before: PathState, after: PathState, when: When): void {
    const list = found.get(path) ?? [];
    list.push({ before, after, ...when });
    found.set(path, list);
    tree.set(path, after);
  }

  function replace(at: string, before: Snapshot | undefined, after: Snapshot | undefined, when: When): void {
    const [old, made] = [statesOf(before, at, objects), statesOf(after, at, objects)];
    for (const path of new Set([...old.keys(), ...made.keys()]))
      put(path, old.get(path), made.get(path), when);
  }

  /** The record of a plain move has no content: it is that of the source. */
  function move(from: string, to: string, when: When): void {
    for (const [below, entry] of tree.subtree(from)) {
      put(`${to}${below}`, tree.get(`${to}${below}`), entry, when);
      put(`${from}${below}`, entry, undefined, when);
    }
  }

  function add({ at, from, effect, before, after, replaced }: RecordedFile, when: When): void {
    const path = bytesOf(at);
    if (effect === "moved" && from !== undefined) {
      if (before === undefined || after === undefined) move(bytesOf(from), path, when);
      else {
        replace(bytesOf(from), before, undefined, when);
        replace(path, replaced, after, when);
      }
    } else if (effect !== "none") replace(path, before ?? replaced, after, when);
  }

  const directory = stateOf({ kind: "directory", mode: 0o777 & ~process.umask() });
  for (const { files, parents, began, time } of records) {
    const when = { from: began ?? time, to: time };
    for (const parent of parents) put(bytesOf(parent), undefined, directory, when);
    for (const file of files) add(file, when);
  }
  return found;
}

/** The entries of a snapshot, by path. */
function statesOf(
  snapshot: Snapshot | undefined,
  path: string,
  objects: Objects,
  states = new Map<string, PathState>(),
): Map<string, PathState> {
  if (snapshot === undefined) return states;
  states.set(path, stateOf(snapshot));
  for (const listed of listedIn(snapshot, objects) ?? [])
    statesOf(listed, `${path}/${bytesOf(listed.name)}`, objects, states);
  return states;
}

function stateOf(snapshot: Snapshot): TreeEntry {
  const kind = snapshot.kind === "special" ? "other" : snapshot.kind;
  const file = snapshot.kind === "file" ? snapshot : undefined;
  return {
    kind,
    size: file?.size ?? 0,
    mode: "mode" in snapshot ? snapshot.mode : 0,
    inode: 0n,
    device: 0n,
    modified: BigInt(Math.round((file?.modified ?? 0) * 1e6)),
    changed: 0n,
    ...(file?.hash !== undefined && { hash: file.hash }),
    ...(snapshot.kind === "symlink" && { target: bytesOf(snapshot.target) }),
  };
}

/** Whether two states have the same contents; permissions may differ. Where contents are unknown, sizes decide. */
export function sameContents(a: PathState, b: PathState): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind !== b.kind) return false;
  if (a.kind === "symlink") return a.target === b.target;
  if (a.kind !== "file") return true;
  return a.hash !== undefined && b.hash !== undefined ? a.hash === b.hash : a.size === b.size;
}
