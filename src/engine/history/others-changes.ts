// Separates a command's changes from what polyfs servers committed while it ran, including this one. All servers of a
// user record into one archive; a difference that a recorded change explains is not the command's. The rest changed
// while the command ran: by the command, or by a program that no server knows. Where others changed the same paths, the
// contents tell who was first (place.ts).
import { isListEnd } from "../workspace/archive/log.ts";
import { isStill, type TreeSnapshot } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import { pathsAbove } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { MutableTree } from "./mutable-tree.ts";
import type { Others, OwnPart } from "./place.ts";
import { type PathState, sameContents, type Transition, transitionsOf, wasBefore } from "./transitions.ts";

/** A change has its time from before it is carried out, and a large one takes a while. */
const slackMs = 30_000;

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
  readonly #past: ReadonlySet<string>;
  #begun = Number.POSITIVE_INFINITY;
  #ended = 0;

  /** When the first snapshot had been taken. */
  get begun(): number {
    return this.#begun;
  }

  private constructor(workspace: Workspace, since: number, past: ReadonlySet<string>) {
    this.#workspace = workspace;
    this.#since = since;
    this.#past = past;
  }

  /** Starts to watch. To be called before the first snapshot is taken. */
  static async watch(workspace: Workspace): Promise<OthersChanges> {
    await workspace.allRecorded();
    const since = Date.now();
    const past = workspace.archive.changes.ids().filter(id => !isListEnd(id, since));
    return new OthersChanges(workspace, since, new Set(past));
  }

  /** To be called when the first snapshot has been taken. */
  begin(): void {
    this.#begun = Date.now();
  }

  /** To be called before the second one is taken: waits for the changes that are under way. */
  async end(): Promise<void> {
    this.#ended = Date.now() - slackMs;
    await this.#workspace.allRecorded();
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

  /** Records since then, oldest first. */
  async #records() {
    await this.#workspace.allRecorded();
    return this.#workspace.archive.changes.sinceThen(this.#since, this.#past);
  }

  /**
   * The command's part in the change of a path, given the changes of others; the same state twice if it has none,
   * undefined if its part is in several pieces. Snapshots take time: the first may already show changes that happened
   * while it was taken, and the second may not show them yet.
   */
  #own(path: string, then: PathState, steps: readonly Transition[], now: PathState): OwnPart | undefined {
    const rest = new Set(steps);
    const earlier: Transition[] = [];
    // Changes that the first snapshot already shows, back to their start.
    for (let state = then, seen: Transition | undefined; ; state = seen.before) {
      seen = [...rest].findLast(({ after, from }) => from <= this.#begun && sameContents(after, state));
      if (seen === undefined) break;
      rest.delete(seen);
      earlier.push(seen);
    }
    // Changes that the second one does not show yet, up to their end.
    const isOld = [...rest].some(({ to }) => to >= this.#ended) && !isStill(path, now);
    for (let state = now, late: Transition | undefined, last = ""; isOld; state = late.after) {
      const isNext = (step: Transition) =>
        sameContents(step.before, state) || (step.id > last && wasBefore(step, state));
      late = [...rest].findLast(step => step.to >= this.#ended && isNext(step));
      if (late === undefined) break;
      rest.delete(late);
      last = late.id;
    }
    const piece = (from: PathState, to: PathState, before: readonly Transition[]): OwnPart => {
      const all = new Set([...earlier, ...before]);
      return { from, to, earlier: [...all], later: steps.filter(step => !all.has(step)) };
    };
    // Two are as good as many: they cannot be separated, and each costs as much as there are changes.
    const piecesIn = (order: readonly Transition[]): OwnPart[] => {
      const found: OwnPart[] = [];
      let current = then;
      for (const [i, step] of order.entries()) {
        if (found.length > 1) return found;
        if (!wasBefore(step, current)) found.push(piece(current, step.before, order.slice(0, i)));
        current = step.after;
      }
      if (!sameContents(current, now)) found.push(piece(current, now, order));
      return found;
    };
    // The order of their ids is not always the order in which they happened.
    const [recorded, matched] = [piecesIn([...rest]), piecesIn(matchedFrom(then, rest))];
    const pieces = matched.length < recorded.length ? matched : recorded;
    if (pieces.length === 0 && then && now && then.mode !== now.mode && steps.every(keepsMode))
      pieces.push(piece({ ...now, mode: then.mode }, now, [...rest]));
    return pieces.length > 1 ? undefined : (pieces[0] ?? noneOf(now));
  }
}

/** The transitions, each after one that left the state that it found, where there is one. */
function matchedFrom(then: PathState, steps: ReadonlySet<Transition>): Transition[] {
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
