// Search in files by a JavaScript expression or a literal, line by line, in path order, with the number of matches in
// each line. ripgrep searches for what means the same in both engines, at its speed and in linear time; an expression
// that only JavaScript knows runs in a worker that can be stopped (match-lines.ts). Both give the same values.
import { Fault } from "../fault.ts";
import type { Expression } from "../regex/expression.ts";
import { literalPattern, searchLines } from "../regex/find.ts";
import type { Directory } from "../workspace/directory.ts";
import { grep } from "./grep.ts";
import type { FileHits, FoundLine, GrepReport } from "./grep-terms.ts";
import { matchLines } from "./match-lines.ts";
import type { FileMatches, LineMatch, MatchOptions } from "./match-terms.ts";
import type { Query } from "./ripgrep.ts";
import { WorkSlice } from "./work-slice.ts";

const countMs = 1000;

/** Faults: `invalid_pattern`, `cancelled`, `spawn_failed`. */
export async function* matches(
  start: Directory,
  sought:
    | Expression
    | { readonly literal: string; readonly ignoreCase: boolean; readonly wholeWord: boolean },
  options: MatchOptions,
  report: GrepReport,
): AsyncGenerator<FileMatches, void, undefined> {
  const { context = 0 } = options;
  const slice = new WorkSlice(options);
  const search = searchOf(start, sought, options);
  for await (const file of search.files)
    yield { path: file.path, lines: await lineMatches(file, context, search.count, slice) };
  const { files, inaccessible, stopped } = search.files.report;
  Object.assign(report, { files, inaccessible, stopped });
}

interface CountedSearch {
  readonly files: AsyncIterable<FileHits> & { readonly report: Readonly<GrepReport> };
  readonly count: Counter;
}

function searchOf(
  start: Directory,
  sought: Parameters<typeof matches>[1],
  options: MatchOptions,
): CountedSearch {
  const { context } = options;
  const byRipgrep = (query: Query) =>
    grep(start, query, {
      ...options,
      before: context,
      after: context,
      countsFiles: true,
    });
  if ("literal" in sought) {
    const { literal, ignoreCase, wholeWord } = sought;
    const text = literalPattern(literal);
    // As in ripgrep: no word character next to the match, whatever the pattern begins and ends with.
    const source = wholeWord
      ? `(?<![\\p{L}\\p{M}\\p{N}\\p{Pc}])${text}(?![\\p{L}\\p{M}\\p{N}\\p{Pc}])`
      : text;
    const count = counterOf(source, ignoreCase ? "iu" : "u", true);
    return { files: byRipgrep({ pattern: literal, literal: true, ignoreCase, wholeWord }), count };
  }
  const { source, flags, linear, ignoreCase, quick } = sought;
  if (linear === undefined) {
    const files = matchLines(start, { source, flags }, options);
    return { files, count: async lines => lines.map(({ count }) => count ?? 1) };
  }
  return { files: byRipgrep({ pattern: linear, ignoreCase }), count: counterOf(source, flags, quick) };
}

async function lineMatches(
  { lines }: FileHits,
  context: number,
  count: Counter,
  slice: WorkSlice,
): Promise<LineMatch[]> {
  const hits = lines.flatMap((line, at) => (line.column === undefined ? [] : [{ line, at }]));
  const counts = await count(
    hits.map(({ line }) => line),
    Math.min(countMs, slice.left),
  );
  return hits.map(({ line: { number, text }, at }, i) => ({
    number,
    text,
    count: counts[i] ?? 1,
    ...around(lines, at, number, context),
  }));
}

function around(lines: readonly FoundLine[], at: number, number: number, context: number) {
  const near = lines.slice(Math.max(0, at - context), at + context + 1);
  const between = (from: number, to: number) =>
    near.filter(line => line.number >= from && line.number <= to).map(line => line.text);
  return { before: between(number - context, number - 1), after: between(number + 1, number + context) };
}

/** How many matches each of some lines has, all of which have one. */
type Counter = (lines: readonly FoundLine[], ms: number) => Promise<readonly number[]>;

/** Safe patterns are counted here; others in a worker, and as one if that takes too long. */
function counterOf(source: string, flags: string, quick: boolean): Counter {
  if (quick) {
    const regex = new RegExp(source, `${flags}g`);
    return async lines => lines.map(({ text }) => Math.max(1, text.match(regex)?.length ?? 0));
  }
  return async (lines, ms) => {
    try {
      const text = lines.map(line => line.text).join("\n");
      const { hits } = await searchLines(source, flags, [text], { ms });
      const counts = lines.map(() => 1);
      for (const { line, count } of hits[0] ?? []) counts[line - 1] = count;
      return counts;
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    }
  };
}
