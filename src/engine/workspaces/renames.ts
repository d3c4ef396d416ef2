// Which file that appeared is one that went away: the same bytes, or most of the same lines. A rename is a guess as in
// git, and only asked about where something depends on it: the other side has changed the file under its old name.
import { isBinary } from "../text/detect.ts";
import type { SideAtPath } from "./merge-side.ts";

export interface Candidate {
  readonly path: string;
  readonly side: SideAtPath;
}

/** As git has it. */
const leastSimilarity = 0.5;
const mostCandidates = 1000;
const mostBytes = 4 * 1024 * 1024;

/**
 * The new path of a file; undefined if none is similar enough. `gone` are the files that went away: a new path is that
 * of one of them, the one that it is most similar to. Without that, the edits of two files could be merged into one.
 */
export async function renamedTo(
  old: Candidate,
  appeared: readonly Candidate[],
  gone: readonly Candidate[] = [],
): Promise<string | undefined> {
  const found: { readonly candidate: Candidate; readonly score: number }[] = [];
  for (const candidate of appeared.slice(0, mostCandidates)) {
    const score = await likeness(old, candidate);
    if (score >= leastSimilarity) found.push({ candidate, score });
  }
  const rivals = gone.filter(({ path }) => path !== old.path).slice(0, mostCandidates);
  for (const { candidate, score } of found.sort((a, b) => b.score - a.score))
    if (!(await isOfAnother(candidate, rivals, old.path, score))) return candidate.path;
  return undefined;
}

/** Whether a new path is that of another file. Of files that are as similar, it is that of the first. */
async function isOfAnother(
  candidate: Candidate,
  rivals: readonly Candidate[],
  path: string,
  score: number,
): Promise<boolean> {
  for (const rival of rivals) {
    const other = await likeness(rival, candidate);
    if (other > score || (other === score && rival.path < path)) return true;
  }
  return false;
}

/** Links and directories are not compared. */
async function likeness(old: Candidate, { path, side }: Candidate): Promise<number> {
  if (old.side.kind !== "file" || side.kind !== "file") return 0;
  const name = old.path.slice(old.path.lastIndexOf("/") + 1);
  const isNamesake = path === name || path.endsWith(`/${name}`);
  const before = await old.side.bytes();
  // An empty file is like every other.
  if (before.length === 0 && !isNamesake) return 0;
  return similarity(before, await side.bytes()) + (isNamesake ? 0.05 : 0);
}

/** 1 for the same bytes, 0 for nothing in common. */
function similarity(a: Buffer, b: Buffer): number {
  if (a.equals(b)) return 1;
  const [least, most] = [Math.min(a.length, b.length), Math.max(a.length, b.length)];
  if (least / most < leastSimilarity || most > mostBytes) return 0;
  if (isBinary(a, { first: 8000 }) || isBinary(b, { first: 8000 })) return 0;
  const lines = new Map<string, number>();
  for (const line of linesOf(a)) lines.set(line, (lines.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of linesOf(b)) {
    const left = lines.get(line) ?? 0;
    if (left === 0) continue;
    lines.set(line, left - 1);
    common += line.length + 1;
  }
  return common / (most + 1);
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString("latin1").split("\n");
}
