// Where two sides changed the same lines of a base, as whole regions: to tell whether one of them was rewritten since it
// was refused, and to take one side of each while everything else is merged.
import { gitChanges } from "../text/git-changes.ts";
import { type LineChange, linesWithEndings } from "../text/line-diff.ts";
import { contentHash } from "../text/version.ts";

interface MergedRegion {
  /** What each side has there. */
  readonly ours: string;
  readonly theirs: string;
  readonly is: "same" | "ours" | "theirs" | "overlap";
}

/** What a refused merge remembers of each overlap: hashes of the lines of both sides. */
export interface ToldOverlaps {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

export function overlapsOf(base: Buffer, ours: Buffer, theirs: Buffer): ToldOverlaps {
  const all = regions(base, ours, theirs).filter(({ is }) => is === "overlap");
  const hash = (text: string) => contentHash(Buffer.from(text, "latin1"));
  return { ours: all.map(one => hash(one.ours)), theirs: all.map(one => hash(one.theirs)) };
}

/** The numbers of all lines in overlaps, from 0, on each side. */
export function overlapLines(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
): { readonly ours: readonly number[]; readonly theirs: readonly number[] } {
  const found = { ours: [] as number[], theirs: [] as number[] };
  const at = { ours: 0, theirs: 0 };
  for (const region of regions(base, ours, theirs)) {
    for (const side of ["ours", "theirs"] as const) {
      const { length } = linesWithEndings(region[side]);
      if (region.is === "overlap") for (let i = 0; i < length; i++) found[side].push(at[side] + i);
      at[side] += length;
    }
  }
  return found;
}

/** Whether every overlap has other lines of ours than were reported, and the same lines of theirs. */
export function isDealtWith(told: ToldOverlaps, now: ToldOverlaps): boolean {
  return (
    now.ours.every(hash => !told.ours.includes(hash)) && now.theirs.every(hash => told.theirs.includes(hash))
  );
}

/** Both sides together; of each overlap the preferred one. */
export function mergedPreferring(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
  prefer: "ours" | "theirs",
): Buffer {
  const parts = regions(base, ours, theirs).map(
    region => region[region.is === "overlap" ? prefer : region.is === "theirs" ? "theirs" : "ours"],
  );
  return Buffer.from(parts.join(""), "latin1");
}

function regions(base: Buffer, ours: Buffer, theirs: Buffer): MergedRegion[] {
  const [b, o, t] = [base, ours, theirs].map(bytes => linesWithEndings(bytes.toString("latin1")));
  if (b === undefined || o === undefined || t === undefined) return [];
  const [mine, other] = [gitChanges(b, o), gitChanges(b, t)];
  const found: MergedRegion[] = [];
  let [at, oAt, tAt] = [0, 0, 0];
  for (let [i, j] = [0, 0]; i < mine.length || j < other.length; ) {
    const start = Math.min(
      mine[i]?.aStart ?? Number.POSITIVE_INFINITY,
      other[j]?.aStart ?? Number.POSITIVE_INFINITY,
    );
    const kept = start - at;
    if (kept > 0)
      found.push({ ours: text(o, oAt, oAt + kept), theirs: text(t, tAt, tAt + kept), is: "same" });
    [at, oAt, tAt] = [start, oAt + kept, tAt + kept];
    let end = start;
    const [first, second] = [i, j];
    // All that touches or adjoins belongs together.
    for (;;) {
      const [one, two] = [mine[i], other[j]];
      const isFirst = i === first && j === second;
      if (one !== undefined && (one.aStart <= end || (isFirst && one.aStart === start))) {
        end = Math.max(end, one.aEnd);
        i++;
      } else if (two !== undefined && (two.aStart <= end || (isFirst && two.aStart === start))) {
        end = Math.max(end, two.aEnd);
        j++;
      } else break;
    }
    const [oEnd, tEnd] = [
      oAt + (end - at) + growth(mine, first, i),
      tAt + (end - at) + growth(other, second, j),
    ];
    const [left, right] = [text(o, oAt, oEnd), text(t, tAt, tEnd)];
    const is = second === j ? "ours" : first === i ? "theirs" : left === right ? "same" : "overlap";
    found.push({ ours: left, theirs: right, is });
    [at, oAt, tAt] = [end, oEnd, tEnd];
  }
  if (at < b.length) found.push({ ours: text(o, oAt, o.length), theirs: text(t, tAt, t.length), is: "same" });
  return found;
}

/** How many lines more some changes left than they found. */
function growth(changes: readonly LineChange[], from: number, to: number): number {
  return changes
    .slice(from, to)
    .reduce((sum, { aStart, aEnd, bStart, bEnd }) => sum + (bEnd - bStart) - (aEnd - aStart), 0);
}

function text(lines: readonly string[], from: number, to: number): string {
  return lines.slice(from, to).join("");
}
