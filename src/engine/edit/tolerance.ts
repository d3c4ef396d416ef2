// Matching that overlooks a little, step by step. The caller lists the steps; the first with a region that fits
// decides, and if several fit there, all are returned and the edit is refused: tolerance is never a guess.
import { indexOfText } from "../text/index-of.ts";
import { LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import type { RegionLimit, Tolerance } from "./edits.ts";
import { dedent, indentMap, indentOf, isBlank, mapIndent, reindent } from "./indent.ts";
import { occurrences, type Region } from "./literal.ts";

export interface TolerantMatch {
  readonly tolerance: Tolerance;
  /** The places that fit, each with the text that goes there. */
  readonly splices: readonly Splice[];
}

/** Enough to say that there are many. */
const most = 1000;
/** How many lines, or characters, to compare for one step. A file of nothing but the same word could cost lines
 * times lines; better no tolerance than that. */
const mostLines = 500_000;
const mostCharacters = 5_000_000;

export function tolerantMatch(
  body: string,
  old: string,
  text: string,
  steps: readonly Tolerance[],
  stretch?: RegionLimit,
): TolerantMatch | undefined {
  if (isBlank(old) || steps.length === 0) return undefined;
  const index = new LineIndex(body);
  const lines = countBreaks(old) + 1;
  for (const tolerance of steps) {
    const splices = find[tolerance]({ body, index, old, text }).filter(({ start, end }) => {
      if (stretch === undefined) return true;
      const region = body.slice(start, end);
      const tooLong = region.length >= old.length + stretch.characters;
      return !tooLong && countBreaks(region) + 1 < lines * stretch.lines;
    });
    if (splices.length > 0) return { tolerance, splices };
  }
  return undefined;
}

interface Task {
  readonly body: string;
  readonly index: LineIndex;
  readonly old: string;
  readonly text: string;
}

const find: Readonly<Record<Tolerance, (task: Task) => Splice[]>> = {
  trailing_space: task =>
    verbatim(
      task,
      byLine(line => line.trimEnd()),
    ),
  trimmed_lines: task => verbatim(task, trimmedLines),
  collapsed: task =>
    verbatim(
      task,
      byLine(line => line.trim().replace(/\s+/g, " ")),
    ),
  dedented: task => verbatim(task, dedented),
  reindented: task => fitted(task, dedented, (lines, place) => reindent(lines, place)),
  indentation: task => {
    const old = blockLines(task.old);
    return fitted(task, trimmedLines, (lines, place) => {
      const map = indentMap(old, place);
      return map && mapIndent(lines, map);
    });
  },
  flowed: ({ body, old, text }) => flowed(body, old.trim().split(/\s+/)).map(r => ({ ...r, text })),
  trimmed: ({ body, old, text }) => {
    const core = old.trim();
    return core === old
      ? []
      : occurrences(body, core, { most, overlapping: true }).map(r => ({ ...r, text }));
  },
  typography: ({ body, old, text }) =>
    occurrences(plainType(body), plainType(old), { most, overlapping: true }).map(r => ({ ...r, text })),
};

/** Compares the lines of a region with the old ones: called once for each region, then line by line. */
type LineComparison = (old: readonly string[]) => () => (line: string, i: number) => boolean;

function byLine(simplified: (line: string) => string): LineComparison {
  return old => {
    const wanted = old.map(simplified);
    return () => (line, i) => simplified(line) === wanted[i];
  };
}

const trimmedLines = byLine(line => line.trim());

const dedented: LineComparison = old => {
  const wanted = dedent(old);
  return () => {
    let depth: number | undefined;
    return (line, i) => {
      const text = wanted[i] ?? "";
      if (text === "") return isBlank(line);
      depth ??= line.length - text.length;
      const deepEnough = depth >= 0 && indentOf(line).length >= depth;
      return deepEnough && line.length === depth + text.length && line.endsWith(text);
    };
  };
};

/** The new text goes in as it is, for the lines that fit; their last break is replaced if the old text has one. */
function verbatim(task: Task, compare: LineComparison): Splice[] {
  return windows(task, compare).map(({ start, end }) => {
    if (!task.old.endsWith("\n")) return { start, end, text: task.text };
    if (task.body[end] === "\n") return { start, end: end + 1, text: task.text };
    return { start, end, text: task.text.replace(/\n$/, "") };
  });
}

/** The new text is made to fit the place; the last break of the place is neither lost nor doubled. */
function fitted(
  task: Task,
  compare: LineComparison,
  adapt: (text: string[], place: string[]) => string[] | undefined,
): Splice[] {
  return windows(task, compare).flatMap(({ start, end }) => {
    const adapted = adapt(blockLines(task.text), task.body.slice(start, end).split("\n"));
    if (adapted === undefined) return [];
    if (task.text !== "") return [{ start, end, text: adapted.join("\n") }];
    const whole = task.old.endsWith("\n") && task.body[end] === "\n";
    return [{ start, end: whole ? end + 1 : end, text: "" }];
  });
}

/** Runs of whole lines that equal the old text under the comparison. */
function windows({ body, index, old }: Task, compare: LineComparison): Region[] {
  const lines = blockLines(old);
  const found: Region[] = [];
  const rarest = rarestWord(body, lines);
  if (rarest === undefined || rarest.count === 0) return [];
  const begin = compare(lines);
  const count = index.count("split");
  let left = mostLines;
  for (let at = indexOfText(body, rarest.word); at >= 0 && found.length < most; ) {
    const line = index.lineAt(at);
    const first = line - rarest.at;
    if (first >= 1 && first + lines.length - 1 <= count) {
      const same = begin();
      let i = 0;
      while (i < lines.length && same(body.slice(index.start(first + i), index.end(first + i)), i)) i += 1;
      if (i === lines.length) found.push({ start: index.start(first), end: index.end(first + i - 1) });
      left -= i + 1;
      if (left < 0) return [];
    }
    const next = index.starts[line];
    at = next === undefined ? -1 : indexOfText(body, rarest.word, next);
  }
  return found;
}

/** The block can only be where this word occurs: one of its longest, with the fewest occurrences. */
function rarestWord(
  body: string,
  lines: readonly string[],
): { readonly word: string; readonly at: number; readonly count: number } | undefined {
  const words = new Map<string, number>();
  for (const [at, line] of lines.entries()) {
    for (const word of line.split(/\s+/)) if (word !== "" && !words.has(word)) words.set(word, at);
  }
  const longest = [...words].sort(([a], [b]) => b.length - a.length).slice(0, 8);
  const counted = longest.map(([word, at]) => ({
    word,
    at,
    count: occurrences(body, word, { most }).length,
  }));
  return counted.sort((a, b) => a.count - b.count)[0];
}

/** Where words follow each other with any blanks and line breaks between them. */
function flowed(body: string, words: readonly string[]): Region[] {
  const [first = ""] = words;
  if (rarestWord(body, words)?.count === 0) return [];
  const blanks = /\s+/y;
  const found: Region[] = [];
  let left = mostCharacters;
  for (let start = indexOfText(body, first); start >= 0; start = indexOfText(body, first, start + 1)) {
    let end = start + first.length;
    let i = 1;
    for (; i < words.length; i++) {
      const word = words[i] ?? "";
      blanks.lastIndex = end;
      if (!blanks.test(body) || !body.startsWith(word, blanks.lastIndex)) break;
      end = blanks.lastIndex + word.length;
    }
    if (i >= words.length && found.push({ start, end }) >= most) break;
    left -= Math.max(end, blanks.lastIndex) - start;
    if (left < 0) return [];
  }
  return found;
}

/** The lines of a block; one final break ends the last line. */
function blockLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

const typographic: Readonly<Record<string, string>> = Object.fromEntries([
  ..."\u2018\u2019\u201a\u201b\u2032".split("").map(c => [c, "'"]),
  ..."\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb".split("").map(c => [c, '"']),
  ..."\u2010\u2011\u2012\u2013\u2014\u2015\u2212".split("").map(c => [c, "-"]),
  ..."\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
    .split("")
    .map(c => [c, " "]),
]);
const typographicCharacter = new RegExp(`[${Object.keys(typographic).join("")}]`, "g");

/** A text with plain quotes, dashes and spaces, character for character, so that offsets stay. */
export function plainType(text: string): string {
  return text.replace(typographicCharacter, char => typographic[char] ?? char);
}

function countBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
