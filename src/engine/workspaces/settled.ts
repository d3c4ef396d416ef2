// How a conflict is settled: by one side that is preferred, or by a fork that was written again since the conflict was
// reported. Only what was reported is settled; the rest of the contents is merged.
import { isBinary } from "../text/detect.ts";
import { contentHash } from "../text/version.ts";
import type { Bases } from "./bases.ts";
import { type MergedSide, mergedMode, type SideConflict } from "./merge-file.ts";
import type { SideAtPath } from "./merge-side.ts";
import { isDealtWith, mergedPreferring } from "./overlaps.ts";

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
 * Whether the fork has resolved a conflict since it was reported: every overlap has other lines than then. A masked file
 * was resolved if it was written again, whatever it holds.
 */
export async function isRewritten(
  { ours: then, overlaps: told }: NonNullable<ReturnType<Bases["refused"]>>,
  ours: SideAtPath | undefined,
  conflict: SideConflict | "masked",
): Promise<boolean> {
  if (ours === undefined || then === null) return (ours === undefined) !== (then === null);
  const overlaps = conflict === "masked" ? undefined : conflict.overlaps;
  if (conflict !== "masked" && conflict.reason === "modes" && ours.mode === then.mode) return false;
  // Overlaps that were not reported are not dealt with.
  if (overlaps !== undefined && (overlaps.ours.length > 0 || told !== undefined))
    return told !== undefined && isDealtWith(told, overlaps);
  if (ours.kind !== then.kind || ours.mode !== then.mode || ours.target !== then.target) return true;
  if (conflict === "masked") return ours.stamp !== then.stamp;
  return ours.kind === "file" && contentHash(await ours.bytes()) !== then.hash;
}
