// Separates a command's changes from what polyfs servers committed while it ran, including this one. All servers of a
// user record into one archive. Each path has one history, and the command's part in it is what happened between its
// two looks at the path, except
//   - what servers committed in between: a look shows a change whole or not at all (look.ts), and
//   - what lies between both looks of a command that was recorded before: that has all of it.
// Commands are recorded one after the other, so each change has one record. The part is one change of the path; where
// commits divide it, it is in several pieces, and not recorded. It was made by the command, or by a program that no
// server knows. The parts of others tell the command's place in the history (place.ts).
import type { PathLooks } from "../workspace/archive/log.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { TreeChange } from "../workspace/footprint/compare-trees.ts";
import { seenAt, type TreeEntry, type TreeSnapshot } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import { isWithinAny, pathsAbove } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Look } from "./look.ts";
import { MutableTree } from "./mutable-tree.ts";
import type { Others, OwnPart } from "./place.ts";
import {
  type Looks,
  type PathState,
  sameContents,
  type Transition,
  transitionsOf,
  wasBefore,
} from "./transitions.ts";

const none: Others = { transitions: new Map(), parts: new Map() };

export interface OwnTrees {
  /** The trees before and after, as if only the command had acted. */
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
  /** Paths that the command and others changed alternately, so that the parts cannot be separated. */
  readonly shared: readonly string[];
  readonly others: Others;
}

/** To be called while no other command is being recorded. */
export function withoutOthers(workspace: Workspace, first: Look, second: Look): OwnTrees {
  const [before, after] = [first.snapshot, second.snapshot];
  const { changes, objects } = workspace.archive;
  // A command without looks ran alone: it had ended before the first look, even if it was recorded after it.
  const records = changes
    .sinceThen(first.since, first.shown)
    .filter(({ began, looks }) => began === undefined || looks !== undefined);
  if (records.length === 0) return { before, after, shared: [], others: none };
  const [then, now] = [new MutableTree(before), new MutableTree(after)];
  const transitions = transitionsOf(records, new MutableTree(before), now, objects);
  const shared: string[] = [];
  const parts = new Map<string, OwnPart>();
  for (const [path, steps] of transitions) {
    const isUnclear = isWithinAny(path, first.unclear) || isWithinAny(path, second.unclear);
    const found = isUnclear ? undefined : ownPart(path, steps, first, second);
    if (found === undefined) shared.push(display(path));
    parts.set(path, found ?? noneOf(now.get(path)));
  }
  keepDirectories(parts);
  // A directory before what is in it.
  const homeless: { readonly path: string; readonly tree: MutableTree }[] = [];
  for (const [path, { from, to }] of [...parts].sort(([a], [b]) => a.length - b.length)) {
    const [wasPlaced, isPlaced] = [then.set(path, from), now.set(path, to)];
    if (from === to && wasPlaced !== isPlaced) homeless.push({ path, tree: wasPlaced ? then : now });
  }
  // Entries that others created in a directory that the command created or removed are still theirs.
  for (const { path, tree } of homeless.reverse()) tree.remove(path);
  return { before: then.snapshot(), after: now.snapshot(), shared, others: { transitions, parts } };
}

/** When a command looked at what it changed, for commands that run at the same time. */
export function looksOf(
  changes: readonly TreeChange[],
  { others: { transitions } }: OwnTrees,
  first: Look,
  second: Look,
): PathLooks[] {
  return changes.map(({ bytes: path }) => {
    const [then, now] = [seenAt(first.snapshot, path), seenAt(second.snapshot, path)];
    const steps = transitions.get(path);
    const between = steps?.filter(step => !isCommand(step) && second.shown.has(step.id)).map(({ id }) => id);
    const before = then?.entry && snapshotOf(then.entry);
    const after = now?.entry && snapshotOf(now.entry);
    return {
      at: display(path),
      first: then?.seen ?? [0, 0],
      second: now?.seen ?? [0, 0],
      ...(between && { seen: { between, ...(before && { before }), ...(after && { after }) } }),
    };
  });
}

/** Without what is in a directory. */
function snapshotOf({ kind, mode, size, modified, hash, target }: TreeEntry): Snapshot {
  if (kind === "directory") return { kind, mode };
  if (kind === "symlink" && target !== undefined) return { kind, target: display(target) };
  if (kind !== "file") return { kind: "special" };
  return { kind, mode, size, modified: Number(modified) / 1e6, ...(hash !== undefined && { hash }) };
}

/** A moment in the history of a path, by `clock`. */
interface Moment {
  readonly at: number;
  readonly state: PathState;
}

/** A change of a path that is not the command's: a commit, or all between the looks of other commands. */
interface OthersStep extends Pick<Transition, "before" | "after" | "isInferred"> {
  readonly all: readonly Transition[];
}

/**
 * The command's part in the change of a path, given the changes of others; the same state twice if it has none,
 * undefined if its part is in several pieces.
 */
function ownPart(
  path: string,
  transitions: readonly Transition[],
  first: Look,
  second: Look,
): OwnPart | undefined {
  const [then, now] = [seenAt(first.snapshot, path), seenAt(second.snapshot, path)];
  if (then === undefined || now === undefined) return noneOf(now?.entry);
  const commands = transitions
    .filter(isCommand)
    .filter(({ looks }) => looks.second[1] > then.seen[0] && looks.first[0] < now.seen[1])
    .sort((a, b) => a.looks.first[0] - b.looks.first[0]);
  // Two looks at the same time that saw different things: which one was first is unknown.
  const isTorn = ({ looks, before, after }: CommandStep) =>
    (looks.second[0] < then.seen[1] && !sameContents(after, then.entry)) ||
    (looks.first[1] > now.seen[0] && !sameContents(before, now.entry));
  if (commands.some(isTorn)) return undefined;
  let start: Moment = { at: then.seen[1], state: then.entry };
  let end: Moment = { at: now.seen[0], state: now.entry };
  for (const { looks, after } of commands)
    if (looks.first[0] <= start.at && looks.second[1] > start.at)
      start = { at: looks.second[1], state: after };
  for (const { looks, before } of commands.toSorted((a, b) => b.looks.second[1] - a.looks.second[1]))
    if (looks.second[1] >= end.at && looks.first[0] < end.at) end = { at: looks.first[0], state: before };
  if (start.at >= end.at) return noneOf(now.entry);
  const commits = transitions.filter(step => !isCommand(step));
  const byId = new Map(commits.map(step => [step.id, step]));
  const allOf = (one: CommandStep) => [one, ...one.looks.between.flatMap(id => byId.get(id) ?? [])];
  const taken = new Set(commands.flatMap(({ looks }) => looks.between));
  const steps: OthersStep[] = commits
    .filter(({ id }) => second.shown.has(id) && !taken.has(id))
    .map(step => ({ ...step, all: [step] }));
  for (const group of overlapping(
    commands.filter(({ looks }) => looks.first[0] >= start.at && looks.second[1] <= end.at),
  ))
    steps.push({ ...statesOf(group), all: group.flatMap(allOf) });
  const recorded = steps
    .map(step => ({ step, id: placeIdOf(step) }))
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const orders = [recorded.map(({ step }) => step), matchedFrom(start.state, steps)];
  // The order of their ids is not always the order in which they happened.
  const [one, other] = orders.map(order => piecesBetween(start.state, order, end.state));
  const pieces = one !== undefined && other !== undefined && other.length < one.length ? other : (one ?? []);
  if (pieces.length > 1) return undefined;
  const [piece] = pieces;
  const earlier = commands.filter(({ looks }) => looks.first[0] < start.at).flatMap(allOf);
  const later = [
    ...commands.filter(({ looks }) => looks.second[1] > end.at).flatMap(allOf),
    ...commits.filter(({ id }) => !second.shown.has(id)),
  ];
  if (piece !== undefined)
    return {
      from: piece.from,
      to: piece.to,
      earlier: [...earlier, ...piece.earlier.flatMap(({ all }) => all)],
      later: [...piece.later.flatMap(({ all }) => all), ...later],
    };
  const [from, to] = [start.state, end.state];
  if (from && to && from.mode !== to.mode && steps.every(keepsMode))
    return {
      from: { ...to, mode: from.mode },
      to,
      earlier: [...earlier, ...steps.flatMap(({ all }) => all)],
      later,
    };
  return noneOf(now.entry);
}

type CommandStep = Transition & { readonly looks: Looks };

function isCommand(step: Transition): step is CommandStep {
  return step.looks !== undefined;
}

/** Commands whose looks overlap, together. They are sorted by their first looks. */
function overlapping(commands: readonly CommandStep[]): CommandStep[][] {
  const groups: CommandStep[][] = [];
  let end = 0;
  for (const step of commands) {
    if (groups.length === 0 || step.looks.first[0] >= end) groups.push([step]);
    else groups.at(-1)?.push(step);
    end = Math.max(end, step.looks.second[1]);
  }
  return groups;
}

/** What the first look of a group showed, and its last one. One command may lie within another one. */
function statesOf(group: readonly CommandStep[]): Pick<OthersStep, "before" | "after"> {
  const last = group.toSorted((a, b) => a.looks.second[1] - b.looks.second[1]).at(-1);
  return { before: group[0]?.before, after: last?.after };
}

/** The id of a commit tells its place among others; that of a command does where it has none between its looks. */
function placeIdOf({ all }: OthersStep): string {
  const commits = all.filter(step => !isCommand(step));
  return (commits.length > 0 ? commits : all).map(({ id }) => id).sort()[0] ?? "";
}

interface Piece {
  readonly from: PathState;
  readonly to: PathState;
  readonly earlier: readonly OthersStep[];
  readonly later: readonly OthersStep[];
}

/** What happened to a path apart from these steps. Stops at the second piece, since callers need to know only whether there is more than one. */
function piecesBetween(from: PathState, steps: readonly OthersStep[], to: PathState): Piece[] {
  const pieces: Piece[] = [];
  const add = (from: PathState, to: PathState, i: number) =>
    pieces.push({ from, to, earlier: steps.slice(0, i), later: steps.slice(i) });
  let current = from;
  for (const [i, step] of steps.entries()) {
    if (!wasBefore(step, current)) add(current, step.before, i);
    if (pieces.length > 1) return pieces;
    current = step.after;
  }
  if (!sameContents(current, to)) add(current, to, steps.length);
  return pieces;
}

/** The steps, each after one that left the state that it found, where there is one. */
function matchedFrom(then: PathState, steps: readonly OthersStep[]): OthersStep[] {
  const rest = new Set(steps);
  const order: OthersStep[] = [];
  for (let current = then; rest.size > 0; ) {
    const [first] = rest;
    const next = [...rest].find(({ before }) => sameContents(before, current)) ?? first;
    if (next === undefined) break;
    current = next.after;
    rest.delete(next);
    order.push(next);
  }
  return order;
}

/** No part of the command. */
function noneOf(now: PathState): OwnPart {
  return { from: now, to: now, earlier: [], later: [] };
}

/**
 * What the command did in a directory that others removed is still its own: undoing their change restores that. The
 * directory is in both trees for it.
 */
function keepDirectories(parts: Map<string, OwnPart>): void {
  for (const [path, { from, to }] of [...parts]) {
    if (from === to) continue;
    for (const above of pathsAbove(path)) {
      const part = parts.get(above);
      if (part !== undefined && part.from === part.to && part.to?.kind !== "directory")
        parts.set(above, noneOf(vanished));
    }
  }
}

const vanished: PathState = {
  kind: "directory",
  mode: 0o755,
  ...{ size: 0, inode: 0n, device: 0n, modified: 0n, changed: 0n },
};

function keepsMode({ before, after }: OthersStep): boolean {
  return before !== undefined && before.mode === after?.mode;
}
