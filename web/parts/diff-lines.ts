// A hunk as rows: its lines with their numbers, pairs of old and new lines beside each other, and what differs within
// a pair.
import type { HighlightSpan, Hunk, SpanKind } from "../../src/review/api.ts";

export interface DiffLine {
  readonly sign: " " | "-" | "+" | "\\";
  readonly text: string;
  readonly old?: number;
  readonly new?: number;
  readonly spans: readonly HighlightSpan[];
  /** The part that differs from the line that it replaces. */
  readonly word?: readonly [start: number, end: number];
}

export interface DiffPair {
  readonly left?: DiffLine;
  readonly right?: DiffLine;
}

/** After this many lines, a hunk is shown in part. */
export const shownLines = 1_000;

export function linesOf({ text, spans }: Hunk): {
  readonly head: string;
  readonly lines: readonly DiffLine[];
} {
  const [head = "", ...rest] = text.split("\n");
  if (rest.at(-1) === "") rest.pop();
  const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
  let [old, made] = [Number(oldStart ?? 1), Number(newStart ?? 1)];
  const lines = rest.map((line, i): DiffLine => {
    const sign = (line[0] ?? " ") as DiffLine["sign"];
    const common = { sign, text: line.slice(1), spans: spans[i] ?? [] };
    if (sign === "-") return { ...common, old: old++ };
    if (sign === "+") return { ...common, new: made++ };
    if (sign === "\\") return common;
    return { ...common, sign: " ", old: old++, new: made++ };
  });
  return { head, lines: withWords(lines) };
}

/** For side by side: runs of removed and added lines are beside each other. */
export function pairsOf(lines: readonly DiffLine[]): readonly DiffPair[] {
  const pairs: DiffPair[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as DiffLine;
    if (line.sign === " ") {
      pairs.push({ left: line, right: line });
      i++;
      continue;
    }
    const removed: DiffLine[] = [];
    const added: DiffLine[] = [];
    for (let next = lines[i]; next !== undefined && next.sign !== " "; next = lines[++i]) {
      const isOld = next.sign === "-" || (next.sign === "\\" && added.length === 0);
      (isOld ? removed : added).push(next);
    }
    for (let j = 0; j < Math.max(removed.length, added.length); j++) {
      const [left, right] = [removed[j], added[j]];
      pairs.push({ ...(left && { left }), ...(right && { right }) });
    }
  }
  return pairs;
}

/** Marks what differs within lines that replace each other. Lines that have little in common are left alone. */
function withWords(lines: readonly DiffLine[]): readonly DiffLine[] {
  const marked = [...lines];
  for (let i = 0; i < marked.length; ) {
    let removed = 0;
    while (marked[i + removed]?.sign === "-") removed++;
    let added = 0;
    while (marked[i + removed + added]?.sign === "+") added++;
    if (removed > 0 && added > 0) {
      for (let j = i; j < i + Math.min(removed, added); j++) {
        const [before, after] = [marked[j], marked[j + removed]];
        if (before === undefined || after === undefined) continue;
        const [start, tail] = wholeWords(before.text, after.text, commonEnds(before.text, after.text));
        const shared = start + tail;
        if (shared * 3 < Math.max(before.text.length, after.text.length)) continue;
        marked[j] = { ...before, word: [start, before.text.length - tail] };
        marked[j + removed] = { ...after, word: [start, after.text.length - tail] };
      }
    }
    i += Math.max(1, removed + added);
  }
  return marked;
}

function commonEnds(a: string, b: string): [start: number, tail: number] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start++;
  let tail = 0;
  while (tail < most - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [start, tail];
}

/** Widened to whole words: a marked half of a word is hard to read. */
function wholeWords(a: string, b: string, [start, tail]: [number, number]): [start: number, tail: number] {
  const isWord = (text: string, at: number) => /\w/.test(text[at] ?? "");
  while (start > 0 && isWord(a, start - 1) && (isWord(a, start) || isWord(b, start))) start--;
  const ends = () => [a.length - tail, b.length - tail] as const;
  const cuts = (text: string, at: number) => isWord(text, at - 1) && isWord(text, at);
  while (tail > 0 && (cuts(a, ends()[0]) || cuts(b, ends()[1]))) tail--;
  return [start, tail];
}

export interface Segment {
  readonly text: string;
  readonly kind?: SpanKind;
  readonly isWord: boolean;
}

/** The line cut where a colour or the differing part begins or ends. */
export function segmentsOf({ text, spans, word }: DiffLine): readonly Segment[] {
  if (spans.length === 0 && word === undefined) return [{ text, isWord: false }];
  const cuts = new Set([0, text.length, ...(word ?? [])]);
  for (const [start, end] of spans) cuts.add(start).add(end);
  const places = [...cuts].filter(cut => cut >= 0 && cut <= text.length).sort((a, b) => a - b);
  const segments: Segment[] = [];
  let next = 0;
  for (let i = 0; i + 1 < places.length; i++) {
    const [from = 0, to = 0] = [places[i], places[i + 1]];
    while (next < spans.length && (spans[next]?.[1] ?? 0) <= from) next++;
    const span = spans[next];
    const kind = span !== undefined && span[0] <= from ? span[2] : undefined;
    const isWord = word !== undefined && from >= word[0] && to <= word[1];
    segments.push({ text: text.slice(from, to), isWord, ...(kind && { kind }) });
  }
  return segments;
}
