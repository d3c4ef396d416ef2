// What a merge would do to the base: for each path that the fork changed, the entry afterwards, or the reason for a
// conflict. Nothing is written here.

import { contentHash } from "../text/version.ts";
import type { Bases } from "./bases.ts";
import type { ForkChange } from "./difference.ts";
import { changedLines, type MergedSide, mergeMasked, mergeSides, type SideConflict } from "./merge-file.ts";
import type { LiveView, SideAtPath } from "./merge-side.ts";
import { isDealtWith, mergedPreferring } from "./overlaps.ts";
import { type Candidate, pairedRenames } from "./renames.ts";

export interface Conflict extends SideConflict {
  readonly path: string;
}

/** What is to be at a path of the base, and what is there now. */
export interface PlannedPath {
  readonly path: string;
  readonly theirs: SideAtPath | undefined;
  readonly side: SideAtPath | undefined;
  /** Both had changed it. */
  readonly merged: boolean;
  /** What `side` was merged from. Absent: it is what the fork has at this path. */
  readonly sources?: readonly MergeSource[] | undefined;
}

/** One of the texts of a merge, and its path. */
export interface MergeSource {
  readonly path: string;
  readonly side: SideAtPath | undefined;
}

export interface MergePlan {
  readonly outcomes: readonly PlannedPath[];
  readonly conflicts: readonly Conflict[];
}

/** Files that the base has and had not, and those that it had. */
export interface BaseMoves {
  readonly appeared: readonly Candidate[];
  readonly gone: readonly Candidate[];
}

export interface MergeInput {
  readonly changes: readonly ForkChange[];
  readonly bases: Bases;
  /** The base as it is now. */
  readonly theirs: LiveView;
  /** Asked for only where a rename may explain a conflict. */
  moves(): Promise<BaseMoves>;
  /** Whether callers see all of a path, in the fork and in the base. */
  isShownWhole(path: string): boolean;
  /** Which side wins where both changed the same; absent: neither. */
  readonly prefer?: "fork" | "base" | undefined;
}

export async function planMerge(input: MergeInput): Promise<MergePlan> {
  const plan = new Planning(input);
  for (const change of input.changes) await plan.change(change);
  plan.check();
  return plan;
}

class Planning implements MergePlan {
  readonly conflicts: Conflict[] = [];
  readonly #input: MergeInput;
  readonly #outcomes = new Map<string, PlannedPath>();
  #forkRenames: Promise<ReadonlyMap<string, string>> | undefined;
  #baseRenames: Promise<ReadonlyMap<string, string>> | undefined;
  readonly #taken = new Set<string>();

  constructor(input: MergeInput) {
    this.#input = input;
  }

  get outcomes(): PlannedPath[] {
    return [...this.#outcomes.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async change({ path, before, after }: ForkChange): Promise<void> {
    if (this.#taken.has(path)) return;
    const theirs = this.#input.theirs.at(path);
    if (before?.kind === "directory" && after === undefined) return this.#removedDirectory(path, theirs);
    const isGone = after === undefined || after.kind === "directory";
    if (before?.kind === "file" && isGone && (await this.#moved(path, before, after, theirs))) return;
    const result = await this.#merged(path, before, after, theirs);
    if ("side" in result) {
      const sources = [before, after, theirs].map(side => ({ path, side }));
      return this.#put(path, theirs, result.side, result.side !== after, sources);
    }
    const { reason } = result.conflict;
    if (reason === "deleted_in_base" && before && after && (await this.#movedByBase(path, before, after)))
      return;
    if (reason === "both_added" && after && (await this.#movedByBoth(path, after, theirs))) return;
    this.#refuse(
      path,
      await this.#withChangedLines(path, result.conflict, before, after, theirs),
      theirs,
      after,
    );
  }

  /** A conflict with a deletion, with the lines that would be lost. */
  async #withChangedLines(
    path: string,
    conflict: SideConflict,
    before: SideAtPath | undefined,
    after: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
  ): Promise<SideConflict> {
    const side = { deleted_in_fork: "base", deleted_in_base: "fork" }[conflict.reason as string];
    if (side === undefined || !this.#input.isShownWhole(path)) return conflict;
    const lines = await changedLines(path, before, side === "base" ? theirs : after);
    return lines === undefined ? conflict : { ...conflict, [side]: lines };
  }

  async #merged(
    path: string,
    before: SideAtPath | undefined,
    ours: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
  ): Promise<MergedSide> {
    const isMasked = !this.#input.isShownWhole(path);
    const merge = isMasked ? mergeMasked : mergeSides;
    const result = await merge(path, before, ours, theirs);
    if ("side" in result) return result;
    const { conflict } = result;
    const isText = conflict.overlaps !== undefined && before && ours && theirs;
    if (isText && this.#input.prefer !== undefined)
      return await preferring(before, ours, theirs, this.#input.prefer === "fork" ? "ours" : "theirs");
    const refused = this.#input.bases.refused(path);
    const isSettled =
      refused !== undefined && (await isRewritten(refused, ours, isMasked ? "masked" : conflict));
    if (!isSettled) return result;
    // Only the overlaps were dealt with: what else the base changed in the file was not, and is merged.
    if (isText) return await preferring(before, ours, theirs, "ours");
    return await merge(path, this.#input.bases.sideOf(refused.theirs), ours, theirs);
  }

  /** A directory goes if nothing is left in it. That is decided when everything else is. */
  #removedDirectory(path: string, theirs: SideAtPath | undefined): void {
    if (theirs?.kind === "directory") this.#put(path, theirs, undefined, false);
  }

  /** The fork moved a file that the base changed, or moved too. True if that explains it. */
  async #moved(
    path: string,
    before: SideAtPath,
    after: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
  ): Promise<boolean> {
    const isGone = theirs === undefined || theirs.kind === "directory";
    if (!isGone && "side" in (await mergeSides(path, before, undefined, theirs))) return false;
    const to = await this.#forkRename(path);
    if (isGone) return await this.#movedOrGone(path, before, to);
    if (to === undefined) return false;
    const ours = this.#forkSide(to);
    const there = this.#input.theirs.at(to);
    const { prefer } = this.#input;
    this.#leaveOut(to);
    if (there !== undefined && prefer === undefined) {
      this.conflicts.push({ path: to, reason: "both_added", moved: { fork: to } });
      return true;
    }
    const result = await this.#mergedOrPreferred(to, before, ours, theirs, prefer);
    if ("conflict" in result) {
      this.conflicts.push({ path: to, ...result.conflict, moved: { fork: to } });
      return true;
    }
    const sources = [
      { path, side: before },
      { path: to, side: ours },
      { path, side: theirs },
    ];
    if (there !== undefined && prefer === "base") this.#put(path, theirs, result.side, true, sources);
    else {
      this.#put(path, theirs, after, false);
      this.#put(to, there, result.side, true, sources);
    }
    return true;
  }

  /** Neither has the file under its old name. True if that is a conflict, which is then reported. */
  async #movedOrGone(path: string, before: SideAtPath, to: string | undefined): Promise<boolean> {
    const other = await this.#baseRename(path);
    if (other === to) return false;
    const { prefer } = this.#input;
    const at = to ?? other ?? path;
    const refused = this.#input.bases.refused(at);
    const isSettled =
      refused !== undefined &&
      (await isRewritten(
        refused,
        this.#forkSide(at),
        this.#input.isShownWhole(at) ? { reason: "kinds" } : "masked",
      ));
    const winner = prefer ?? (isSettled ? "fork" : undefined);
    if (winner !== undefined && to !== undefined && other !== undefined)
      return await this.#movedApart(before, { path, to, other }, winner);
    if (isSettled || (prefer === "base" && to === undefined)) return false;
    if (prefer !== undefined) {
      if (prefer === "base" && to !== undefined) this.#leaveOut(to);
      if (prefer === "fork" && other !== undefined)
        this.#put(other, this.#input.theirs.at(other), undefined, false);
      return prefer === "base";
    }
    if (to !== undefined) this.#leaveOut(to);
    const moved = { ...(to !== undefined && { fork: to }), ...(other !== undefined && { base: other }) };
    const reason =
      to === undefined ? "deleted_in_fork" : other === undefined ? "deleted_in_base" : "both_renamed";
    this.conflicts.push({ path: at, reason, moved });
    return true;
  }

  /** The fork moved a file to one place and the base to another: it goes to one of them, with what both wrote. */
  async #movedApart(
    before: SideAtPath,
    { path, to, other }: { readonly path: string; readonly to: string; readonly other: string },
    winner: "fork" | "base",
  ): Promise<boolean> {
    const ours = this.#forkSide(to);
    const theirs = this.#input.theirs.at(other);
    const there = this.#input.theirs.at(to);
    // Something else is in the place that was chosen: that is a conflict of its own.
    if (winner === "fork" && there !== undefined && this.#input.prefer === undefined) return false;
    const isOwnAtOther = this.#input.changes.some(one => one.path === other);
    this.#leaveOut(to);
    const result = await this.#mergedOrPreferred(to, before, ours, theirs, winner);
    if ("conflict" in result) return false;
    const sources = [
      { path, side: before },
      { path: to, side: ours },
      { path: other, side: theirs },
    ];
    if (winner === "fork") {
      if (!isOwnAtOther) this.#put(other, theirs, undefined, false);
      this.#put(to, there, result.side, true, sources);
    } else if (!isOwnAtOther) this.#put(other, theirs, result.side, true, sources);
    return true;
  }

  /** What a merge of three sides gives; where they conflict, the side that wins, if one does. */
  async #mergedOrPreferred(
    path: string,
    before: SideAtPath,
    ours: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
    winner: "fork" | "base" | undefined,
  ): Promise<MergedSide> {
    const result = await this.#merged(path, before, ours, theirs);
    if ("side" in result || winner === undefined) return result;
    return { side: winner === "fork" ? ours : theirs };
  }

  /** Keeps a path of the fork out of the merge: what is there was dealt with under another one. */
  #leaveOut(path: string): void {
    this.#taken.add(path);
    this.#outcomes.delete(path);
  }

  #forkSide(path: string): SideAtPath | undefined {
    return this.#input.changes.find(change => change.path === path)?.after;
  }

  /** The base moved a file that the fork changed: the change follows it. */
  async #movedByBase(path: string, before: SideAtPath, after: SideAtPath): Promise<boolean> {
    const to = await this.#baseRename(path);
    if (to === undefined || this.#outcomes.has(to) || this.#input.changes.some(one => one.path === to))
      return false;
    const theirs = this.#input.theirs.at(to);
    const result = await this.#mergedOrPreferred(to, before, after, theirs, this.#input.prefer);
    if ("conflict" in result) this.conflicts.push({ path: to, ...result.conflict, moved: { base: to } });
    else {
      const own = [before, after].map(side => ({ path, side }));
      this.#put(to, theirs, result.side, true, [...own, { path: to, side: theirs }]);
    }
    return true;
  }

  /** Both moved a file to the same place. */
  async #movedByBoth(path: string, after: SideAtPath, theirs: SideAtPath | undefined): Promise<boolean> {
    for (const { path: from, before, after: left } of this.#input.changes) {
      if (before?.kind !== "file" || left !== undefined || this.#input.theirs.at(from) !== undefined)
        continue;
      if ((await this.#forkRename(from)) !== path) continue;
      const result = await this.#mergedOrPreferred(path, before, after, theirs, this.#input.prefer);
      const sources = [{ path: from, side: before }, ...[after, theirs].map(side => ({ path, side }))];
      if ("side" in result) this.#put(path, theirs, result.side, true, sources);
      else this.conflicts.push({ path, ...result.conflict });
      return true;
    }
    return false;
  }

  /** The new path of a file that the fork moved. */
  async #forkRename(path: string): Promise<string | undefined> {
    const pairs = async () => {
      const shown = this.#input.changes.filter(change => this.#input.isShownWhole(change.path));
      const gone = shown.filter(({ before, after }) => before?.kind === "file" && after?.kind !== "file");
      const added = shown.filter(({ before }) => before === undefined);
      return await pairedRenames(filesOf(gone, "before"), filesOf(added, "after"));
    };
    this.#forkRenames ??= pairs();
    return (await this.#forkRenames).get(path);
  }

  /**
   * The new path of a file that the base moved. A file that a rule masks or denies has none: the merge would put its
   * lines, or the lines of a conflict, under a path where the rule does not hold, and similarity would confirm guesses
   * about a hidden value.
   */
  async #baseRename(path: string): Promise<string | undefined> {
    const { changes, theirs, isShownWhole } = this.#input;
    const pairs = async () => {
      const { appeared, gone } = await this.#input.moves();
      const changed = changes.filter(one => isShownWhole(one.path) && theirs.at(one.path)?.kind !== "file");
      const asked = filesOf(changed, "before");
      const paths = new Set(asked.map(file => file.path));
      return await pairedRenames([...asked, ...gone.filter(file => !paths.has(file.path))], appeared);
    };
    this.#baseRenames ??= pairs();
    return (await this.#baseRenames).get(path);
  }

  #put(
    path: string,
    theirs: SideAtPath | undefined,
    side: SideAtPath | undefined,
    merged: boolean,
    sources?: readonly MergeSource[],
  ): void {
    if (side === theirs) return;
    this.#outcomes.set(path, { path, theirs, side, merged: merged && side !== undefined, sources });
  }

  #refuse(
    path: string,
    conflict: SideConflict,
    theirs: SideAtPath | undefined,
    ours: SideAtPath | undefined,
  ): void {
    const { prefer } = this.#input;
    if (prefer === undefined) this.conflicts.push({ path, ...conflict });
    else if (prefer === "fork") this.#put(path, theirs, ours, false);
  }

  /** What only the whole plan shows: directories that stay because something is left in them, names in the way. */
  check(): void {
    const paths = [...this.#outcomes.keys()].sort().reverse();
    for (const path of paths) {
      const outcome = this.#outcomes.get(path);
      if (outcome?.theirs?.kind !== "directory" || outcome.side?.kind === "directory") continue;
      if (this.#isEmptied(path)) continue;
      if (outcome.side !== undefined && this.#input.prefer === "fork") {
        this.#removeBelow(path);
        continue;
      }
      this.#outcomes.delete(path);
      if (outcome.side !== undefined && this.#input.prefer === undefined)
        this.conflicts.push({ path, reason: "in_the_way" });
    }
    for (const { path, side } of [...this.#outcomes.values()]) {
      const above = side === undefined ? undefined : this.#blocking(path);
      if (above === undefined) continue;
      if (this.#input.prefer === "fork") this.#put(above, this.#input.theirs.at(above), newDirectory, false);
      else if (this.#input.prefer === "base") this.#outcomes.delete(path);
      else this.conflicts.push({ path, reason: "in_the_way" });
    }
  }

  /** Everything that a directory of the base holds goes. */
  #removeBelow(directory: string): void {
    const { theirs } = this.#input;
    for (const name of theirs.namesIn(directory)) {
      const path = `${directory}/${name}`;
      const there = theirs.at(path);
      if (there?.kind === "directory") this.#removeBelow(path);
      this.#put(path, there, undefined, false);
    }
  }

  /** Whether everything that a directory of the base holds goes too. */
  #isEmptied(path: string): boolean {
    const { theirs } = this.#input;
    return theirs.namesIn(path).every(name => {
      const outcome = this.#outcomes.get(`${path}/${name}`);
      return outcome !== undefined && outcome.side === undefined;
    });
  }

  /** The path above this one that is something else than a directory in the base, and stays so. */
  #blocking(path: string): string | undefined {
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const above = path.slice(0, slash);
      const outcome = this.#outcomes.get(above);
      const side = outcome === undefined ? this.#input.theirs.at(above) : outcome.side;
      if (side !== undefined) return side.kind === "directory" ? undefined : above;
    }
    return undefined;
  }
}

const newDirectory: SideAtPath = { kind: "directory", mode: 0o755, bytes: async () => Buffer.alloc(0) };

function filesOf(changes: readonly ForkChange[], which: "before" | "after"): Candidate[] {
  return changes.flatMap(change => {
    const side = change[which];
    return side?.kind === "file" ? [{ path: change.path, side }] : [];
  });
}

/** The three texts merged, with one side of each overlap. */
async function preferring(
  before: SideAtPath,
  ours: SideAtPath,
  theirs: SideAtPath,
  prefer: "ours" | "theirs",
): Promise<MergedSide> {
  const [b, o, t] = [await before.bytes(), await ours.bytes(), await theirs.bytes()];
  const bytes = mergedPreferring(b, o, t, prefer);
  const mode = theirs.mode === before.mode ? ours.mode : theirs.mode;
  return { side: { kind: "file", mode, bytes: async () => bytes } };
}

/**
 * Whether the fork has resolved a conflict since it was reported: every overlap has other lines than then. A masked file
 * was resolved if it was written again, whatever it holds.
 */
async function isRewritten(
  { ours: then, overlaps: told }: NonNullable<ReturnType<Bases["refused"]>>,
  ours: SideAtPath | undefined,
  conflict: SideConflict | "masked",
): Promise<boolean> {
  if (ours === undefined || then === null) return (ours === undefined) !== (then === null);
  const overlaps = conflict === "masked" ? undefined : conflict.overlaps;
  if (told !== undefined && overlaps !== undefined) return isDealtWith(told, overlaps);
  if (ours.kind !== then.kind || ours.mode !== then.mode || ours.target !== then.target) return true;
  if (conflict === "masked") return ours.stamp !== then.stamp;
  return ours.kind === "file" && contentHash(await ours.bytes()) !== then.hash;
}
