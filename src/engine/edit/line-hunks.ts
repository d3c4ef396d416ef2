// The effect of edits on a text as hunks: whole lines of the original, and their replacement. A merge applies these
// to another version of the file, without diffing again.
import { type NewLines, rawSplices } from "../text/endings.ts";
import { linesWithEndings } from "../text/line-diff.ts";
import { LineIndex } from "../text/lines.ts";
import { type Splice, spliced } from "../text/splice.ts";
import type { Text } from "../text/text.ts";

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

/** The lines of a file with their endings; a "\r" ends a line only in a file that has no "\n". */
export function linesOf(text: { readonly raw: string; readonly breaks: Text["breaks"] | "lf" }): string[] {
  if (text.breaks !== "cr") return linesWithEndings(text.raw);
  return linesWithEndings(text.raw.replaceAll("\r", "\n")).map(line => line.replace("\n", "\r"));
}

/**
 * The hunks of sorted splices. An edit by line numbers covers all of its lines; for an edit by text, unchanged lines
 * at both ends are only context (`isContext`).
 */
export function lineHunks(
  text: Text,
  splices: readonly EditSplice[],
  newLines: NewLines,
  isContext: (edit: number) => boolean,
): LineHunk[] {
  const index = new LineIndex(text.body);
  const raw = rawSplices(text, splices, newLines);
  const base = linesOf(text);
  const starts = startsOf(base);
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
    const from = starts[start] ?? text.raw.length;
    const to = starts[end] ?? text.raw.length;
    const shifted = own.map(one => ({ ...one, start: one.start - from, end: one.end - from }));
    const made = spliced(text.raw.slice(from, to), shifted);
    const lines = linesOf({ raw: made, breaks: text.breaks });
    const hunk = { start, end, lines, edits: [...edits] };
    return hunk.edits.every(isContext) ? withoutContext(hunk, base) : [hunk];
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

function withoutContext(hunk: LineHunk, base: readonly string[]): LineHunk[] {
  const { lines, edits } = hunk;
  let { start, end } = hunk;
  let [from, to] = [0, lines.length];
  while (start < end && from < to && base[start] === lines[from]) [start, from] = [start + 1, from + 1];
  while (start < end && from < to && base[end - 1] === lines[to - 1]) [end, to] = [end - 1, to - 1];
  return start === end && from === to ? [] : [{ start, end, lines: lines.slice(from, to), edits }];
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
