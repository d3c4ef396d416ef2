// Unified diffs of two texts, as `diff -u` and git print them: applying one gives the second text byte for byte.
import { diffLines, type LineChange, linesWithEndings } from "./line-diff.ts";

export interface DiffOptions {
  /** What stands behind `---` and `+++`; without them only hunks are printed. */
  readonly from?: string;
  readonly to?: string;
  /** Lines of context around a change; 3 by default. */
  readonly context?: number;
  /** How many lines of the file stand in front of both texts; 0 by default. */
  readonly skipped?: number;
}

/** The unified diff from one raw text to another; "" where they are the same. */
export function unifiedDiff(before: string, after: string, options: DiffOptions = {}): string {
  if (before === after) return "";
  const context = options.context ?? 3;
  const { a, b, start, changes } = changedLines(before, after, context);
  let skipped = options.skipped ?? 0;
  for (let at = before.indexOf("\n"); at >= 0 && at < start; at = before.indexOf("\n", at + 1)) skipped += 1;
  const parts: string[] = [];
  if (options.from !== undefined) parts.push(`--- ${options.from}\n`);
  if (options.to !== undefined) parts.push(`+++ ${options.to}\n`);
  for (const group of grouped(changes, context)) parts.push(hunk(a, b, skipped, group, context));
  return parts.join("");
}

/** The changes of a unified diff, by hunk, in lines of the whole texts. */
export function hunksBetween(before: string, after: string, context: number): LineChange[][] {
  if (before === after) return [];
  const { start, changes } = changedLines(before, after, context);
  const skipped = before.slice(0, start).split("\n").length - 1;
  const whole = changes.map(({ aStart, aEnd, bStart, bEnd }) => ({
    aStart: aStart + skipped,
    aEnd: aEnd + skipped,
    bStart: bStart + skipped,
    bEnd: bEnd + skipped,
  }));
  return grouped(whole, context);
}

/** How many lines a change added and removed. */
export function diffCounts(
  before: string,
  after: string,
): { readonly added: number; readonly removed: number } {
  let added = 0;
  let removed = 0;
  for (const change of before === after ? [] : changedLines(before, after, 0).changes) {
    added += change.bEnd - change.bStart;
    removed += change.aEnd - change.aStart;
  }
  return { added, removed };
}

/**
 * Compares only what lies between the common start and end of the two, in whole lines. The context comes from outside
 * of it: among lines that are alike, a change could otherwise take the place of its context.
 */
function changedLines(before: string, after: string, context: number) {
  const from = lineStart(before, commonPrefix(before, after), 0);
  const tail = linesBehind(before, commonSuffix(before, after, from), 0);
  const start = lineStart(before, from, context);
  const lead = linesWithEndings(before.slice(start, from));
  const rest = before.slice(before.length - tail, before.length - linesBehind(before, tail, context - 1));
  const around = (lines: readonly string[]) => [...lead, ...lines, ...linesWithEndings(rest)];
  const a = linesWithEndings(before.slice(from, before.length - tail));
  const b = linesWithEndings(after.slice(from, after.length - tail));
  const changes = diffLines(a, b).map(({ aStart, aEnd, bStart, bEnd }) => ({
    aStart: aStart + lead.length,
    aEnd: aEnd + lead.length,
    bStart: bStart + lead.length,
    bEnd: bEnd + lead.length,
  }));
  return { a: around(a), b: around(b), start, changes };
}

function grouped(changes: readonly LineChange[], context: number): LineChange[][] {
  const groups: LineChange[][] = [];
  for (const change of changes) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && change.aStart - last.aEnd <= 2 * context)
      group.push(change);
    else groups.push([change]);
  }
  return groups;
}

function hunk(
  a: readonly string[],
  b: readonly string[],
  skipped: number,
  group: readonly LineChange[],
  context: number,
): string {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) return "";
  const start = Math.max(0, first.aStart - context);
  const end = Math.min(a.length, last.aEnd + context);
  const bStart = first.bStart - (first.aStart - start);
  const bEnd = last.bEnd + (end - last.aEnd);
  const parts = [`@@ -${range(start, end, skipped)} +${range(bStart, bEnd, skipped)} @@\n`];
  let at = start;
  for (const change of group) {
    for (; at < change.aStart; at++) parts.push(printed(" ", a[at]));
    for (; at < change.aEnd; at++) parts.push(printed("-", a[at]));
    for (let i = change.bStart; i < change.bEnd; i++) parts.push(printed("+", b[i]));
  }
  for (; at < end; at++) parts.push(printed(" ", a[at]));
  return parts.join("");
}

function range(start: number, end: number, skipped: number): string {
  const count = end - start;
  // An empty range names the line before it.
  const line = skipped + start + (count === 0 ? 0 : 1);
  return count === 1 ? `${line}` : `${line},${count}`;
}

function printed(sign: string, line = ""): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}

const block = 16_384;

function commonPrefix(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at + block <= most && a.slice(at, at + block) === b.slice(at, at + block)) at += block;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return at;
}

function commonSuffix(a: string, b: string, from: number): number {
  const most = Math.min(a.length, b.length) - from;
  let tail = 0;
  while (tail + block <= most && endSlice(a, tail) === endSlice(b, tail)) tail += block;
  while (tail < most && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail += 1;
  return tail;
}

function endSlice(text: string, tail: number): string {
  return text.slice(text.length - tail - block, text.length - tail);
}

/** The start of the line that an offset lies in, and then so many lines back. */
function lineStart(text: string, offset: number, back: number): number {
  let at = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  for (let i = 0; i < back && at > 0; i++) at = at === 1 ? 0 : text.lastIndexOf("\n", at - 2) + 1;
  return at;
}

/** What is left of a common end without the line that it begins in, and so many behind it. */
function linesBehind(text: string, tail: number, lines: number): number {
  let left = tail;
  for (let i = 0; i <= lines && left > 0; i++) {
    const at = text.indexOf("\n", text.length - left);
    left = at < 0 ? 0 : text.length - at - 1;
  }
  return left;
}
