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

/** The new path of a file; undefined if none is similar enough. */
export async function renamedTo(old: Candidate, appeared: readonly Candidate[]): Promise<string | undefined> {
  if (old.side.kind !== "file") return undefined; // links and directories are not compared
  const before = await old.side.bytes();
  const name = old.path.slice(old.path.lastIndexOf("/") + 1);
  let best: { readonly path: string; readonly score: number } | undefined;
  for (const { path, side } of appeared.slice(0, mostCandidates)) {
    if (side.kind !== "file") continue;
    const after = await side.bytes();
    const isNamesake = path === name || path.endsWith(`/${name}`);
    // An empty file is like every other.
    if (before.length === 0 && !isNamesake) continue;
    const score = similarity(before, after) + (isNamesake ? 0.05 : 0);
    if (score >= leastSimilarity && score > (best?.score ?? 0)) best = { path, score };
  }
  return best?.path;
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
