// Unified diffs of two texts, as `diff -u` and git print them: applying one gives the second text byte for byte.

import { diffIds, type LineChange } from "./line-diff.ts";
import { type LinePart, linePart, partStart } from "./line-part.ts";
import { lineAt, type NumberedLines, numberLines } from "./numbered-lines.ts";
import { type PackedHunks, packedHunks } from "./packed-changes.ts";
import { commonPrefix, commonSuffix } from "./shared-ends.ts";

export interface DiffOptions {
  /** The names after `---` and `+++`; without them only hunks are printed. */
  readonly from?: string;
  readonly to?: string;
  /** Lines of context around a change; 3 by default. */
  readonly context?: number;
  /** The number of lines of the file before both texts; 0 by default. */
  readonly skipped?: number;
  /** How many more lines are before the second text than before the first; 0 by default. */
  readonly drift?: number;
}

/** The unified diff from one raw text to another; "" where they are the same. */
export function unifiedDiff(before: string, after: string, options: DiffOptions = {}): string {
  const parts: string[] = [];
  for (const line of new Diff(before, after, options).lines()) parts.push(line, "\n");
  return parts.join("");
}

/** A line of a diff, or a part of a long one; the text begins with the sign. */
export type PrintedLine = string | LinePart;

/** The beginning of a diff, and how large it is. */
export interface DiffStart {
  readonly lines: readonly PrintedLine[];
  /** How many lines the whole diff has. */
  readonly total: number;
  readonly added: number;
  readonly removed: number;
}

/**
 * The lines of a diff up to this many characters; of lines longer than `longest`, the part that changed, and
 * of context half as much.
 */
export function diffStart(
  before: string,
  after: string,
  options: DiffOptions & { readonly room: number; readonly longest?: number },
): DiffStart {
  const diff = new Diff(before, after, options);
  const lines: PrintedLine[] = [];
  let left = options.room;
  for (const line of diff.parts(options.longest ?? Number.POSITIVE_INFINITY)) {
    if (left < 0) break;
    left -= (typeof line === "string" ? line : line.text).length + 1;
    lines.push(line);
  }
  return { lines, total: diff.size, ...diff.counts };
}

/** The changes of a unified diff, by hunk, in lines of the whole texts. */
export function hunksBetween(before: string, after: string, context: number): PackedHunks {
  return packedHunks(new Diff(before, after, { context }).wholeGroups());
}

/** How many lines a change added and removed. */
export function diffCounts(
  before: string,
  after: string,
): { readonly added: number; readonly removed: number } {
  return new Diff(before, after, { context: 0 }).counts;
}

/** The difference of two texts. Its lines are computed on demand. */
class Diff {
  readonly #context: number;
  readonly #options: DiffOptions;
  readonly #before: string;
  readonly #a: NumberedLines;
  readonly #b: NumberedLines;
  /** Where the part that was compared begins. */
  readonly #start: number;
  readonly #changes: readonly LineChange[];

  /**
   * Compares only what is between the common start and end of the two, in whole lines. The context comes from outside
   * of it: among lines that are alike, a change could otherwise take the place of its context.
   */
  constructor(before: string, after: string, options: DiffOptions) {
    const context = options.context ?? 3;
    this.#context = context;
    this.#options = options;
    this.#before = before;
    const isSame = before === after;
    const from = isSame ? before.length : lineStart(before, commonPrefix(before, after), 0);
    const tail = isSame ? 0 : linesBehind(before, commonSuffix(before, after, from), 0);
    this.#start = isSame ? from : lineStart(before, from, context);
    const rest = linesBehind(before, tail, context - 1);
    const part = (text: string) => text.slice(this.#start, text.length - rest);
    const { a, b, kinds } = numberLines(part(before), part(after));
    [this.#a, this.#b] = [a, b];
    const lead = linesUpTo(a, from - this.#start);
    const behind = tail - rest;
    const between = (side: NumberedLines) =>
      side.ids.subarray(lead, linesUpTo(side, side.text.length - behind));
    this.#changes = diffIds(between(a), between(b), kinds).map(({ aStart, aEnd, bStart, bEnd }) => ({
      aStart: aStart + lead,
      aEnd: aEnd + lead,
      bStart: bStart + lead,
      bEnd: bEnd + lead,
    }));
  }

  get counts(): { readonly added: number; readonly removed: number } {
    let [added, removed] = [0, 0];
    for (const { aStart, aEnd, bStart, bEnd } of this.#changes) {
      added += bEnd - bStart;
      removed += aEnd - aStart;
    }
    return { added, removed };
  }

  /** How many lines it has, those for a missing final break included. */
  get size(): number {
    const { from, to } = this.#options;
    let size = this.#changes.length === 0 ? 0 : Number(from !== undefined) + Number(to !== undefined);
    for (const group of this.#groups()) {
      const { start, end, bEnd } = this.#extent(group);
      size += 1 + end - start;
      for (const change of group) size += change.bEnd - change.bStart;
      const last = group.at(-1);
      if (end === this.#a.ids.length && end > start && isOpen(this.#a)) size += 1;
      if (last?.bEnd === bEnd && last.bEnd > last.bStart && bEnd === this.#b.ids.length && isOpen(this.#b))
        size += 1;
    }
    return size;
  }

  *lines(): Generator<string> {
    for (const line of this.parts(Number.POSITIVE_INFINITY)) if (typeof line === "string") yield line;
  }

  *parts(longest: number): Generator<PrintedLine> {
    const { from, to } = this.#options;
    if (this.#changes.length === 0) return;
    if (from !== undefined) yield `--- ${from}`;
    if (to !== undefined) yield `+++ ${to}`;
    const skipped = (this.#options.skipped ?? 0) + this.#linesInFront();
    for (const group of this.#groups()) yield* this.#hunk(group, skipped, longest);
  }

  wholeGroups(): LineChange[][] {
    const skipped = this.#linesInFront();
    const shifted = ({ aStart, aEnd, bStart, bEnd }: LineChange) => ({
      aStart: aStart + skipped,
      aEnd: aEnd + skipped,
      bStart: bStart + skipped,
      bEnd: bEnd + skipped,
    });
    return [...this.#groups()].map(group => group.map(shifted));
  }

  #linesInFront(): number {
    let lines = 0;
    const text = this.#before;
    for (let at = text.indexOf("\n"); at >= 0 && at < this.#start; at = text.indexOf("\n", at + 1))
      lines += 1;
    return lines;
  }

  *#groups(): Generator<LineChange[]> {
    let group: LineChange[] = [];
    for (const change of this.#changes) {
      const last = group.at(-1);
      if (last !== undefined && change.aStart - last.aEnd > 2 * this.#context) {
        yield group;
        group = [];
      }
      group.push(change);
    }
    if (group.length > 0) yield group;
  }

  /** The lines that a hunk covers in both texts. */
  #extent(group: readonly LineChange[]) {
    const [first, last] = [group[0], group.at(-1)];
    const [aStart, aEnd] = [first?.aStart ?? 0, last?.aEnd ?? 0];
    const start = Math.max(0, aStart - this.#context);
    const end = Math.min(this.#a.ids.length, aEnd + this.#context);
    const bStart = (first?.bStart ?? 0) - (aStart - start);
    return { start, end, bStart, bEnd: (last?.bEnd ?? 0) + (end - aEnd) };
  }

  *#hunk(group: readonly LineChange[], skipped: number, longest: number): Generator<PrintedLine> {
    const { start, end, bStart, bEnd } = this.#extent(group);
    const { drift = 0 } = this.#options;
    yield `@@ -${range(start, end, skipped)} +${range(bStart, bEnd, skipped + drift)} @@`;
    let at = start;
    for (const { aStart, aEnd, bStart: made, bEnd: madeEnd } of group) {
      /** Where the lines at this place in the change differ. */
      const from = (i: number) =>
        aStart + i < aEnd && made + i < madeEnd
          ? partStart(lineAt(this.#a, aStart + i), lineAt(this.#b, made + i), longest)
          : 0;
      for (; at < aStart; at++) yield* printed(" ", lineAt(this.#a, at), longest / 2);
      for (; at < aEnd; at++) yield* printed("-", lineAt(this.#a, at), longest, from(at - aStart));
      for (let i = made; i < madeEnd; i++) yield* printed("+", lineAt(this.#b, i), longest, from(i - made));
    }
    for (; at < end; at++) yield* printed(" ", lineAt(this.#a, at), longest / 2);
  }
}

/** Whether a text ends in a line without a break. */
function isOpen({ text }: NumberedLines): boolean {
  return text !== "" && !text.endsWith("\n");
}

/** How many lines end at or before an offset at which one begins. */
function linesUpTo({ starts }: NumberedLines, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function range(start: number, end: number, skipped: number): string {
  const count = end - start;
  // An empty range names the line before it.
  const line = skipped + start + (count === 0 ? 0 : 1);
  return count === 1 ? `${line}` : `${line},${count}`;
}

function* printed(sign: string, line: string, longest: number, from = 0): Generator<PrintedLine> {
  const isOpen = !line.endsWith("\n");
  const body = isOpen ? line : line.slice(0, -1);
  if (body.length <= longest) yield sign + body;
  else {
    const { text, ...left } = linePart(body, longest, from);
    yield { text: sign + text, ...left };
  }
  if (isOpen) yield "\\ No newline at end of file";
}

/** The start of the line that contains an offset, or of the line `back` lines before it. */
function lineStart(text: string, offset: number, back: number): number {
  let at = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  for (let i = 0; i < back && at > 0; i++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1;
  return at;
}

/** What is left of a common end without the line that it begins in, and so many after it. */
function linesBehind(text: string, tail: number, lines: number): number {
  let left = tail;
  for (let i = 0; i <= lines && left > 0; i++) {
    const at = text.indexOf("\n", text.length - left);
    left = at < 0 ? 0 : text.length - at - 1;
  }
  return left;
}
