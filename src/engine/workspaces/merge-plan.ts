// What a merge would do to the base: for each path that the fork changed, the entry afterwards, or the reason for a
// conflict. Nothing is written here.

import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { Bases } from "./bases.ts";
import type { ForkChange } from "./difference.ts";
import type { BaseWrites } from "./masked-writes.ts";
import { changedLines, type MergedSide, mergeMasked, mergeSides, type SideConflict } from "./merge-file.ts";
import { MergeRenames, type RenameInput } from "./merge-renames.ts";
import { isSameSide, type LiveView, type SideAtPath } from "./merge-side.ts";
import { type Candidate, isVersionOf, similarSides } from "./renames.ts";
import { areTexts, isSettled, preferring, withoutSettled } from "./settled.ts";

export interface Conflict extends SideConflict {
  readonly path: string;
  /** The two sides, which may have other paths than the one that is reported. */
  readonly sides: ConflictSides;
}

export interface ConflictSides {
  readonly ours: SideAtPath | undefined;
  readonly theirs: SideAtPath | undefined;
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

export interface MergeInput extends RenameInput {
  readonly bases: Bases;
  readonly theirs: LiveView;
  /** Of files in the base. */
  readonly writes: BaseWrites;
  /**
   * Which side wins where the two have different versions of one file; absent: neither. It decides nothing between
   * different files: a name that two of them claim, or that one needs for a directory, stays a conflict.
   */
  readonly prefer?: "fork" | "base" | undefined;
}

export async function planMerge(input: MergeInput): Promise<MergePlan> {
  const plan = new Planning(input);
  const slice = new TimeSlice();
  for (const change of input.changes) {
    if (slice.isOver) await slice.turn();
    await plan.change(change);
  }
  plan.finish();
  await plan.leaveUnchanged();
  return plan;
}

class Planning implements MergePlan {
  readonly conflicts: Conflict[] = [];
  readonly #input: MergeInput;
  readonly #outcomes = new Map<string, PlannedPath>();
  readonly #renames: MergeRenames;
  readonly #ours: ReadonlyMap<string, SideAtPath | undefined>;
  /** Paths of the fork that were dealt with under another one. */
  readonly #taken = new Set<string>();

  constructor(input: MergeInput) {
    this.#input = input;
    this.#renames = new MergeRenames(input);
    this.#ours = new Map(input.changes.map(({ path, after }) => [path, after]));
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
    if (before === undefined && after && theirs && (await this.#movedByBoth(path, after, theirs))) return;
    const result = await this.#merged(path, before, after, theirs);
    if ("side" in result) {
      const sources = [before, after, theirs].map(side => ({ path, side }));
      return this.#put(path, theirs, result.side, result.side !== after, sources);
    }
    const { reason } = result.conflict;
    const isGoneFromBase = reason === "deleted_in_base" || theirs?.kind === "directory";
    if (isGoneFromBase && before && after && (await this.#movedByBase(path, before, after))) return;
    const conflict = await this.#withChangedLines(path, result.conflict, before, after, theirs);
    await this.#refuse(path, conflict, before, { ours: after, theirs });
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
    const changed = await changedLines(path, before, side === "base" ? theirs : after);
    if (changed === undefined) return conflict;
    return { ...conflict, [side]: changed.lines, ...(side === "base" && { told: changed.told }) };
  }

  async #merged(
    path: string,
    before: SideAtPath | undefined,
    ours: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
    from = path,
  ): Promise<MergedSide> {
    const isMasked = !this.#input.isShownWhole(path);
    const result = isMasked
      ? await mergeMasked(path, before, ours, theirs, this.#isUnwritten(path))
      : await mergeSides(path, before, ours, theirs);
    if ("side" in result) return result;
    const { conflict } = result;
    const isText =
      before && ours && theirs && (isMasked ? await areTexts(before, ours, theirs) : conflict.told);
    const { prefer } = this.#input;
    if (isText && prefer !== undefined) {
      const loser = prefer === "fork" ? theirs : ours;
      if (!isMasked && !(await isVersionOf(before, loser))) return result;
      if (!isMasked && !(await this.#isLoserVersion(from, before, { ours, theirs }))) return result;
      return await preferring(before, ours, theirs, prefer === "fork" ? "ours" : "theirs");
    }
    if (isMasked) return result;
    if (!(await this.#isSettled(path, conflict, ours, theirs)))
      return { conflict: await withoutSettled(path, conflict, this.#input.bases, ours) };
    // Only the overlaps are resolved. Everything else that the base changed in the file is merged.
    return isText ? await preferring(before, ours, theirs, "ours") : { side: ours };
  }

  /** Whether the base's file was not written since the fork was made or last merged it. */
  #isUnwritten(path: string): boolean {
    const { bases, writes } = this.#input;
    return writes.isUnwritten(path, bases.has(path) ? bases.written(path) : "fork");
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
    const to = await this.#renames.inFork(path);
    if (isGone) return await this.#movedOrGone(path, before, to);
    if (to === undefined) return false;
    const ours = this.#forkSide(to);
    const there = this.#input.theirs.at(to);
    this.#leaveOut(to);
    if (there !== undefined) {
      const both = await mergeSides(to, undefined, ours, there);
      const conflict = "conflict" in both ? both.conflict : { reason: "both_added" as const };
      if (!(await this.#isSettled(to, conflict, ours, there))) {
        this.conflicts.push({ path: to, ...conflict, moved: { fork: to }, sides: { ours, theirs: there } });
        return true;
      }
    }
    const result = await this.#mergedOrPreferred(to, { path, side: before }, ours, theirs);
    if ("conflict" in result) {
      this.conflicts.push({ path: to, ...result.conflict, moved: { fork: to }, sides: { ours, theirs } });
      return true;
    }
    const sources = [
      { path, side: before },
      { path: to, side: ours },
      { path, side: theirs },
    ];
    this.#put(path, theirs, after, false);
    this.#put(to, there, result.side, true, sources);
    return true;
  }

  /** Neither has the file under its old name. True if that is a conflict, which is then reported. */
  async #movedOrGone(path: string, before: SideAtPath, to: string | undefined): Promise<boolean> {
    const other = await this.#renames.inBase(path);
    if (other === to) return false;
    if (to !== undefined && other !== undefined) return await this.#movedApart(before, { path, to, other });
    const { prefer, theirs } = this.#input;
    // The base has something else there: that is the conflict.
    if (to !== undefined && theirs.at(to) !== undefined) return false;
    const at = to ?? other ?? path;
    const ours = this.#forkSide(at);
    const reason = to === undefined ? "deleted_in_fork" : "deleted_in_base";
    if (await this.#isSettled(at, { reason }, ours, theirs.at(at))) return false;
    if (prefer === "base" && to === undefined) return false;
    if (prefer !== undefined) {
      if (prefer === "base" && to !== undefined) this.#leaveOut(to);
      if (prefer === "fork" && other !== undefined && !this.#isChangedInFork(other))
        this.#put(other, theirs.at(other), undefined, false);
      return prefer === "base";
    }
    if (to !== undefined) this.#leaveOut(to);
    const moved = { ...(to !== undefined && { fork: to }), ...(other !== undefined && { base: other }) };
    this.conflicts.push({ path: at, reason, moved, sides: { ours, theirs: theirs.at(at) } });
    return true;
  }

  /** What a caller does not see, it cannot settle, and how the hidden lines of both sides compare would confirm a guess. */
  async #isSettled(
    path: string,
    conflict: SideConflict,
    ours: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
  ): Promise<boolean> {
    const { bases, isShownWhole } = this.#input;
    return isShownWhole(path) && (await isSettled(path, conflict, bases, { ours, theirs }));
  }

  /** The fork moved a file to one place and the base to another: it goes to one of them, with what both wrote. */
  async #movedApart(
    before: SideAtPath,
    { path, to, other }: { readonly path: string; readonly to: string; readonly other: string },
  ): Promise<boolean> {
    const { prefer } = this.#input;
    const sides = { ours: this.#forkSide(to), theirs: this.#input.theirs.at(other) };
    const there = this.#input.theirs.at(to);
    this.#leaveOut(to);
    const result = await this.#mergedOrPreferred(to, { path, side: before }, sides.ours, sides.theirs);
    const moved = { fork: to, base: other };
    let isNamed = await this.#isSettled(to, { reason: "both_renamed" }, sides.ours, sides.theirs);
    if (there !== undefined) {
      // The base has something else there. That comes first: it would be overwritten.
      const both = await mergeSides(to, undefined, sides.ours, there);
      const conflict = "conflict" in both ? both.conflict : { reason: "both_added" as const };
      isNamed = await this.#isSettled(to, conflict, sides.ours, there);
      if (!isNamed) {
        this.conflicts.push({ path: to, ...conflict, moved, sides: { ours: sides.ours, theirs: there } });
        return true;
      }
    }
    const isFree = !this.#isChangedInFork(other);
    const winner = isNamed ? "fork" : isFree ? prefer : undefined;
    if (winner === undefined || "conflict" in result) {
      const { reason: _, ...lines } = "conflict" in result ? result.conflict : { reason: undefined };
      this.conflicts.push({ path: to, ...lines, reason: "both_renamed", moved, sides });
      return true;
    }
    const sources = [
      { path, side: before },
      { path: to, side: sides.ours },
      { path: other, side: sides.theirs },
    ];
    if (winner === "fork") {
      if (isFree) this.#put(other, sides.theirs, undefined, false);
      this.#put(to, there, result.side, true, sources);
    } else this.#put(other, sides.theirs, result.side, true, sources);
    return true;
  }

  #isChangedInFork(path: string): boolean {
    return this.#ours.has(path);
  }

  /** What a merge of three sides gives; where they conflict, the side that is preferred, if one is. */
  async #mergedOrPreferred(
    path: string,
    { path: from, side: before }: Candidate,
    ours: SideAtPath | undefined,
    theirs: SideAtPath | undefined,
  ): Promise<MergedSide> {
    const { prefer } = this.#input;
    const result = await this.#merged(path, before, ours, theirs, from);
    if ("side" in result || prefer === undefined || result.conflict.told !== undefined) return result;
    if (this.#input.isShownWhole(path) && !(await this.#isLoserVersion(from, before, { ours, theirs })))
      return result;
    return { side: prefer === "fork" ? ours : theirs };
  }

  /** Whether the side that is not preferred has a version of the file, and not another one of its files in its place. */
  async #isLoserVersion(from: string, before: SideAtPath, { ours, theirs }: ConflictSides): Promise<boolean> {
    const [side, loser] =
      this.#input.prefer === "fork" ? (["base", theirs] as const) : (["fork", ours] as const);
    if (before.kind !== "file" || loser?.kind !== "file") return true;
    return !(await this.#renames.isReplaced(side, { path: from, side: before }, loser));
  }

  /**
   * Keeps a path of the fork out of the merge: what is there was dealt with under another one. Something else may have
   * been brought to this path.
   */
  #leaveOut(path: string): void {
    this.#taken.add(path);
    if (this.#outcomes.get(path)?.sources?.every(source => source.path === path) ?? true)
      this.#outcomes.delete(path);
    const own = this.conflicts.findIndex(conflict => conflict.path === path && !conflict.moved);
    if (own >= 0) this.conflicts.splice(own, 1);
  }

  #forkSide(path: string): SideAtPath | undefined {
    return this.#ours.get(path);
  }

  /** The base moved a file that the fork changed: the change follows it, unless the fork has another file there. */
  async #movedByBase(path: string, before: SideAtPath, after: SideAtPath): Promise<boolean> {
    const to = await this.#renames.inBase(path);
    if (to === undefined) return false;
    const theirs = this.#input.theirs.at(to);
    if (this.#outcomes.has(to) || this.#isChangedInFork(to)) {
      const conflict = await this.#withChangedLines(
        path,
        { reason: "deleted_in_base" },
        before,
        after,
        undefined,
      );
      const sides = { ours: after, theirs: this.#input.theirs.at(path) };
      this.conflicts.push({ path, ...conflict, moved: { base: to }, sides });
      return true;
    }
    const result = await this.#mergedOrPreferred(to, { path, side: before }, after, theirs);
    if ("conflict" in result)
      this.conflicts.push({
        path: to,
        ...result.conflict,
        moved: { fork: path, base: to },
        sides: { ours: after, theirs },
      });
    else {
      const sources = [...[before, after].map(side => ({ path, side })), { path: to, side: theirs }];
      this.#put(to, theirs, result.side, true, sources);
    }
    return true;
  }

  /** Both moved a file to the same place. */
  async #movedByBoth(path: string, after: SideAtPath, theirs: SideAtPath | undefined): Promise<boolean> {
    for (const { path: from, before, after: left } of this.#input.changes) {
      const isFile = [left, this.#input.theirs.at(from)].some(side => side?.kind === "file");
      if (before?.kind !== "file" || isFile) continue;
      if ((await this.#renames.inFork(from)) !== path || (await this.#renames.inBase(from)) !== path)
        continue;
      const result = await this.#mergedOrPreferred(path, { path: from, side: before }, after, theirs);
      const sources = [{ path: from, side: before }, ...[after, theirs].map(side => ({ path, side }))];
      if ("side" in result) this.#put(path, theirs, result.side, true, sources);
      else this.conflicts.push({ path, ...result.conflict, sides: { ours: after, theirs } });
      return true;
    }
    return false;
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

  async #refuse(
    path: string,
    conflict: SideConflict,
    before: SideAtPath | undefined,
    sides: ConflictSides,
  ): Promise<void> {
    const { prefer } = this.#input;
    const { ours, theirs } = sides;
    // Conflicting lines were resolved already, unless one side is a different file.
    const isOther = conflict.told !== undefined && ours !== undefined && theirs !== undefined;
    if (prefer === undefined || isOther || !(await this.#isOneFile(path, before, sides)))
      this.conflicts.push({ path, ...conflict, sides });
    else if (prefer === "fork") this.#put(path, theirs, ours, false);
  }

  /** Whether the two sides are versions of one file: neither of them was moved there, or is a directory. */
  async #isOneFile(
    path: string,
    before: SideAtPath | undefined,
    { ours, theirs }: ConflictSides,
  ): Promise<boolean> {
    if ((ours?.kind === "directory") !== (theirs?.kind === "directory") && ours && theirs) return false;
    if (before === undefined) return !(await this.#renames.isNewName(path));
    // One side may have moved a different file onto a path that the other side deleted.
    const left = ours === undefined || theirs === undefined ? (ours ?? theirs) : undefined;
    if (!this.#input.isShownWhole(path)) return true;
    return left === undefined
      ? await this.#isLoserVersion(path, before, { ours, theirs })
      : await similarSides(before, left);
  }

  /** What only the whole plan shows: directories that stay because something is left in them, names in the way. */
  finish(): void {
    const paths = [...this.#outcomes.keys()].sort().reverse();
    for (const path of paths) {
      const outcome = this.#outcomes.get(path);
      if (outcome?.theirs?.kind !== "directory" || outcome.side?.kind === "directory") continue;
      if (this.#isEmptied(path)) continue;
      this.#outcomes.delete(path);
      if (outcome.side !== undefined) this.#inTheWay(path, outcome);
    }
    for (const outcome of this.#outcomes.values())
      if (outcome.side !== undefined && this.#isBlocked(outcome.path)) this.#inTheWay(outcome.path, outcome);
  }

  /** Drops outcomes without an effect, so that they make no change. Masked files stay: comparing them confirms a guess. */
  async leaveUnchanged(): Promise<void> {
    const slice = new TimeSlice();
    for (const { path, side, theirs } of [...this.#outcomes.values()]) {
      if (slice.isOver) await slice.turn();
      if (!this.#input.isShownWhole(path)) continue;
      if (side && theirs && (await isSameSide(side, theirs))) this.#outcomes.delete(path);
    }
  }

  #inTheWay(path: string, { side, theirs }: PlannedPath): void {
    this.conflicts.push({ path, reason: "in_the_way", sides: { ours: side, theirs } });
  }

  /** Whether everything that a directory of the base holds goes too. */
  #isEmptied(path: string): boolean {
    const { theirs } = this.#input;
    return theirs.namesIn(path).every(name => {
      const outcome = this.#outcomes.get(`${path}/${name}`);
      return outcome !== undefined && outcome.side === undefined;
    });
  }

  /** Whether a path above this one is something else than a directory in the base, and stays so. */
  #isBlocked(path: string): boolean {
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const above = path.slice(0, slash);
      const outcome = this.#outcomes.get(above);
      const side = outcome === undefined ? this.#input.theirs.at(above) : outcome.side;
      if (side !== undefined) return side.kind !== "directory";
    }
    return false;
  }
}
