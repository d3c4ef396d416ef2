// The heart of a merge: places the hunks of one side between the changes of the other. Pure and on plain values, so
// that it can run in the text thread.
import { append } from "../append.ts";
import type { NumberedLine } from "../fault.ts";
import { breaksOf } from "../text/endings.ts";
import { shown } from "../text/escape.ts";
import { gitChanges } from "../text/git-changes.ts";
import type { LineChange } from "../text/line-diff.ts";
import { packed } from "../text/packed-changes.ts";
import type { Splice } from "../text/splice.ts";
import { certainLines } from "./certain-lines.ts";
import {
  type EditSplice,
  type LineHunk,
  lineHunks,
  linesOf,
  startsOf,
  type TextEdits,
} from "./line-hunks.ts";

/** How edits made ours of the base, where that is known. */
export interface WovenEdits extends Omit<TextEdits, "splices"> {
  /** Whether the base begins with a byte-order mark that the edits did not see. */
  readonly marked: boolean;
}

/** Lines that both sides changed, or that are next to each other: as they are in `theirs` now. */
export interface Overlap {
  /** The first line in `theirs`, from 1. */
  readonly line: number;
  readonly current: readonly NumberedLine[];
  /** The same with their neighbours. */
  readonly around: readonly NumberedLine[];
  /** Which edits of ours are concerned. */
  readonly edits: readonly number[];
}

/** Splices of `theirs`, and what `theirs` changed in the base. */
export type Weave = { readonly splices: readonly Splice[]; readonly incoming: Uint32Array } | Overlapping;

interface Overlapping {
  readonly overlaps: readonly Overlap[];
  /** Splices of `theirs`: what ours changed elsewhere. */
  readonly rest: readonly Splice[];
}

/** Lines shown around an overlap. */
const neighbours = 2;
/** Lines of an overlap that are shown at most. */
export const mostOfOverlap = 20;
/** Characters of each line. */
export const longestOfOverlap = 500;

/** All texts as they are in their files. Large ones are arguments of their own, which are sent in pieces. */
export function weave(
  base: string,
  theirs: string,
  ours: string,
  edits?: WovenEdits,
  splices: readonly EditSplice[] = [],
): Weave {
  const [baseLines, theirLines] = [linesIn(base), linesIn(theirs)];
  const incoming = gitChanges(baseLines, theirLines);
  const sides = { base: baseLines, theirs: theirLines, incoming };
  const whole = () => {
    const lines = linesIn(ours);
    return woven(sides, hunksOf(gitChanges(baseLines, lines), lines));
  };
  const result =
    edits === undefined ? whole() : wovenEdits(sides, hunksIn(base, { ...edits, splices }), whole);
  return "overlaps" in result ? result : { ...result, incoming: packed(incoming) };
}

function linesIn(raw: string): string[] {
  return linesOf({ raw, breaks: raw.includes("\r") && !raw.includes("\n") ? "cr" : "lf" });
}

function hunksIn(base: string, edits: WovenEdits & TextEdits): LineHunk[] {
  const raw = edits.marked ? base.slice(1) : base;
  const hunks = lineHunks({ raw, ...breaksOf(raw) }, edits);
  if (!edits.marked) return hunks;
  return hunks.map(hunk => {
    const [first, ...rest] = hunk.lines;
    return hunk.start === 0 && first !== undefined ? { ...hunk, lines: [`\ufeff${first}`, ...rest] } : hunk;
  });
}

interface Sides {
  readonly base: readonly string[];
  readonly theirs: readonly string[];
  readonly incoming: readonly LineChange[];
}

type Woven = { readonly splices: readonly Splice[] } | Overlapping;

/**
 * Among repeated lines, the place of a hunk in `theirs` may depend on how the two are compared. It is taken where all
 * ways agree, or where git produces the same result.
 */
function wovenEdits(sides: Sides, hunks: readonly LineHunk[], whole: () => Woven): Woven {
  const placed = woven(sides, hunks);
  if ("splices" in placed) {
    if (sides.incoming.length === 0) return placed;
    const git = whole();
    if ("splices" in git && isSame(sides.theirs, placed.splices, git.splices)) return placed;
  }
  const certain = certainSplices(sides, hunks);
  if (certain !== undefined) return { splices: certain };
  return "overlaps" in placed ? placed : { overlaps: hunks.map(hunk => doubtful(sides, hunk)), rest: [] };
}

function isSame(lines: readonly string[], one: readonly Splice[], other: readonly Splice[]): boolean {
  const text = lines.join("");
  const applied = (splices: readonly Splice[]) => splicedText(text, splices);
  return applied(one) === applied(other);
}

function splicedText(text: string, splices: readonly Splice[]): string {
  let made = "";
  let at = 0;
  for (const splice of splices) {
    made += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return made + text.slice(at);
}

/**
 * The hunks at the only place where they can belong; undefined if one of them has no such place. It has one if the
 * lines before it and after it are certain, and what is between them is as it was, or is the same change.
 */
function certainSplices({ base, theirs }: Sides, hunks: readonly LineHunk[]): Splice[] | undefined {
  const places = certainLines(base, theirs);
  if (places === undefined) return undefined;
  const placeOf = (line: number) => {
    if (line < 0) return -1;
    if (line === base.length) return theirs.length;
    const place = places[line] ?? -1;
    return place < 0 ? undefined : place;
  };
  const starts = startsOf(theirs);
  const splices: Splice[] = [];
  for (const { start, end, lines } of joined(hunks)) {
    const [before, after] = [placeOf(start - 1), placeOf(end)];
    if (before === undefined || after === undefined) return undefined;
    const text = lines.join("");
    const current = theirs.slice(before + 1, after).join("");
    if (current === text) continue;
    if (current !== base.slice(start, end).join("")) return undefined;
    splices.push({ start: starts[before + 1] ?? 0, end: starts[after] ?? 0, text });
  }
  return splices;
}

/** Hunks that adjoin each other as one. */
function joined(hunks: readonly LineHunk[]): LineHunk[] {
  const result: LineHunk[] = [];
  for (const hunk of hunks) {
    const last = result.at(-1);
    if (last?.end === hunk.start)
      result[result.length - 1] = { ...last, end: hunk.end, lines: [...last.lines, ...hunk.lines] };
    else result.push(hunk);
  }
  return result;
}

/** Puts hunks of the base between the changes that `theirs` made to it. */
function woven(sides: Sides, hunks: readonly LineHunk[]): Woven {
  const { theirs, incoming } = sides;
  const starts = startsOf(theirs);
  const splices: Splice[] = [];
  const overlaps: Overlap[] = [];
  let next = 0;
  // How many lines further down a line of the base is in theirs.
  let drift = 0;
  for (let i = 0; i < hunks.length; ) {
    const first = hunks[i];
    if (first === undefined) break;
    for (let one = incoming[next]; one !== undefined && one.aEnd < first.start; one = incoming[next]) {
      drift = one.bEnd - one.aEnd;
      next += 1;
    }
    // All that touches or adjoins, on either side, belongs together.
    const mine: LineHunk[] = [];
    const other: LineChange[] = [];
    let [start, end] = [first.start, first.end];
    for (;;) {
      const hunk = hunks[i];
      const change = incoming[next];
      if (hunk !== undefined && (mine.length === 0 || (other.length > 0 && hunk.start <= end))) {
        mine.push(hunk);
        end = Math.max(end, hunk.end);
        i += 1;
      } else if (change !== undefined && change.aStart <= end) {
        other.push(change);
        [start, end] = [Math.min(start, change.aStart), Math.max(end, change.aEnd)];
        next += 1;
      } else break;
    }
    const last = other.at(-1);
    const after = last === undefined ? drift : last.bEnd - last.aEnd;
    const [from, to] = [start + drift, end + after];
    if (other.length === 0) {
      const text = mine.flatMap(hunk => hunk.lines).join("");
      splices.push({ start: starts[from] ?? 0, end: starts[to] ?? 0, text });
    } else if (madeOf(sides.base, mine, start, end) !== theirs.slice(from, to).join(""))
      overlaps.push(overlap(theirs, from, to, editsTouching(mine, other)));
    drift = after;
  }
  return overlaps.length > 0 ? { overlaps, rest: splices } : { splices };
}

/** What hunks make of some lines of the base. */
function madeOf(base: readonly string[], hunks: readonly LineHunk[], start: number, end: number): string {
  const parts: string[] = [];
  let at = start;
  for (const hunk of hunks) {
    append(parts, base.slice(at, hunk.start));
    append(parts, hunk.lines);
    at = hunk.end;
  }
  return [...parts, ...base.slice(at, end)].join("");
}

function editsTouching(hunks: readonly LineHunk[], changes: readonly LineChange[]): number[] {
  const touching = hunks.filter(hunk =>
    changes.some(change => hunk.start <= change.aEnd && change.aStart <= hunk.end),
  );
  return [...new Set(touching.flatMap(({ edits }) => edits))].sort((a, b) => a - b);
}

/** A hunk whose place is not certain, at the place that it would have. */
function doubtful({ theirs, incoming }: Sides, hunk: LineHunk): Overlap {
  const before = incoming.findLast(change => change.aEnd < hunk.start);
  const drift = before === undefined ? 0 : before.bEnd - before.aEnd;
  return overlap(theirs, hunk.start + drift, hunk.end + drift, hunk.edits);
}

function overlap(lines: readonly string[], from: number, to: number, edits: readonly number[]): Overlap {
  const places = (first: number, last: number) =>
    lines.slice(Math.max(0, first), Math.min(last, first + mostOfOverlap)).map((line, i) => ({
      line: Math.max(0, first) + i + 1,
      text: shown(line.replace(/\r?\n$|\r$/, "").slice(0, longestOfOverlap)),
    }));
  const current = places(from, Math.max(to, from + 1));
  return { line: from + 1, current, around: places(from - neighbours, to + neighbours), edits };
}

function hunksOf(changes: readonly LineChange[], lines: readonly string[]): LineHunk[] {
  return changes.map(({ aStart, aEnd, bStart, bEnd }) => ({
    start: aStart,
    end: aEnd,
    lines: lines.slice(bStart, bEnd),
    edits: [],
  }));
}
