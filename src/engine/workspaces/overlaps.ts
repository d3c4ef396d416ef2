// Where two sides changed the same lines of a base, as whole regions: to tell whether one of them was rewritten since it
// was refused, and to take one side of each while everything else is merged.
import { gitChanges } from "../text/git-changes.ts";
import { type LineChange, linesWithEndings, linesWithReturns } from "../text/line-diff.ts";
import { contentHash } from "../text/version.ts";

interface MergedRegion {
  /** What each side has there. */
  readonly ours: string;
  readonly theirs: string;
  readonly is: "same" | "ours" | "theirs" | "overlap";
  /** What they changed there. */
  readonly changes: readonly TheirChange[];
  readonly lines: LinesOfSides;
}

/** The first line of each side, from 1, and the line after its last. */
interface LinesOfSides {
  readonly ours: readonly [number, number];
  readonly theirs: readonly [number, number];
}

interface TheirChange extends LineChange {
  /** The lines that it put there. */
  readonly text: string;
}

/**
 * What a refused merge remembers of an overlap: what the base had changed there, each by its place in the common base and
 * its new lines, and where it was.
 */
export interface ToldOverlap {
  readonly changes: readonly string[];
  readonly lines: LinesOfSides;
  /** The fork has all lines that the base put there. */
  readonly holdsTheirs?: boolean;
}

/** A refused merge: the overlaps that it showed, and what the fork has changed since. */
export interface OverlapReport {
  readonly told: readonly ToldOverlap[];
  /** "all": the fork had no file then, or has none now. */
  readonly edits: readonly LineChange[] | "all";
}

export function overlapsOf(base: Buffer, ours: Buffer, theirs: Buffer): ToldOverlap[] {
  return regions(base, ours, theirs)
    .filter(({ is }) => is === "overlap")
    .map(({ changes, lines, ours: own }) => {
      const has = new Set(linesOf(Buffer.from(own, "latin1")));
      const holdsTheirs = changes.every(
        ({ text: put }) => put !== "" && linesOf(Buffer.from(put, "latin1")).every(line => has.has(line)),
      );
      return { changes: changes.map(keyOf), lines, ...(holdsTheirs && { holdsTheirs }) };
    });
}

/** The same where the fork deleted the file: all that the base changed. */
export function allTold(base: Buffer, theirs: Buffer): ToldOverlap[] {
  return regions(base, base, theirs)
    .filter(({ changes }) => changes.length > 0)
    .map(({ changes, lines }) => ({ changes: changes.map(keyOf), lines }));
}

function keyOf({ aStart, aEnd, text }: TheirChange): string {
  return `${aStart} ${aEnd} ${hash(text)}`;
}

function hash(text: string): string {
  return contentHash(Buffer.from(text, "latin1"));
}

/** What the fork has changed in a file, in lines of what it was. */
export function editsSince(then: Buffer, now: Buffer): LineChange[] {
  return gitChanges(linesOf(then), linesOf(now));
}

/**
 * Whether the fork has resolved an overlap: everything that the base changed there was reported, and since each of these
 * reports the fork has changed the lines that it had there, or has the base's lines there as well.
 */
export function isResolved(
  { changes, holdsTheirs }: ToldOverlap,
  reports: readonly OverlapReport[],
): boolean {
  const known = new Set<string>();
  for (const { told, edits } of reports) {
    for (const one of told) {
      if (!one.changes.some(change => changes.includes(change))) continue;
      if (!holdsTheirs && edits !== "all" && !edits.some(edit => touches(edit, one.lines.ours))) return false;
      for (const change of one.changes) known.add(change);
    }
  }
  return changes.every(change => known.has(change));
}

/**
 * Whether an edit changed one of these lines, or added some next to them: the other side's, for example. An edit of the
 * neighbouring lines is none of these lines. Where there are none, lines must have been added in their place.
 */
function touches(
  { aStart, aEnd, bStart, bEnd }: LineChange,
  [first, end]: readonly [number, number],
): boolean {
  const [from, to] = [first - 1, end - 1];
  if (aStart > to || aEnd < from) return false;
  if (from === to) return bEnd - bStart > aEnd - aStart || (aStart < from && to < aEnd);
  return aStart === aEnd || (aStart < to && aEnd > from);
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
  const [b, o, t] = [base, ours, theirs].map(bytes => linesOf(bytes));
  if (b === undefined || o === undefined || t === undefined) return [];
  const [mine, other] = [gitChanges(b, o), gitChanges(b, t)];
  const found: MergedRegion[] = [];
  let [at, oAt, tAt] = [0, 0, 0];
  const add = (
    oEnd: number,
    tEnd: number,
    is: (ours: string, theirs: string) => MergedRegion["is"],
    changes: MergedRegion["changes"] = [],
  ) => {
    const [left, right] = [text(o, oAt, oEnd), text(t, tAt, tEnd)];
    const lines: LinesOfSides = { ours: [oAt + 1, oEnd + 1], theirs: [tAt + 1, tEnd + 1] };
    found.push({ ours: left, theirs: right, is: is(left, right), changes, lines });
    [oAt, tAt] = [oEnd, tEnd];
  };
  for (let [i, j] = [0, 0]; i < mine.length || j < other.length; ) {
    const start = Math.min(
      mine[i]?.aStart ?? Number.POSITIVE_INFINITY,
      other[j]?.aStart ?? Number.POSITIVE_INFINITY,
    );
    const kept = start - at;
    if (kept > 0) add(oAt + kept, tAt + kept, () => "same");
    at = start;
    let end = start;
    const [first, second] = [i, j];
    // All that touches or adjoins belongs together.
    for (;;) {
      const [one, two] = [mine[i], other[j]];
      if (one !== undefined && one.aStart <= end) {
        end = Math.max(end, one.aEnd);
        i++;
      } else if (two !== undefined && two.aStart <= end) {
        end = Math.max(end, two.aEnd);
        j++;
      } else break;
    }
    add(
      oAt + (end - at) + growth(mine, first, i),
      tAt + (end - at) + growth(other, second, j),
      (left, right) => (second === j ? "ours" : first === i ? "theirs" : left === right ? "same" : "overlap"),
      other.slice(second, j).map(change => ({ ...change, text: text(t, change.bStart, change.bEnd) })),
    );
    at = end;
  }
  if (at < b.length) add(o.length, t.length, () => "same");
  return found;
}

/** How many lines more some changes left than they found. */
function growth(changes: readonly LineChange[], from: number, to: number): number {
  return changes
    .slice(from, to)
    .reduce((sum, { aStart, aEnd, bStart, bEnd }) => sum + (bEnd - bStart) - (aEnd - aStart), 0);
}

function linesOf(bytes: Buffer): string[] {
  const all = bytes.toString("latin1");
  return all.includes("\n") ? linesWithEndings(all) : linesWithReturns(all);
}

function text(lines: readonly string[], from: number, to: number): string {
  return lines.slice(from, to).join("");
}
