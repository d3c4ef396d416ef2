// The effect of edits on a text as hunks: whole lines of the original, and their replacement. A merge applies these
// to another version of the file, without diffing again.
import { type BrokenText, type NewLines, rawOffset, rawSplices } from "../text/endings.ts";
import { linesWithEndings, linesWithReturns } from "../text/line-diff.ts";
import { LineIndex } from "../text/lines.ts";
import { type Splice, spliced } from "../text/splice.ts";

/** Lines [start, end) of the original, from 0, became `lines`. */
export interface LineHunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
  /** Which edits of the list made it. */
  readonly edits: readonly number[];
}

/** A splice of the body, and the edits that it comes from. */
export interface EditSplice extends Splice {
  readonly edits: readonly number[];
}

/** What was edited, as plain values: the text thread makes hunks of it. */
export interface TextEdits {
  /** Sorted. */
  readonly splices: readonly EditSplice[];
  readonly newLines: NewLines;
  /** The edits by line numbers, which cover all of their lines. Of others, unchanged lines at both ends are context. */
  readonly byLines: readonly number[];
}

/** The lines of a file with their endings; a "\r" ends a line only in a file that has no "\n". */
export function linesOf(text: {
  readonly raw: string;
  readonly breaks: BrokenText["breaks"] | "lf";
}): string[] {
  if (text.breaks !== "cr") return linesWithEndings(text.raw);
  return linesWithReturns(text.raw);
}

export function lineHunks(text: BrokenText & { readonly raw: string }, edits: TextEdits): LineHunk[] {
  const { splices, newLines, byLines } = edits;
  const index = new LineIndex(text.body);
  const raw = rawSplices(text, splices, newLines);
  const startOf = (line: number) => rawOffset(text, index.start(line + 1));
  const groups: { start: number; end: number; edits: Set<number>; raw: Splice[] }[] = [];
  for (const [i, splice] of splices.entries()) {
    const { start, end } = touchedLines(text.body, index, splice);
    const last = groups.at(-1);
    const one = raw[i] ?? splice;
    if (last !== undefined && start < last.end) {
      last.end = Math.max(last.end, end);
      last.raw.push(one);
      for (const edit of splice.edits) last.edits.add(edit);
    } else groups.push({ start, end, edits: new Set(splice.edits), raw: [one] });
  }
  return groups.flatMap(({ start, end, edits, raw: own }) => {
    const from = startOf(start);
    const old = text.raw.slice(from, startOf(end));
    const shifted = own.map(one => ({ ...one, start: one.start - from, end: one.end - from }));
    const lines = linesOf({ raw: spliced(old, shifted), breaks: text.breaks });
    const hunk = { start, end, lines, edits: [...edits] };
    if (hunk.edits.some(edit => byLines.includes(edit))) return [hunk];
    return withoutContext(hunk, linesOf({ raw: old, breaks: text.breaks }));
  });
}

/** The lines that a splice changes; none if it inserts whole lines between others. From 0, end excluded. */
function touchedLines(
  body: string,
  index: LineIndex,
  { start, end, text }: Splice,
): { start: number; end: number } {
  const first = index.lineAt(start) - 1;
  const lines = index.count("terminated");
  const atLineStart = (offset: number) => index.start(index.lineAt(offset)) === offset;
  const closed = text === "" ? atLineStart(start) : text.endsWith("\n");
  // There is no line after the final break; an insertion there does not touch the last line.
  if (start === end && atLineStart(start) && (closed || (first === lines && start === body.length)))
    return { start: first, end: first };
  const last = index.lineAt(end) - 1;
  const stopsBefore = atLineStart(end) && (closed || last >= lines) && end > start;
  return { start: Math.min(first, Math.max(0, lines)), end: Math.min(stopsBefore ? last : last + 1, lines) };
}

/** A hunk without lines at its start and end that are as they were in `old`. */
function withoutContext({ start, end, lines, edits }: LineHunk, old: readonly string[]): LineHunk[] {
  const shorter = Math.min(old.length, lines.length);
  let head = 0;
  while (head < shorter && old[head] === lines[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === lines.at(-1 - tail)) tail += 1;
  if (head + tail === old.length && head + tail === lines.length) return [];
  return [{ start: start + head, end: end - tail, lines: lines.slice(head, lines.length - tail), edits }];
}

/** Where each line starts, and where the last one ends. */
export function startsOf(lines: readonly string[]): number[] {
  const starts = [0];
  let at = 0;
  for (const line of lines) {
    at += line.length;
    starts.push(at);
  }
  return starts;
}
