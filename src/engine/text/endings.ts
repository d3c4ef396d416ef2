// Line endings. A line ends with "\n" or "\r\n", each line with its own. A lone "\r" is a character like any other
// (as for git and ripgrep, so that line numbers agree), except in a file that has no "\n" at all.
import { countLines } from "./lines.ts";
import type { Splice } from "./splice.ts";
import { trimmed } from "./splice.ts";

export type LineEnding = "\n" | "\r\n" | "\r";

/** Which ending lines get that an edit adds: that of their neighbour, or the one most lines of the file have. */
export type NewLines = "neighbour" | "dominant";

/** The body of a raw text, and where its breaks differ from "\n". */
export function breaksOf(raw: string): { readonly body: string; readonly breaks: Breaks } {
  if (!raw.includes("\r")) return { body: raw, breaks: new Uint32Array(0) };
  if (!raw.includes("\n")) return { body: raw.replaceAll("\r", "\n"), breaks: "cr" };
  const offsets: number[] = [];
  for (let at = raw.indexOf("\r\n"); at >= 0; at = raw.indexOf("\r\n", at + 2))
    offsets.push(at - offsets.length);
  return {
    body: offsets.length === 0 ? raw : raw.replaceAll("\r\n", "\n"),
    breaks: Uint32Array.from(offsets),
  };
}

/** A text from outside in the form of the body, so that its line breaks match any. */
export function likeBody(text: BrokenText, given: string): string {
  if (!given.includes("\r")) return given;
  const unified = given.replaceAll("\r\n", "\n");
  return text.breaks === "cr" ? unified.replaceAll("\r", "\n") : unified;
}

/** Where an offset of the body is in `raw`. */
export function rawOffset(text: BrokenText, offset: number): number {
  return text.breaks === "cr" ? offset : offset + rank(text.breaks, offset);
}

/** The ending of the break at an offset of the body. */
function endingAt(text: BrokenText, offset: number): LineEnding {
  if (text.breaks === "cr") return "\r";
  return text.breaks[rank(text.breaks, offset)] === offset ? "\r\n" : "\n";
}

/** The ending of most lines; on a tie that of the first line; "\n" if there is no line break. */
export function dominantEnding(text: BrokenText): LineEnding {
  if (text.breaks === "cr") return "\r";
  if (text.breaks.length === 0) return "\n";
  let total = 0;
  for (let at = text.body.indexOf("\n"); at >= 0; at = text.body.indexOf("\n", at + 1)) total += 1;
  const lf = total - text.breaks.length;
  if (lf !== text.breaks.length) return lf > text.breaks.length ? "\n" : "\r\n";
  return endingAt(text, text.body.indexOf("\n"));
}

/** The endings in a file: one, several, or none. */
export function endingsIn(text: BrokenText): "lf" | "crlf" | "cr" | "mixed" | "none" {
  if (text.breaks === "cr") return "cr";
  if (!text.body.includes("\n")) return "none";
  if (text.breaks.length === 0) return "lf";
  return text.breaks.length === countLines(text.body, "split") - 1 ? "crlf" : "mixed";
}

/** Splices of the body as splices of `raw`. A break keeps the ending of the break that it replaces. */
export function rawSplices(text: BrokenText, splices: readonly Splice[], newLines: NewLines): Splice[] {
  const { breaks } = text;
  if (breaks !== "cr" && breaks.length === 0) return [...splices];
  let dominant: LineEnding | undefined;
  return splices.map(whole => {
    const splice = trimmed(text.body, whole);
    const start = rawOffset(text, splice.start);
    const end = rawOffset(text, splice.end);
    if (!splice.text.includes("\n")) return { start, end, text: splice.text };
    const replaced = endingsBetween(text, splice.start, splice.end);
    const lines = splice.text.split("\n");
    const kept = replaced.length === lines.length - 1 || newLines === "neighbour" ? replaced : [];
    dominant ??= newLines === "dominant" ? dominantEnding(text) : undefined;
    const added = dominant ?? replaced.at(-1) ?? neighbour(text, splice);
    return { start, end, text: lines.reduce((joined, line, i) => joined + (kept[i - 1] ?? added) + line) };
  });
}

function endingsBetween(text: BrokenText, start: number, end: number): LineEnding[] {
  const found: LineEnding[] = [];
  for (let at = text.body.indexOf("\n", start); at >= 0 && at < end; at = text.body.indexOf("\n", at + 1)) {
    found.push(endingAt(text, at));
  }
  return found;
}

/** The ending of the line before where lines are put between lines, else of the line that is split. */
function neighbour(text: BrokenText, splice: Splice): LineEnding {
  const before = splice.start === 0 ? -1 : text.body.lastIndexOf("\n", splice.start - 1);
  const after = text.body.indexOf("\n", splice.end);
  const betweenLines = before === splice.start - 1;
  const at = before >= 0 && (betweenLines || after < 0) ? before : after;
  return at < 0 ? dominantEnding(text) : endingAt(text, at);
}

/** How many of the sorted offsets are smaller than this one. */
function rank(offsets: Uint32Array, offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Body offsets of the breaks that are "\r\n"; or "cr" where the file knows only lone "\r". */
export type Breaks = Uint32Array | "cr";

/** The part of a `Text` that line endings need. */
export interface BrokenText {
  readonly body: string;
  readonly breaks: Breaks;
}
