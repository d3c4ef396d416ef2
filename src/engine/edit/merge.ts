// Three-way merge by lines: what one side changed since the common base is carried over into the other. Changes
// that only lie side by side are both kept; where both sides changed the same lines, or inserted at the same point,
// in different ways, nothing is guessed and the overlaps are returned.
import type { Place } from "../fault.ts";
import { shown } from "../text/escape.ts";
import { diffLines, type LineChange, linesWithEndings } from "../text/line-diff.ts";
import type { Splice } from "../text/splice.ts";
import { rewriteRaw, type Text } from "../text/text.ts";

/** Lines that both sides changed: as they stand in `theirs` now. */
export interface Overlap {
  /** The first line in `theirs`, from 1. */
  readonly line: number;
  readonly current: readonly Place[];
}

export type Merged = { readonly text: Text } | { readonly overlaps: readonly Overlap[] };

/**
 * Carries the changes from `base` to `ours` over into `theirs`, which is what stands in the file now: its encoding,
 * mark, endings and every byte that `ours` did not change stay. Throws `unencodable`.
 */
export function merge(base: Text, ours: Text, theirs: Text): Merged {
  if (base.raw === theirs.raw) return { text: rewriteRaw(theirs, lineSplices(base.raw, ours.raw)) };
  const baseLines = linesWithEndings(base.raw);
  const ourLines = linesWithEndings(ours.raw);
  const theirLines = linesWithEndings(theirs.raw);
  const mine = diffLines(baseLines, ourLines);
  const other = diffLines(baseLines, theirLines);
  const starts = offsets(theirLines);
  const splices: Splice[] = [];
  const overlaps: Overlap[] = [];
  // Where one side's file ends without a line break, nothing of the other can follow.
  const endsOpen = [ours, theirs].some(side => side.raw !== "" && !side.raw.endsWith("\n"));
  const reachesEnd = (change: LineChange) => change.aEnd === baseLines.length;
  let next = 0;
  // How many lines further a line of the base stands in theirs.
  let drift = 0;
  for (const change of mine) {
    const meetsChange = (one: LineChange) =>
      meets(one, change) || (endsOpen && [one, change].every(reachesEnd));
    const before = (one: LineChange) => one.aEnd <= change.aStart && !meetsChange(one);
    for (let one = other[next]; one !== undefined && before(one); one = other[next]) {
      drift = one.bEnd - one.aEnd;
      next += 1;
    }
    const clashing: LineChange[] = [];
    for (let i = next, one = other[i]; one !== undefined && meetsChange(one); one = other[++i])
      clashing.push(one);
    const added = ourLines.slice(change.bStart, change.bEnd);
    const [first] = clashing;
    if (first === undefined) {
      const [from, to] = [change.aStart + drift, change.aEnd + drift];
      splices.push({ start: starts[from] ?? 0, end: starts[to] ?? 0, text: added.join("") });
    } else if (!(clashing.length === 1 && sameChange(first, change, theirLines, added))) {
      overlaps.push(overlap(theirLines, clashing, change, drift));
    }
  }
  if (overlaps.length > 0) return { overlaps };
  return { text: rewriteRaw(theirs, splices) };
}

/** Two changes that both insert, or begin with inserting, at one point: which comes first cannot be known. */
function samePoint(one: LineChange, other: LineChange): boolean {
  return one.aStart === one.aEnd && other.aStart === other.aEnd && one.aStart === other.aStart;
}

function meets(one: LineChange, other: LineChange): boolean {
  return samePoint(one, other) || (one.aStart < other.aEnd && other.aStart < one.aEnd);
}

function sameChange(
  one: LineChange,
  other: LineChange,
  theirLines: readonly string[],
  added: readonly string[],
): boolean {
  if (one.aStart !== other.aStart || one.aEnd !== other.aEnd || one.bEnd - one.bStart !== added.length)
    return false;
  return added.every((line, i) => line === theirLines[one.bStart + i]);
}

function overlap(
  lines: readonly string[],
  clashing: readonly LineChange[],
  change: LineChange,
  drift: number,
): Overlap {
  const start = Math.min(change.aStart + drift, clashing[0]?.bStart ?? 0);
  const last = clashing.at(-1);
  const end = Math.max(last?.bEnd ?? start, last === undefined ? 0 : change.aEnd + last.bEnd - last.aEnd);
  const shownLines = lines.slice(start, Math.min(Math.max(end, start + 1), start + 20));
  const current = shownLines.map((line, i) => ({
    line: start + i + 1,
    text: shown(line.replace(/\r?\n$/, "").slice(0, 500)),
  }));
  return { line: start + 1, current };
}

/** Where each line starts, and where the last one ends. */
function offsets(lines: readonly string[]): number[] {
  const starts = [0];
  let at = 0;
  for (const line of lines) {
    at += line.length;
    starts.push(at);
  }
  return starts;
}

function lineSplices(from: string, to: string): Splice[] {
  const [a, b] = [linesWithEndings(from), linesWithEndings(to)];
  const starts = offsets(a);
  return diffLines(a, b).map(change => ({
    start: starts[change.aStart] ?? 0,
    end: starts[change.aEnd] ?? 0,
    text: b.slice(change.bStart, change.bEnd).join(""),
  }));
}
