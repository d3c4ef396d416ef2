// Three-way merge of what is at one path: contents by lines, modes, targets of links. What both sides changed
// differently is a conflict, reported with both sides.
import { isUtf8 } from "node:buffer";
import { merge } from "../edit/merge.ts";
import { longestOfOverlap, mostOfOverlap, type Overlap } from "../edit/weave.ts";
import { Fault, type MergeConflict, type NumberedLine } from "../fault.ts";
import { likeNow } from "../history/versions.ts";
import { isBinary } from "../text/detect.ts";
import { gitChanges } from "../text/git-changes.ts";
import { decode, type Text } from "../text/text.ts";
import { isSameSide, type SideAtPath } from "./merge-side.ts";
import { allTold, overlapsOf, type ToldOverlap } from "./overlaps.ts";

export interface SideConflict extends Omit<MergeConflict, "path"> {
  /** What the base changed in the overlaps. Absent if the conflict is not about lines. */
  readonly told?: readonly ToldOverlap[];
}

export type MergedSide = { readonly side: SideAtPath | undefined } | { readonly conflict: SideConflict };

/** Brings the change from `base` to `ours` to `theirs`. */
export async function mergeSides(
  path: string,
  base: SideAtPath | undefined,
  ours: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
): Promise<MergedSide> {
  if (await isSameSide(ours, theirs)) return { side: theirs };
  if (await isSameSide(base, theirs)) return { side: ours };
  if (await isSameSide(base, ours)) return { side: theirs };
  return await mergeChanged(path, base, ours, theirs);
}

/** Both sides have changed it, and differ. */
async function mergeChanged(
  path: string,
  base: SideAtPath | undefined,
  ours: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
): Promise<MergedSide> {
  // A directory that becomes a file, or a file that becomes a directory, is a deletion and something new.
  const isNew = (side: SideAtPath) =>
    base !== undefined && (side.kind === "directory") !== (base.kind === "directory");
  if (ours === undefined)
    return theirs && isNew(theirs) ? { side: theirs } : { conflict: { reason: "deleted_in_fork" } };
  if (theirs === undefined) return isNew(ours) ? { side: ours } : { conflict: { reason: "deleted_in_base" } };
  if (ours.kind !== theirs.kind) return { conflict: { reason: "kinds" } };
  const origin = isNew(ours) ? undefined : base;
  if (ours.kind === "symlink")
    return { conflict: { reason: origin === undefined ? "both_added" : "both_changed" } };
  const mode = mergedMode(origin, ours, theirs);
  if (ours.kind === "directory")
    return mode === undefined ? { conflict: { reason: "modes" } } : { side: { ...theirs, mode } };
  const bytes = await mergedBytes(path, origin?.kind === "file" ? origin : undefined, ours, theirs);
  // What the contents come to belongs to the same conflict: settling the mode must not settle unseen lines.
  if (mode === undefined)
    return {
      conflict: { ...("reason" in bytes ? { ...bytes, contents: true } : { told: [] }), reason: "modes" },
    };
  return "reason" in bytes ? { conflict: bytes } : { side: { kind: "file", mode, bytes: async () => bytes } };
}

/**
 * The same for a masked path. `base` and `ours` may be guesses of the hidden value, so nothing depends on how they compare
 * with it: if the base has written the file too, that is a conflict. `isUnwritten` says that it has not.
 */
export async function mergeMasked(
  path: string,
  base: SideAtPath | undefined,
  ours: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
  isUnwritten: boolean,
): Promise<MergedSide> {
  if (await isUnchangedMasked(base, theirs, isUnwritten)) return { side: ours };
  if (ours?.kind !== "file")
    return (await isSameSide(ours, theirs)) ? { side: theirs } : await mergeChanged(path, base, ours, theirs);
  const isNew = base?.kind === "directory" && theirs === undefined;
  if (isNew) return { side: ours };
  if (theirs === undefined) return { conflict: { reason: "deleted_in_base" } };
  if (theirs.kind !== "file") return { conflict: { reason: "kinds" } };
  return { conflict: { reason: base?.kind === "file" ? "both_changed" : "both_added" } };
}

/**
 * Whether the base has at a masked path what it had. Contents are compared only if the file was not written, to notice a
 * program that resets times.
 */
async function isUnchangedMasked(
  before: SideAtPath | undefined,
  theirs: SideAtPath | undefined,
  isUnwritten: boolean,
): Promise<boolean> {
  const areFiles = before?.kind === "file" && theirs?.kind === "file";
  return (isUnwritten || !areFiles) && (await isSameSide(before, theirs));
}

/** Undefined if both changed it differently. */
export function mergedMode(
  base: SideAtPath | undefined,
  ours: SideAtPath,
  theirs: SideAtPath,
): number | undefined {
  if (ours.mode === theirs.mode || ours.mode === base?.mode) return theirs.mode;
  if (theirs.mode === base?.mode) return ours.mode;
  return base === undefined ? theirs.mode : undefined;
}

async function mergedBytes(
  path: string,
  base: SideAtPath | undefined,
  ours: SideAtPath,
  theirs: SideAtPath,
): Promise<Buffer | SideConflict> {
  const [mine, current] = [await ours.bytes(), await theirs.bytes()];
  if (mine.equals(current)) return current;
  if (base === undefined) return { reason: "both_added", ...(await bothTexts(path, mine, current)) };
  const old = await base.bytes();
  if (old.equals(current)) return mine;
  if (old.equals(mine)) return current;
  return await mergedText(path, old, mine, current);
}

async function mergedText(
  path: string,
  old: Buffer,
  mine: Buffer,
  current: Buffer,
): Promise<Buffer | SideConflict> {
  try {
    const theirs = await decode(path, current);
    const [base, ours] = [await likeNow(path, old, theirs), await likeNow(path, mine, theirs)];
    if (base === undefined || ours === undefined)
      return { reason: "both_changed", ...(await inEncodings(path, old, mine, current)) };
    const merged = await merge(base, { text: ours }, theirs);
    if ("text" in merged) return Buffer.from(merged.text.bytes);
    const turned = await merge(base, { text: theirs }, ours);
    const own = "overlaps" in turned ? turned.overlaps : [];
    const { told, places } = overlapsOf(old, mine, current);
    const shown = { fork: linesOf(own), base: linesOf(merged.overlaps) };
    const isCut = [...own, ...merged.overlaps].some(
      ({ current: some }) =>
        some.length >= mostOfOverlap || some.some(({ text }) => text.length >= longestOfOverlap),
    );
    if (!isCut) return { reason: "both_changed", ...shown, told };
    return {
      reason: "both_changed",
      fork: places.flatMap(lines => numbered(ours.body, lines.ours)),
      base: places.flatMap(lines => numbered(theirs.body, lines.theirs)),
      told,
    };
  } catch (error) {
    // A file that is not text can only be taken as a whole.
    if (isNotText(error)) return { reason: "both_changed" };
    throw error;
  }
}

/** Characters of a line that are shown. */
const longestLine = 4000;

/** The lines from the first number up to the second, which is not included. */
function numbered(body: string, [from, to]: readonly [number, number]): NumberedLine[] {
  return body
    .split("\n")
    .slice(from - 1, to - 1)
    .map((line, i) => ({ line: from + i, text: line.slice(0, longestLine) }));
}

/** Lines that a side shows of a file of which no overlap is known. */
const mostShown = 1000;

/** The lines of two files that have nothing in common. */
async function bothTexts(
  path: string,
  mine: Buffer,
  current: Buffer,
): Promise<Pick<SideConflict, "fork" | "base">> {
  const first = async (bytes: Buffer) => {
    if (isBinary(bytes, { first: 8000 })) throw new Fault("binary", { path });
    const { body } = await decode(path, bytes.subarray(0, 64 * 1024));
    if (body === "") return [];
    return body
      .replace(/\n$/, "") // a final newline begins no further line
      .split("\n")
      .slice(0, mostShown)
      .map((line, i) => ({ line: i + 1, text: line.slice(0, longestLine) }));
  };
  try {
    return { fork: await first(mine), base: await first(current) };
  } catch {
    return {};
  }
}

/** The lines of larger files are not shown. */
const maxComparedBytes = 1024 * 1024;

/** What each side changed in a text of which at least one side has another encoding. */
async function inEncodings(
  path: string,
  ...sides: readonly [Buffer, Buffer, Buffer]
): Promise<Pick<SideConflict, "fork" | "base" | "encodings">> {
  if (sides.some(bytes => bytes.length > maxComparedBytes || isBinary(bytes, { first: 8000 }))) return {};
  const [old, mine, current] = [
    await decode(path, sides[0], { legacy: true }),
    await decode(path, sides[1], { legacy: true }),
    await decode(path, sides[2], { legacy: true }),
  ];
  const before = old.body.split("\n");
  const changed = ({ body }: Text): NumberedLine[] => {
    const lines = body.split("\n");
    // Where lines were deleted, the next one is shown.
    return gitChanges(before, lines).flatMap(({ bStart, bEnd }) =>
      numbered(body, [bStart + 1, Math.min(lines.length, Math.max(bEnd, bStart + 1)) + 1]),
    );
  };
  const encodings = { fork: encodingOf(mine), base: encodingOf(current) };
  return { fork: changed(mine), base: changed(current), encodings };
}

function encodingOf({ codec: { name }, bytes }: Text): string {
  return name !== "utf-8" || isUtf8(bytes) ? name : "unknown";
}

/** The first lines that one side changed or added in a file that the other side deleted, and what that tells. */
export async function changedLines(
  path: string,
  base: SideAtPath | undefined,
  side: SideAtPath | undefined,
): Promise<{ readonly lines: readonly NumberedLine[]; readonly told: readonly ToldOverlap[] } | undefined> {
  if (base?.kind !== "file" || side?.kind !== "file") return undefined;
  const [old, now] = [await base.bytes(), await side.bytes()];
  if (Math.max(old.length, now.length) > maxComparedBytes) return undefined;
  try {
    const text = await decode(path, now);
    const before = await likeNow(path, old, text);
    if (before === undefined) return undefined;
    const [a = [], b = []] = [before, text].map(({ body }) => body.replace(/\n$/, "").split("\n"));
    const lines = gitChanges(a, b).flatMap(({ bStart, bEnd }) =>
      b.slice(bStart, bEnd).map((line, i) => ({ line: bStart + i + 1, text: line.slice(0, longestLine) })),
    );
    return lines.length === 0 ? undefined : { lines: lines.slice(0, mostShown), told: allTold(old, now) };
  } catch (error) {
    if (isNotText(error)) return undefined;
    throw error;
  }
}

function isNotText(error: unknown): boolean {
  return Fault.is(error, "binary") || Fault.is(error, "not_text") || Fault.is(error, "unencodable");
}

function linesOf(overlaps: readonly Overlap[]): NumberedLine[] {
  const once = new Map(overlaps.flatMap(({ current }) => current).map(place => [place.line, place]));
  return [...once.values()].sort((a, b) => a.line - b.line);
}
