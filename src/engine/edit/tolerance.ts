// Matching that overlooks a little, step by step. The caller lists the steps; the first with a region that fits
// decides, and if several fit there, all are returned and the edit is refused: tolerance is never a guess.
import { literalPattern } from "../regex/find.ts";
import { LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import type { Stretch, Tolerance } from "./edits.ts";
import { dedent, indentMap, isBlank, mapIndent, reindent } from "./indent.ts";
import { occurrences } from "./literal.ts";

export interface TolerantMatch {
  readonly tolerance: Tolerance;
  /** The places that fit, each with the text that goes there. */
  readonly splices: readonly Splice[];
}

/** Enough to say that there are many. */
const most = 1000;

export function tolerantMatch(
  body: string,
  old: string,
  text: string,
  steps: readonly Tolerance[],
  stretch?: Stretch,
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
  trimmed_lines: task =>
    verbatim(
      task,
      byLine(line => line.trim()),
    ),
  collapsed: task =>
    verbatim(
      task,
      byLine(line => line.trim().replace(/\s+/g, " ")),
    ),
  dedented: task => verbatim(task, sameDedented),
  reindented: task => fitted(task, sameDedented, (lines, place) => reindent(lines, place)),
  indentation: task => {
    const old = blockLines(task.old);
    return fitted(
      task,
      (a, b) => indentMap(a, b) !== undefined,
      (lines, place) => mapIndent(lines, indentMap(old, place) ?? new Map()),
    );
  },
  flowed: ({ body, old, text }) => {
    const words = old.trim().split(/\s+/);
    const regex = new RegExp(words.map(literalPattern).join("\\s+"), "gu");
    return Array.from(body.matchAll(regex), m => ({ start: m.index, end: m.index + m[0].length, text }));
  },
  trimmed: ({ body, old, text }) => {
    const core = old.trim();
    return core === old
      ? []
      : occurrences(body, core, { most, overlapping: true }).map(r => ({ ...r, text }));
  },
  typography: ({ body, old, text }) =>
    occurrences(plainType(body), plainType(old), { most, overlapping: true }).map(r => ({ ...r, text })),
};

type SameBlock = (old: readonly string[], place: readonly string[]) => boolean;

function byLine(simplified: (line: string) => string): SameBlock {
  return (old, place) => old.every((line, i) => simplified(line) === simplified(place[i] ?? ""));
}

const sameDedented: SameBlock = (old, place) => {
  const other = dedent(place);
  return dedent(old).every((line, i) => line === other[i]);
};

/** The new text goes in as it is, for the lines that fit; their last break is replaced if the old text has one. */
function verbatim(task: Task, same: SameBlock): Splice[] {
  return windows(task, same).map(({ start, end }) => {
    if (!task.old.endsWith("\n")) return { start, end, text: task.text };
    if (task.body[end] === "\n") return { start, end: end + 1, text: task.text };
    return { start, end, text: task.text.replace(/\n$/, "") };
  });
}

/** The new text is made to fit the place; the last break of the place is neither lost nor doubled. */
function fitted(task: Task, same: SameBlock, adapt: (text: string[], place: string[]) => string[]): Splice[] {
  return windows(task, same).map(({ start, end }) => {
    if (task.text === "")
      return { start, end: task.old.endsWith("\n") && task.body[end] === "\n" ? end + 1 : end, text: "" };
    const place = task.body.slice(start, end).split("\n");
    return { start, end, text: adapt(blockLines(task.text), place).join("\n") };
  });
}

/** Runs of whole lines that are the same as the old text, as `same` sees it. */
function windows({ body, index, old }: Task, same: SameBlock): { start: number; end: number }[] {
  const lines = blockLines(old);
  const found: { start: number; end: number }[] = [];
  // Only where the longest word stands can the block stand.
  const words = lines.flatMap((line, at) => line.split(/\s+/).map(word => ({ word, at })));
  const rarest = words.reduce((a, b) => (b.word.length > a.word.length ? b : a), { word: "", at: 0 });
  if (rarest.word === "") return [];
  let work = 4_000_000;
  for (let at = body.indexOf(rarest.word); at >= 0 && found.length < most; ) {
    const line = index.lineAt(at);
    const first = line - rarest.at;
    const last = first + lines.length - 1;
    if (first >= 1 && last <= index.count("split")) {
      const region = { start: index.start(first), end: index.end(last) };
      if (same(lines, body.slice(region.start, region.end).split("\n"))) found.push(region);
      work -= lines.length;
    }
    const next = index.starts[line];
    // A file of nothing but the same word could cost lines times lines; better no tolerance than that.
    if (work < 0) return [];
    at = next === undefined ? -1 : body.indexOf(rarest.word, next);
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
