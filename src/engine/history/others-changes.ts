// Separates a command's changes from what polyfs servers committed while it ran, including this one. All servers of a
// user record into one archive; a difference that a recorded change explains is not the command's. The rest changed
// while the command ran: by the command, or by a program that no server knows. Where others changed the same paths, the
// contents tell who was first (place.ts).
import { once } from "../once.ts";
import { isListEnd } from "../workspace/archive/log.ts";
import { isStill, type TreeSnapshot } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import { pathsAbove } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { MutableTree } from "./mutable-tree.ts";
import type { Others, OwnPart } from "./place.ts";
import { type PathState, sameContents, type Transition, transitionsOf, wasBefore } from "./transitions.ts";

const none: Others = { transitions: new Map(), parts: new Map() };

export interface OwnTrees {
  /** The trees before and after, as if only the command had acted. */
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
  /** Paths that the command and others changed alternately, so that the parts cannot be separated. */
  readonly shared: readonly string[];
  readonly others: Others;
}

export class OthersChanges {
  readonly #workspace: Workspace;
  readonly #since: number;
  /** Changes that happened before. */
  #past: ReadonlySet<string> = new Set();
  #begun = Number.POSITIVE_INFINITY;
  /** Changes that happened before the second snapshot. */
  #seen: ReadonlySet<string> = new Set();

  /** When the first snapshot had been taken. */
  get begun(): number {
    return this.#begun;
  }

  private constructor(workspace: Workspace, since: number) {
    this.#workspace = workspace;
    this.#since = since;
  }

  /** Starts to watch. To be called before the first snapshot is taken. */
  static async watch(workspace: Workspace): Promise<OthersChanges> {
    await workspace.allRecorded();
    const since = Date.now();
    const others = new OthersChanges(workspace, since);
    others.#past = new Set(others.#recent());
    return others;
  }

  /** To be called when the first snapshot has been taken. */
  begin(): void {
    this.#begun = Date.now();
  }

  /** To be called before the second one is taken: waits for the changes that are under way. */
  async end(): Promise<void> {
    await this.#workspace.allRecorded();
    this.#seen = new Set(this.#recent());
  }

  async without(before: TreeSnapshot, after: TreeSnapshot): Promise<OwnTrees> {
    const records = await this.#records();
    if (records.length === 0) return { before, after, shared: [], others: none };
    const [then, now] = [new MutableTree(before), new MutableTree(after)];
    const { objects } = this.#workspace.archive;
    const transitions = transitionsOf(records, new MutableTree(before), now, objects);
    const shared: string[] = [];
    const parts = new Map<string, OwnPart>();
    for (const [path, steps] of transitions) {
      const found = this.#own(path, then.get(path), steps, now.get(path));
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

  /** The ids of what is recorded now, from about the beginning on. */
  #recent(): string[] {
    return this.#workspace.archive.changes.ids().filter(id => !isListEnd(id, this.#since));
  }

  /** Records since then, oldest first. */
  async #records() {
    await this.#workspace.allRecorded();
    return this.#workspace.archive.changes.sinceThen(this.#since, this.#past);
  }

  /**
   * The command's part in the change of a path, given the changes of others; the same state twice if it has none,
   * undefined if its part is in several pieces.
   */
  #own(path: string, then: PathState, steps: readonly Transition[], now: PathState): OwnPart | undefined {
    const isUnchanged = once(() => isStill(path, now));
    const looks: Looks = {
      then,
      now,
      isEarly: ({ from }) => from <= this.#begun,
      isLate: ({ id }) => !this.#seen.has(id) && !isUnchanged(),
      hasBegun: ({ isCommand, from, to }) => isCommand === true && from < this.#begun && this.#begun <= to,
    };
    // The order of their ids is not always the order in which they happened.
    const [recorded, matched] = [piecesOf(looks, steps), piecesOf(looks, matchedFrom(then, steps))];
    const pieces = matched.length < recorded.length ? matched : recorded;
    if (pieces.length === 0 && then && now && then.mode !== now.mode && steps.every(keepsMode))
      return { from: { ...now, mode: then.mode }, to: now, earlier: steps, later: [] };
    return pieces.length > 1 ? undefined : (pieces[0] ?? noneOf(now));
  }
}

/** A path in both snapshots. Each takes a while, and others may have changed the path meanwhile. */
interface Looks {
  readonly then: PathState;
  readonly now: PathState;
  /** Whether the first one may show a change. */
  isEarly(step: Transition): boolean;
  /** Whether the second one may not show it. */
  isLate(step: Transition): boolean;
  /** Whether it is of a command that ran when the first one was taken. */
  hasBegun(step: Transition): boolean;
}

/**
 * What happened to a path between the snapshots besides the changes of others, which were made in this order. If there
 * are several pieces, two of them: they cannot be separated, and each costs as much as there are changes.
 */
function piecesOf(looks: Looks, steps: readonly Transition[]): OwnPart[] {
  let fewest: OwnPart[] | undefined;
  for (const start of startsIn(looks, steps)) {
    for (const end of endsIn(looks, steps)) {
      if (end < start) continue;
      const pieces = piecesBetween(looks, steps, start, end);
      if (pieces.length === 0) return pieces;
      if (fewest === undefined || pieces.length < fewest.length) fewest = pieces;
    }
  }
  return fewest ?? [];
}

/** Up to so many changes beside a snapshot, each number of them is tried: the cost grows with its square. */
const mostTried = 8;

/**
 * How many changes the first snapshot may show: where its state tells, that comes first. It need not be the state after
 * any of them: a command's change is recorded late, and others may have been recorded after it before the snapshot.
 */
function startsIn({ then, isEarly }: Looks, steps: readonly Transition[]): Set<number> {
  const told: number[] = [];
  const others = [0];
  for (const [i, step] of steps.entries()) {
    if (!isEarly(step)) break;
    if (sameContents(step.after, then)) told.unshift(i + 1);
    others.push(i + 1);
  }
  return new Set([...told, ...fewOf(others)]);
}

/** How many changes the second snapshot may show, likewise. */
function endsIn({ now, isLate }: Looks, steps: readonly Transition[]): Set<number> {
  const told: number[] = [];
  const others = [steps.length];
  for (const [i, step] of [...steps.entries()].reverse()) {
    if (!isLate(step)) break;
    if (wasBefore(step, now)) told.unshift(i);
    others.push(i);
  }
  return new Set([...told, ...fewOf(others)]);
}

/** All of a few numbers; of many, the first and the last one. */
function fewOf(numbers: readonly number[]): readonly number[] {
  return numbers.length <= mostTried ? numbers : [...numbers.slice(0, 1), ...numbers.slice(-1)];
}

function piecesBetween(
  { then, now, isLate, hasBegun }: Looks,
  steps: readonly Transition[],
  start: number,
  end: number,
): OwnPart[] {
  const pieces: OwnPart[] = [];
  const add = (from: PathState, to: PathState, i: number) =>
    pieces.push({ from, to, earlier: steps.slice(0, i), later: steps.slice(i) });
  let current = then;
  for (const [i, step] of steps.slice(start, end).entries()) {
    // What happened before a snapshot that was taken while another command ran is in the change of that one.
    if (!wasBefore(step, current) && !(i === 0 && hasBegun(step))) add(current, step.before, start + i);
    if (pieces.length > 1) return pieces;
    current = step.after;
  }
  const last = end > start ? steps[end - 1] : undefined;
  const isWithinLast = last?.isCommand === true && isLate(last);
  if (!sameContents(current, now) && !isWithinLast) add(current, now, end);
  return pieces;
}

/** The transitions, each after one that left the state that it found, where there is one. */
function matchedFrom(then: PathState, steps: readonly Transition[]): Transition[] {
  const rest = new Set(steps);
  const order: Transition[] = [];
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

function keepsMode({ before, after }: Transition): boolean {
  return before !== undefined && before.mode === after?.mode;
}
