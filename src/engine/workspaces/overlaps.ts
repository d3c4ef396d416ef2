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
 * What a refused merge remembers of one change that the base made in an overlap: its place in the common base with its
 * new lines, and where it was. Entries of earlier versions have all changes of an overlap together.
 */
export interface ToldOverlap {
  readonly changes: readonly string[];
  /** Of ours: the lines of the overlap that are nearest to the change. */
  readonly lines: LinesOfSides;
  /** The fork has there all lines that the base put there. */
  readonly holdsTheirs?: boolean;
}

/** A refused merge: the overlaps that it showed, and what the fork has changed since. */
export interface OverlapReport {
  readonly told: readonly ToldOverlap[];
  /** "all": the fork had no file then, or has none now. */
  readonly edits: readonly LineChange[] | "all";
}

/** The lines of the overlaps, and what is to be told of each change of the base in them. */
export function overlapsOf(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
): { readonly places: readonly LinesOfSides[]; readonly told: ToldOverlap[] } {
  const [b, o] = [linesOf(base), linesOf(ours)];
  const mine = gitChanges(b, o);
  const overlaps = regions(base, ours, theirs).filter(({ is }) => is === "overlap");
  return { places: overlaps.map(({ lines }) => lines), told: overlaps.flatMap(one => toldOf(one, mine, o)) };
}

/** The same where the fork deleted the file: all that the base changed. */
export function allTold(base: Buffer, theirs: Buffer): ToldOverlap[] {
  return regions(base, base, theirs).flatMap(region => toldOf(region, [], linesOf(base)));
}

/** Each change of the base has to be dealt with: every line of ours in the overlap belongs to the nearest one. */
function toldOf(
  { changes, lines: { ours } }: MergedRegion,
  mine: readonly LineChange[],
  ourLines: readonly string[],
): ToldOverlap[] {
  const [first, end] = [ours[0] - 1, ours[1] - 1];
  const spans = changes.map(
    ({ aStart, aEnd }) => [placeOf(aStart, mine)[0], placeOf(aEnd, mine)[1]] as const,
  );
  const between = (i: number) => Math.floor(((spans[i]?.[1] ?? 0) + (spans[i + 1]?.[0] ?? 0)) / 2);
  return changes.map((change, i) => {
    const [from, to] = spans[i] as readonly [number, number];
    const start = i === 0 ? first : Math.min(from, between(i - 1));
    const stop = i === changes.length - 1 ? end : Math.max(to, between(i));
    const lines: LinesOfSides = {
      ours: [start + 1, stop + 1],
      theirs: [change.bStart + 1, change.bEnd + 1],
    };
    const isHeld = holds(ourLines.slice(from, to), linesOf(Buffer.from(change.text, "latin1")));
    return { changes: [keyOf(change)], lines, ...(isHeld && { holdsTheirs: true }) };
  });
}

/**
 * Where a line of the base may be in ours, which has `mine` in place of some lines. In such a change lines are counted
 * from its first one and from its last one.
 */
function placeOf(line: number, mine: readonly LineChange[]): readonly [number, number] {
  let [low, high] = [0, mine.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mine[middle] as LineChange).aEnd < line) low = middle + 1;
    else high = middle;
  }
  const change = mine[low];
  const before = mine[low - 1];
  if (change === undefined || change.aStart > line) {
    const place = before === undefined ? line : before.bEnd + line - before.aEnd;
    return [place, place];
  }
  const { aStart, aEnd, bStart, bEnd } = change;
  const [fromFirst, fromLast] = [bStart + line - aStart, bEnd - (aEnd - line)];
  return [Math.max(bStart, Math.min(fromFirst, fromLast)), Math.min(bEnd, Math.max(fromFirst, fromLast))];
}

/** Whether lines are all among others. If there are none, there must be no others: both sides deleted some. */
function holds(lines: readonly string[], put: readonly string[]): boolean {
  if (put.length === 0) return lines.length === 0;
  const left = new Map<string, number>();
  for (const line of lines) left.set(line, (left.get(line) ?? 0) + 1);
  return put.every(line => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count > 0;
  });
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
 * Whether the fork has resolved a change of the base in an overlap: it was reported, and since each of these reports the
 * fork has changed the lines that it had there, or has the base's lines there as well.
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
