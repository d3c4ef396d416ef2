// Edits of one file that wait for its lock are made by the edit that holds it: the file is staged, flushed and renamed
// once, with the content that the last of them makes. Each edit is a change of its own in history, computed from the
// content that the one before it makes; the journal holds the contents in between. All of them happen, or none: if the
// commit fails, the waiting edits keep their places in the queue, and the first one is tried again alone.
import { clock } from "../../clock.ts";
import { anonymous, type By } from "../archive/log.ts";
import { canWait } from "../archive/pending-record.ts";
import { atOnce, type Steps } from "../footprint/time-slice.ts";
import type { ChangedFile, Commit, CommitOptions } from "./change.ts";
import { type CommitPlan, inlineBytes } from "./commit-plan.ts";
import { JoinedEdits } from "./lock.ts";
import { changedFile, type PlannedEffect } from "./planned-effect.ts";
import { isShareable, plainContent, QueuedEdit } from "./queued-edit.ts";
import { pendingRecord } from "./record-of-commit.ts";
import type { ResolvedChanges } from "./resolved-changes.ts";
import { refuseUncovering } from "./rule-check.ts";
import type { Store } from "./store.ts";

/** Edits that are made together, and the bytes that they put into the journal: the first one waits for all of them. */
const mostJoined = 64;
const mostBytes = 2 * 1024 * 1024;
const longestMs = 50;

/** A change of the commit, with its author. */
export interface CommitPart {
  readonly by: By;
  readonly outcomes: readonly PlannedEffect[];
  readonly parents: readonly string[];
}

export class SharedCommit {
  readonly #joined: JoinedEdits;
  readonly #edits: QueuedEdit[] = [];
  readonly #changes: ResolvedChanges;
  readonly #first: Buffer;
  readonly #by: By;

  private constructor(changes: ResolvedChanges, first: Buffer, by: By, joined: JoinedEdits) {
    this.#changes = changes;
    this.#first = first;
    this.#by = by;
    this.#joined = joined;
  }

  /** Computes the edits that wait behind `changes`, whose lock is held. Undefined if there are none. */
  static async gather(
    changes: ResolvedChanges,
    options: CommitOptions,
    store: Store,
  ): Promise<SharedCommit | undefined> {
    const first = plainContent(changes);
    const [target] = changes.targets;
    if (first === undefined || target === undefined || !isShareable(options)) return undefined;
    if (store.volatile || first.length > inlineBytes) return undefined;
    const joined = new JoinedEdits(target.key);
    if (joined.next === undefined) return undefined;
    await store.journals.room(); // meanwhile more edits may come
    const shared = new SharedCommit(changes, first, options.by ?? anonymous, joined);
    await shared.#gather(store, target.entry.name);
    if (shared.#edits.length === 0) return undefined;
    try {
      changes.confirm(); // that took a while
    } catch (error) {
      joined.release();
      throw error;
    }
    return shared;
  }

  async #gather(store: Store, name: string): Promise<void> {
    const started = clock();
    let current = this.#first;
    let bytes = current.length;
    while (this.#edits.length < mostJoined && clock() - started < longestMs) {
      const { next } = this.#joined;
      if (!(next instanceof QueuedEdit) || next.store !== store || next.target.entry.name !== name) return;
      if (!(await this.#joined.join(next, current))) return;
      const made = next.computed?.bytes;
      if (made !== undefined && (made.length > inlineBytes || bytes + made.length > mostBytes)) {
        this.#joined.releaseLast();
        return;
      }
      this.#edits.push(next);
      current = made ?? current;
      bytes += made?.length ?? 0;
    }
  }

  /** Plans the commit of the last content. Undefined if the edits cannot be made together; then they are released. */
  async plan(make: () => Promise<CommitPlan>): Promise<CommitPlan | undefined> {
    this.#write(this.#contents.at(-1)?.bytes ?? this.#first);
    const plan = await make();
    if (canShare(plan)) return plan;
    this.release();
    return undefined;
  }

  #write(bytes: Buffer): void {
    const [one] = this.#changes.changes;
    if (one?.change.kind === "write") this.#changes.changes[0] = { ...one, change: { ...one.change, bytes } };
  }

  /** The edits that change something. */
  get #contents() {
    return this.#edits.flatMap(edit =>
      edit.computed?.bytes === undefined ? [] : [{ ...edit.computed, edit }],
    );
  }

  /** The changes that the plan makes, in order. Puts the contents in between into the journal. */
  parts(plan: CommitPlan): CommitPart[] {
    const [last] = plan.outcomes;
    if (last?.after === undefined || "root" in last) return [];
    const modified = new Date();
    const { after } = last;
    const contents = [{ bytes: this.#first, by: this.#by, change: last.change }];
    for (const { bytes, edit } of this.#contents)
      contents.push({ bytes, by: edit.options.by ?? anonymous, change: edit.target });
    let before = last.before;
    return contents.map(({ bytes, by, change }, i) => {
      const blob = i === contents.length - 1 ? after.blob : plan.inline(bytes, true);
      const made = { ...after, size: bytes.length, bytes, ...(blob && { blob }) };
      const outcome = { ...last, change, ...(before && { before }), after: made };
      before = { ...made, modified };
      return { by, outcomes: [outcome], parents: [] };
    });
  }

  /** Whether nothing is made together any longer. */
  get isEmpty(): boolean {
    return this.#edits.length === 0;
  }

  /** Refuses paths that running sandboxes cover. */
  confirm(): void {
    for (const { changes } of this.#contents) refuseUncovering(changes);
  }

  /** Called when they are not made: each gets a commit of its own, as does the first one. */
  release(): void {
    this.#joined.release();
    this.#edits.length = 0;
    this.#write(this.#first);
  }

  /** Called when they are made. `commits`: of those that changed something, in order. */
  end(commits: readonly Commit[], unchanged: (by: By) => Commit): void {
    const left = [...commits];
    for (const edit of this.#edits) {
      const { computed } = edit;
      if (computed?.bytes === undefined && computed?.fault !== undefined)
        edit.outcome = { fault: computed.fault };
      else {
        const commit = computed?.bytes === undefined ? undefined : left.shift();
        edit.outcome = { commit: commit ?? unchanged(edit.options.by ?? anonymous) };
      }
    }
    this.#edits.length = 0;
    this.#joined.end();
  }
}

/** Whether a plan is the plain replacement of a file whose old and new content the journal holds. */
function canShare(plan: CommitPlan): boolean {
  const [step, ...more] = plan.steps;
  const [outcome] = plan.outcomes;
  if (step?.do !== "move" || more.length > 0 || outcome === undefined) return false;
  const isHeld = step.staged?.blob !== undefined && step.replaces?.was !== undefined;
  const account = atOnce(pendingRecord(plan.outcomes, anonymous, plan.parents));
  return isHeld && outcome.otherNames === 0 && canWait(account, plan.lasting);
}

export function reportOf(id: string, part: CommitPart, plan: CommitPlan): Commit {
  return atOnce(reporting(id, part, plan));
}

/** The same in steps, for commits of many files. */
export function* reporting(
  id: string,
  { by, outcomes, parents }: CommitPart,
  { places }: CommitPlan,
): Steps<Commit> {
  const files: ChangedFile[] = [];
  for (const outcome of outcomes) {
    files.push(changedFile(outcome, places));
    yield;
  }
  return { id, time: new Date(), by, files, parents, recorded: true };
}
