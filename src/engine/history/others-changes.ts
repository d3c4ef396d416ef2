// Separates a command's changes from what polyfs servers committed while it ran, including this one. All servers of a
// user record into one archive; a difference that a recorded change explains is not the command's. The rest changed
// while the command ran: by the command, or by a program that no server knows.
import { isStill, type TreeSnapshot } from "../workspace/footprint/tree-snapshot.ts";
import { display } from "../workspace/handle.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { MutableTree } from "./mutable-tree.ts";
import { type PathState, sameContents, type Transition, transitionsOf } from "./transitions.ts";

/** A change has its time from before it is carried out, and a large one takes a while. */
const slackMs = 30_000;

export interface OwnTrees {
  /** The trees before and after, as if only the command had acted. */
  readonly before: TreeSnapshot;
  readonly after: TreeSnapshot;
  /** Paths that the command and others changed alternately, so that the parts cannot be separated. */
  readonly shared: readonly string[];
}

export class OthersChanges {
  readonly #workspace: Workspace;
  /** Changes that happened before. */
  readonly #past: ReadonlySet<string>;
  readonly #since: number;
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
    const since = Date.now() - slackMs;
    const past = new Set<string>();
    for (const { id, time } of workspace.archive.changes.newest()) {
      if (time < since) break;
      past.add(id);
    }
    return new OthersChanges(workspace, since, past);
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
    if (records.length === 0) return { before, after, shared: [] };
    const transitions = transitionsOf(records, new MutableTree(before), this.#workspace.archive.objects);
    const [then, now] = [new MutableTree(before), new MutableTree(after)];
    const shared: string[] = [];
    const own = [...transitions].map(([path, steps]) => {
      const found = this.#own(path, then.get(path), steps, now.get(path));
      if (found === undefined) shared.push(display(path));
      return { path, ...(found ?? { from: now.get(path), to: now.get(path) }) };
    });
    // A directory before what is in it.
    const homeless: string[] = [];
    for (const { path, from, to } of own.sort((a, b) => a.path.length - b.path.length)) {
      const isPlaced = then.set(path, from);
      now.set(path, to);
      if (!isPlaced && from === to) homeless.push(path);
    }
    // Entries that others created in a directory that the command created are still theirs.
    for (const path of homeless.reverse()) now.remove(path);
    return { before: then.snapshot(), after: now.snapshot(), shared };
  }

  /** Records since then, oldest first. */
  async #records() {
    await this.#workspace.allRecorded();
    const records = [];
    for (const record of this.#workspace.archive.changes.newest()) {
      if (record.time < this.#since) break;
      if (!this.#past.has(record.id)) records.push(record);
    }
    return records.reverse();
  }

  /**
   * The command's part in the change of a path, given the changes of others; the same state twice if it has none,
   * undefined if its part is in several pieces. Snapshots take time: the first may already show changes that happened
   * while it was taken, and the second may not show them yet.
   */
  #own(
    path: string,
    then: PathState,
    steps: readonly Transition[],
    now: PathState,
  ): { from: PathState; to: PathState } | undefined {
    const rest = new Set(steps);
    // Changes that the first snapshot already shows, back to their start.
    for (let state = then, seen: Transition | undefined; ; state = seen.before) {
      seen = [...rest].findLast(({ after, from }) => from <= this.#begun && sameContents(after, state));
      if (seen === undefined) break;
      rest.delete(seen);
    }
    // Changes that the second one does not show yet, up to their end.
    const isOld = [...rest].some(({ to }) => to >= this.#ended) && !isStill(path, now);
    for (let state = now, late: Transition | undefined; isOld; state = late.after) {
      late = [...rest].findLast(({ before, to }) => to >= this.#ended && sameContents(before, state));
      if (late === undefined) break;
      rest.delete(late);
    }
    const pieces: { from: PathState; to: PathState }[] = [];
    let current = then;
    while (rest.size > 0) {
      // The order of their times is not always the order in which they happened.
      const [first] = rest;
      const next = [...rest].find(({ before }) => sameContents(before, current)) ?? first;
      if (next === undefined) break;
      if (!sameContents(next.before, current)) pieces.push({ from: current, to: next.before });
      current = next.after;
      rest.delete(next);
    }
    if (!sameContents(current, now)) pieces.push({ from: current, to: now });
    if (pieces.length === 0 && then && now && then.mode !== now.mode && steps.every(keepsMode))
      pieces.push({ from: { ...now, mode: then.mode }, to: now });
    return pieces.length > 1 ? undefined : (pieces[0] ?? { from: now, to: now });
  }
}

function keepsMode({ before, after }: Transition): boolean {
  return before !== undefined && before.mode === after?.mode;
}
