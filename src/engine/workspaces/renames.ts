// Which files that appeared are those that went away: the same bytes, or most of the same lines; pieces of 64 bytes, if a
// file is binary. A rename is a guess as in git, and only asked about where something depends on it: the other side has
// changed the file under its old name. All files are paired at once, the most similar ones first, and each has one
// partner: without that, an edit could go to another file, or the edits of two files into one.
import { isBinary } from "../text/detect.ts";
import { contentHash } from "../text/version.ts";
import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { SideAtPath } from "./merge-side.ts";

export interface Candidate {
  readonly path: string;
  readonly side: SideAtPath;
}

/** As git has it. */
const leastSimilarity = 0.5;
/** Beyond this, a file is compared only with files of the same name and with those that share rare lines with it. */
const mostPairs = 40_000;
/** A line that more files have is not rare. */
const mostWithLine = 30;
/** How many files with rare lines in common are compared with one. */
const mostSharing = 10;
const mostFiles = 5000;
const mostBytes = 4 * 1024 * 1024;

interface ComparedFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly hash: string;
}

/** The new paths of files, by their old ones. Considers the first `mostFiles` of each side. Links and directories are not compared. */
export async function pairedRenames(
  gone: readonly Candidate[],
  appeared: readonly Candidate[],
): Promise<ReadonlyMap<string, string>> {
  const renames = new Map<string, string>();
  if (gone.length === 0 || appeared.length === 0) return renames;
  const slice = new TimeSlice();
  const [old, now] = [await read(gone, slice), await read(appeared, slice)];
  const same = new Map<string, ComparedFile[]>();
  for (const file of now) same.set(file.hash, [...(same.get(file.hash) ?? []), file]);
  const equal = old.flatMap(from =>
    (same.get(from.hash) ?? [])
      .slice(0, mostAlike)
      .flatMap(to => (isComparable(from, to) ? [{ from, to, score: 1 }] : [])),
  );
  const taken = new Set<string>();
  pair(equal, renames, taken);
  const [left, free] = [
    old.filter(({ path }) => !renames.has(path)),
    now.filter(({ path }) => !taken.has(path)),
  ];
  const lines = new Map<string, LineCounts>();
  const likely =
    left.length * free.length > mostPairs ? await sharingRareLines(free, lines, slice) : undefined;
  const similar: Pairing[] = [];
  for (const from of left) {
    const sharing = likely?.(from);
    for (const to of free) {
      if (slice.isOver) await slice.turn();
      if (sharing !== undefined && !sharing.has(to) && !isNamesake(from, to)) continue;
      if (!isComparable(from, to)) continue;
      const score = similarity(from, to, lines);
      if (score >= leastSimilarity) similar.push({ from, to, score });
    }
  }
  pair(similar, renames, taken);
  return renames;
}

/** Whether two files are similar enough to be one. */
export async function similarSides(a: SideAtPath, b: SideAtPath): Promise<boolean> {
  if (a.kind !== "file" || b.kind !== "file") return a.kind === b.kind;
  const [from, to] = await read(
    [
      { path: "a", side: a },
      { path: "b", side: b },
    ],
    new TimeSlice(),
  );
  return from !== undefined && to !== undefined && similarity(from, to, new Map()) >= leastSimilarity;
}

/** A shorter text has no lines to know it by. */
const leastToKnow = 400;

/** Whether a text is still the same file, and not another one that was moved there. */
export async function isVersionOf(before: SideAtPath, side: SideAtPath): Promise<boolean> {
  return (await before.bytes()).length < leastToKnow || (await similarSides(before, side));
}

/** Finds the files with the most bytes of rare lines in common with one. */
async function sharingRareLines(
  files: readonly ComparedFile[],
  known: Map<string, LineCounts>,
  slice: TimeSlice,
): Promise<(from: ComparedFile) => ReadonlySet<ComparedFile>> {
  const having = new Map<string, ComparedFile[]>();
  for (const file of files) {
    if (slice.isOver) await slice.turn();
    if (!isCompared(file)) continue;
    for (const line of linesOf(file, known).keys()) {
      const others = having.get(line);
      if (others === undefined) having.set(line, [file]);
      else if (others.length <= mostWithLine) others.push(file);
    }
  }
  return from => {
    const shared = new Map<ComparedFile, number>();
    if (isCompared(from)) {
      for (const line of linesOf(from, known).keys()) {
        const others = having.get(line) ?? [];
        if (others.length > mostWithLine) continue;
        for (const file of others) shared.set(file, (shared.get(file) ?? 0) + line.length + 1);
      }
    }
    const most = [...shared].sort(([, a], [, b]) => b - a).slice(0, mostSharing);
    return new Set(most.map(([file]) => file));
  };
}

/** Whether the contents of a file are compared. */
function isCompared({ bytes }: ComparedFile): boolean {
  return bytes.length <= mostBytes;
}

/** The most equal files that are tried for one old path. */
const mostAlike = 200;

async function read(files: readonly Candidate[], slice: TimeSlice): Promise<ComparedFile[]> {
  const found: ComparedFile[] = [];
  for (const { path, side } of files.slice(0, mostFiles)) {
    if (side.kind !== "file") continue;
    if (slice.isOver) await slice.turn();
    const bytes = await side.bytes();
    found.push({ path, bytes, hash: contentHash(bytes) });
  }
  return found;
}

interface Pairing {
  readonly from: ComparedFile;
  readonly to: ComparedFile;
  readonly score: number;
}

/** The most similar ones first; of equal ones, those with the most of their path in common. */
function pair(pairings: readonly Pairing[], renames: Map<string, string>, taken: Set<string>): void {
  const ranked = pairings.map(one => ({
    ...one,
    rank: one.score + (isNamesake(one.from, one.to) ? 0.05 : 0),
    common: commonParts(one.from.path, one.to.path),
  }));
  ranked.sort(
    (a, b) =>
      b.rank - a.rank ||
      b.common - a.common ||
      (a.from.path < b.from.path ? -1 : a.from.path > b.from.path ? 1 : 0),
  );
  for (const { from, to } of ranked) {
    if (renames.has(from.path) || taken.has(to.path)) continue;
    renames.set(from.path, to.path);
    taken.add(to.path);
  }
}

/** An empty file is like every other. */
function isComparable(from: ComparedFile, to: ComparedFile): boolean {
  return from.bytes.length > 0 || isNamesake(from, to);
}

function isNamesake({ path: a }: ComparedFile, { path: b }: ComparedFile): boolean {
  return a.slice(a.lastIndexOf("/") + 1) === b.slice(b.lastIndexOf("/") + 1);
}

/** How many parts two paths have in common, at their ends and at their beginnings. */
function commonParts(a: string, b: string): number {
  const [x, y] = [a.split("/"), b.split("/")];
  let [last, first] = [0, 0];
  while (last < Math.min(x.length, y.length) && x.at(-1 - last) === y.at(-1 - last)) last++;
  while (first < Math.min(x.length, y.length) - last && x[first] === y[first]) first++;
  return last + first;
}

type LineCounts = ReadonlyMap<string, number>;

/** 1 for the same bytes, 0 for nothing in common. */
function similarity(from: ComparedFile, to: ComparedFile, known: Map<string, LineCounts>): number {
  if (from.hash === to.hash) return 1;
  const [least, most] = [from, to].map(({ bytes }) => bytes.length).sort((a, b) => a - b) as [number, number];
  if (least / most < leastSimilarity || !isCompared(from) || !isCompared(to)) return 0;
  const [a, b] = [linesOf(from, known), linesOf(to, known)];
  let common = 0;
  for (const [line, count] of b) common += (line.length + 1) * Math.min(count, a.get(line) ?? 0);
  return common / (most + 1);
}

function linesOf({ bytes, hash }: ComparedFile, known: Map<string, LineCounts>): LineCounts {
  const counted = known.get(hash);
  if (counted !== undefined) return counted;
  const counts = new Map<string, number>();
  const isLines = !isBinary(bytes, { first: 8000 });
  for (const line of bytes.toString("latin1").split("\n")) {
    // As git does: a binary file may have no line breaks.
    const pieces = isLines || line.length <= pieceBytes ? [line] : (line.match(piecesOfLine) ?? []);
    for (const piece of pieces) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  }
  known.set(hash, counts);
  return counts;
}

const pieceBytes = 64;
const piecesOfLine = new RegExp(`[^]{1,${pieceBytes}}`, "g");
