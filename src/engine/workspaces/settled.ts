// How a conflict is settled: by one side that is preferred, or by a fork that was written again since the conflict was
// reported. Only what was reported is settled; the rest of the contents is merged.
import { isBinary } from "../text/detect.ts";
import type { Bases, RefusedPath } from "./bases.ts";
import { type MergedSide, mergedMode, type SideConflict } from "./merge-file.ts";
import { isSameSide, type SideAtPath } from "./merge-side.ts";
import {
  editsSince,
  isResolved,
  mergedPreferring,
  type OverlapReport,
  type ToldOverlap,
} from "./overlaps.ts";

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
 * Whether the fork has resolved a conflict since it was reported. A conflict about lines is resolved if every
 * change of the base in the overlaps is.
 * Any other is resolved if the fork has changed what it holds at the path, and the base still holds what was reported.
 */
export async function isSettled(
  path: string,
  { reason, told, contents }: SideConflict,
  bases: Bases,
  { ours, theirs }: { readonly ours: SideAtPath | undefined; readonly theirs: SideAtPath | undefined },
): Promise<boolean> {
  const refused = bases.refused(path);
  const then = refused.find(one => one.reason === reason);
  if (reason === "modes" && !refused.some(one => isModeSettled(one, ours, theirs))) return false;
  if (told !== undefined)
    return told.length === 0
      ? then !== undefined
      : (await openOverlaps(told, path, bases, ours)).length === 0;
  if (contents) return await isContentSettled(refused, bases, ours, theirs);
  if (then === undefined || !(await isSameSide(bases.sideOf(then.theirs), theirs))) return false;
  return !(await isSameSide(bases.sideOf(then.ours), ours));
}

function isModeSettled(
  told: RefusedPath,
  ours: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
): boolean {
  return told.reason === "modes" && told.ours?.mode !== ours?.mode && told.theirs?.mode === theirs?.mode;
}

/** The same for contents without lines, as those of a binary file, that conflict besides something else. */
async function isContentSettled(
  refused: readonly RefusedPath[],
  bases: Bases,
  ours: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
): Promise<boolean> {
  for (const told of refused) {
    if (!told.contents) continue;
    const [mine, current] = [bases.sideOf(told.ours), bases.sideOf(told.theirs)];
    if ((await hasSameBytes(current, theirs)) && !(await hasSameBytes(mine, ours))) return true;
  }
  return false;
}

async function hasSameBytes(a: SideAtPath | undefined, b: SideAtPath | undefined): Promise<boolean> {
  return (
    a?.kind === b?.kind && (a === undefined || b === undefined || (await a.bytes()).equals(await b.bytes()))
  );
}

/** A conflict, reduced to the overlaps that are still unresolved. */
export async function withoutSettled(
  path: string,
  conflict: SideConflict,
  bases: Bases,
  ours: SideAtPath | undefined,
): Promise<SideConflict> {
  const { told, fork, base } = conflict;
  const open = told && (await openOverlaps(told, path, bases, ours));
  if (told === undefined || open === undefined || open.length === told.length) return conflict;
  // A region without lines is shown by the lines next to it.
  const isOpen = (side: "ours" | "theirs", line: number) =>
    open.some(({ lines }) => {
      const [from, end] = lines[side];
      return from === end ? line === from - 1 || line === from : line >= from && line < end;
    });
  return {
    ...conflict,
    told: open,
    ...(fork && { fork: fork.filter(({ line }) => isOpen("ours", line)) }),
    ...(base && { base: base.filter(({ line }) => isOpen("theirs", line)) }),
  };
}

async function openOverlaps(
  overlaps: readonly ToldOverlap[],
  path: string,
  bases: Bases,
  ours: SideAtPath | undefined,
): Promise<readonly ToldOverlap[]> {
  const reports: OverlapReport[] = [];
  for (const refused of bases.refused(path)) {
    if (refused.told === undefined) continue;
    const then = bases.sideOf(refused.ours);
    const edits =
      then?.kind === "file" && ours?.kind === "file"
        ? editsSince(await then.bytes(), await ours.bytes())
        : then?.kind === ours?.kind
          ? []
          : "all";
    reports.push({ told: refused.told, edits });
  }
  return overlaps.filter(overlap => !isResolved(overlap, reports));
}
