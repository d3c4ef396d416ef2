// How a conflict is settled: by one side that is preferred, or by a fork that was written again since the conflict was
// reported. Only what was reported is settled; the rest of the contents is merged.
import { isBinary } from "../text/detect.ts";
import { contentHash } from "../text/version.ts";
import type { RecordedSide, RefusedPath } from "./bases.ts";
import { type MergedSide, mergedMode, type SideConflict } from "./merge-file.ts";
import type { SideAtPath } from "./merge-side.ts";
import { isDealtWith, mergedPreferring, type ToldOverlap } from "./overlaps.ts";

/** Whether lines can be merged. */
export async function areTexts(...sides: readonly SideAtPath[]): Promise<boolean> {
  for (const side of sides)
    if (side.kind !== "file" || isBinary(await side.bytes(), { first: 8000 })) return false;
  return true;
}

/** The three texts merged, with one side of each overlap. */
export async function preferring(
  before: SideAtPath,
  ours: SideAtPath,
  theirs: SideAtPath,
  prefer: "ours" | "theirs",
): Promise<MergedSide> {
  const [b, o, t] = [await before.bytes(), await ours.bytes(), await theirs.bytes()];
  const bytes = mergedPreferring(b, o, t, prefer);
  const mode = mergedMode(before, ours, theirs) ?? (prefer === "ours" ? ours : theirs).mode;
  return { side: { kind: "file", mode, bytes: async () => bytes } };
}

/**
 * Whether the fork has dealt with a conflict since it was reported. Lines: with every overlap. Anything else: the fork has
 * something else there now, and the base has what was reported. A masked file was dealt with if it was written again,
 * whatever it holds.
 */
export async function isSettled(
  { reason, told }: SideConflict,
  refused: readonly RefusedPath[],
  { ours, theirs }: { readonly ours: SideAtPath | undefined; readonly theirs: SideAtPath | undefined },
  isMasked: boolean,
): Promise<boolean> {
  const then = refused.find(one => one.reason === reason);
  if (reason === "modes" && (then?.ours?.mode === ours?.mode || then?.theirs?.mode !== theirs?.mode))
    return false;
  if (told !== undefined && !isMasked)
    return told.length === 0 ? then !== undefined : openOverlaps(told, refused).length === 0;
  if (then === undefined || !(await isAsRecorded(then.theirs, theirs))) return false;
  if (isMasked && ours?.kind === "file" && then.ours?.kind === "file")
    return ours.stamp !== then.ours.stamp || ours.mode !== then.ours.mode;
  return !(await isAsRecorded(then.ours, ours));
}

/** A conflict with the overlaps that the fork has not dealt with. */
export function withoutSettled(conflict: SideConflict, refused: readonly RefusedPath[]): SideConflict {
  const { told, fork, base } = conflict;
  const open = told && openOverlaps(told, refused);
  if (told === undefined || open === undefined || open.length === told.length) return conflict;
  // A place where lines are gone is shown by its neighbours.
  const isOpen = (side: "ours" | "theirs", line: number) =>
    open.some(({ lines }) => line >= lines[side][0] - 1 && line <= lines[side][1]);
  return {
    ...conflict,
    told: open,
    ...(fork && { fork: fork.filter(({ line }) => isOpen("ours", line)) }),
    ...(base && { base: base.filter(({ line }) => isOpen("theirs", line)) }),
  };
}

function openOverlaps(
  overlaps: readonly ToldOverlap[],
  refused: readonly RefusedPath[],
): readonly ToldOverlap[] {
  const told = refused.flatMap(one => one.told ?? []);
  return overlaps.filter(overlap => !isDealtWith(overlap, told));
}

async function isAsRecorded(then: RecordedSide, now: SideAtPath | undefined): Promise<boolean> {
  if (then === null || now === undefined) return then === null && now === undefined;
  if (then.kind !== now.kind || then.target !== now.target) return false;
  if (now.kind !== "symlink" && then.mode !== now.mode) return false;
  return now.kind !== "file" || contentHash(await now.bytes()) === then.hash;
}
