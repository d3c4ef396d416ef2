// What recorded changes did, path by path: each is a transition from one state of the path to another.
import type { ChangeRecord, PathLooks, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import { listedIn, type Snapshot } from "../workspace/archive/snapshot.ts";
import type { LookSpan, TreeEntry } from "../workspace/footprint/tree-snapshot.ts";
import { bytesOf } from "../workspace/handle.ts";
import { isWithin } from "../workspace/root.ts";
import type { MutableTree } from "./mutable-tree.ts";

/** The content of a path; undefined if there is nothing. For a directory, only that it is one. */
export type PathState = TreeEntry | undefined;

export interface Transition {
  /** The change that made it. */
  readonly id: string;
  readonly before: PathState;
  readonly after: PathState;
  /** A plain move: which content it moved is inferred, and may be that of another time. */
  readonly isInferred?: boolean;
  /** Of a command that ran beside another one: `before` and `after` are what its looks showed. */
  readonly looks?: Looks;
}

/** When a command looked at a path, by `clock`, and which changes of others were made in between. */
export interface Looks {
  readonly first: LookSpan;
  readonly second: LookSpan;
  readonly between: readonly string[];
}

/** `then` and `now` are the states before and after the changes; they are applied to the first. By path, in order. */
export function transitionsOf(
  records: readonly ChangeRecord[],
  then: MutableTree,
  now: MutableTree,
  objects: Objects,
): Map<string, Transition[]> {
  const found = new Map<string, Transition[]>();
  const all = records.flatMap(({ files }) => files);

  function put(path: string, before: PathState, after: PathState, id: string, isInferred = false): void {
    const list = found.get(path) ?? [];
    list.push({ before, after, id, ...(isInferred && { isInferred }) });
    found.set(path, list);
    then.set(path, after);
  }

  function replace(at: string, before: Snapshot | undefined, after: Snapshot | undefined, id: string): void {
    const [old, made] = [statesOf(before, at, objects), statesOf(after, at, objects)];
    // What is missing in a directory that was removed had been removed before.
    if (before?.kind === "directory" && before.entries !== undefined && after === undefined)
      for (const below of then.subtree(at).keys()) if (!old.has(at + below)) old.set(at + below, undefined);
    for (const path of new Set([...old.keys(), ...made.keys()])) put(path, old.get(path), made.get(path), id);
  }

  /** The record of a plain move has no content: it is that of the source, or what became of it. */
  function move(file: RecordedFile, from: string, to: string, id: string): void {
    const free = file.replaced && stateOf(file.replaced);
    const isShown = file.moved !== undefined && then.get(to)?.inode === BigInt(file.moved.inode);
    let moved = then.subtree(isShown ? to : from);
    if (moved.size === 0) {
      if (!sameContents(then.get(to), free)) return; // it had happened before
      moved = becameOf(to, all.slice(all.indexOf(file) + 1), now, objects);
    }
    for (const [below, entry] of moved) {
      const old = isShown ? (below === "" ? free : undefined) : then.get(`${to}${below}`);
      put(`${to}${below}`, old, entry, id, true);
      put(`${from}${below}`, entry, undefined, id, true);
    }
  }

  function add(file: RecordedFile, id: string): void {
    const { at, from, effect, before, after, replaced } = file;
    const path = bytesOf(at);
    if (effect === "moved" && from !== undefined) {
      if (before === undefined || after === undefined) move(file, bytesOf(from), path, id);
      else {
        replace(bytesOf(from), before, undefined, id);
        replace(path, replaced, after, id);
      }
    } else if (effect !== "none") replace(path, before ?? replaced, after, id);
  }

  const directory = stateOf({ kind: "directory", mode: 0o777 & ~process.umask() });
  for (const { id, files, parents, looks } of records) {
    for (const parent of parents) put(bytesOf(parent), undefined, directory, id);
    for (const file of files) add(file, id);
    if (looks !== undefined) addLooks(found, id, looks);
  }
  return found;
}

function addLooks(found: Map<string, Transition[]>, id: string, looks: readonly PathLooks[]): void {
  for (const { at, first, second, seen } of looks) {
    const steps = found.get(bytesOf(at));
    const step = steps?.at(-1);
    if (steps === undefined || step?.id !== id) continue; // it is not in the record
    steps[steps.length - 1] = {
      id,
      before: seen ? seen.before && stateOf(seen.before) : step.before,
      after: seen ? seen.after && stateOf(seen.after) : step.after,
      looks: { first, second, between: seen?.between ?? [] },
    };
  }
}

/** What is at and below a path before some changes, as they and the tree after them tell: by relative path. */
function becameOf(
  path: string,
  later: readonly RecordedFile[],
  now: MutableTree,
  objects: Objects,
): Map<string, TreeEntry> {
  let place = path;
  /** What is below, where a change tells. */
  const told = new Map<string, PathState>();
  const tell = (at: string, states: ReadonlyMap<string, PathState>) => {
    for (const [below, state] of new Map([["", undefined], ...states])) {
      const key = at.slice(place.length) + below;
      if (!told.has(key)) told.set(key, state);
    }
  };
  const found = (states: ReadonlyMap<string, PathState>) => {
    const entries = new Map<string, TreeEntry>();
    for (const [below, state] of new Map([...states, ...told])) if (state) entries.set(below, state);
    return entries;
  };
  for (const [i, { at, from, effect, before, after, replaced }] of later.entries()) {
    if (effect === "none") continue;
    const [to, source] = [bytesOf(at), from === undefined ? undefined : bytesOf(from)];
    const old = effect === "moved" ? replaced : (before ?? replaced);
    if (effect === "moved" && source !== undefined && isWithin(place, source)) {
      if (before !== undefined && after !== undefined)
        return found(relativeTo(place, statesOf(before, source, objects)));
      place = to + place.slice(source.length);
    } else if (isWithin(place, to)) return found(relativeTo(place, statesOf(old, to, objects)));
    else {
      if (effect === "moved" && source !== undefined && isWithin(source, place))
        tell(source, becameOf(to, later.slice(i + 1), now, objects));
      if (isWithin(to, place)) tell(to, relativeTo(to, statesOf(old, to, objects)));
    }
  }
  return found(now.subtree(place));
}

/** The states at and below a path, by relative path. */
function relativeTo(path: string, states: ReadonlyMap<string, PathState>): Map<string, PathState> {
  const found = new Map<string, PathState>();
  for (const [at, state] of states) if (isWithin(at, path)) found.set(at.slice(path.length), state);
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

/** Whether a path was in this state before a change. */
export function wasBefore(
  { before, isInferred }: Pick<Transition, "before" | "isInferred">,
  state: PathState,
): boolean {
  if (isInferred && before && state) return before.kind === state.kind;
  return sameContents(before, state);
}

/** Whether two states have the same contents; permissions may differ. Where contents are unknown, sizes decide. */
export function sameContents(a: PathState, b: PathState): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind !== b.kind) return false;
  if (a.kind === "symlink") return a.target === b.target;
  if (a.kind !== "file") return true;
  return a.hash !== undefined && b.hash !== undefined ? a.hash === b.hash : a.size === b.size;
}
