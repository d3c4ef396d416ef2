// Search in files by a JavaScript expression or a plain text, line by line, in path order. Ripgrep does what both
// engines mean alike, at its speed and in linear time; an expression that only JavaScript knows is run over the
// walked files in a worker that can be stopped (scan.ts). Both give the same values.
import { Fault } from "../fault.ts";
import type { Expression } from "../regex/expression.ts";
import { literalPattern, searchLines } from "../regex/find.ts";
import type { Directory } from "../workspace/directory.ts";
import type { FileMatches, LineMatch, MatchOptions, MatchReport } from "./file-matches.ts";
import { grep } from "./grep.ts";
import type { FileHits, FoundLine } from "./grep-terms.ts";
import type { Query } from "./ripgrep.ts";
import { scan } from "./scan.ts";
import { WorkSlice } from "./work-slice.ts";

const maxLineBytes = 2000;
const countMs = 1000;

/** Faults: `invalid_pattern`, `cancelled`, `spawn_failed`. */
export async function* matches(
  start: Directory,
  sought:
    | Expression
    | { readonly literal: string; readonly ignoreCase: boolean; readonly wholeWord: boolean },
  options: MatchOptions,
  report: MatchReport,
): AsyncGenerator<FileMatches, void, undefined> {
  if ("literal" in sought) {
    const { literal, ignoreCase, wholeWord } = sought;
    const query = { pattern: literal, literal: true, ignoreCase, wholeWord };
    const text = literalPattern(literal);
    // As in ripgrep: no word character next to the match, whatever the pattern begins and ends with.
    const source = wholeWord
      ? `(?<![\\p{L}\\p{M}\\p{N}\\p{Pc}])${text}(?![\\p{L}\\p{M}\\p{N}\\p{Pc}])`
      : text;
    const counter = counterOf(source, ignoreCase ? "iu" : "u", true);
    yield* searched(start, query, counter, options, report);
  } else if (sought.linear === undefined) yield* scan(start, sought, options, report);
  else {
    const query = { pattern: sought.linear, ignoreCase: sought.ignoreCase };
    const counter = counterOf(sought.source, sought.flags, sought.quick);
    yield* searched(start, query, counter, options, report);
  }
}

async function* searched(
  start: Directory,
  query: Query,
  count: Counter,
  options: MatchOptions,
  report: MatchReport,
): AsyncGenerator<FileMatches, void, undefined> {
  const { context } = options;
  const pace = new WorkSlice(options);
  const search = grep(start, query, { ...options, before: context, after: context, maxLineBytes });
  for await (const file of search)
    yield { path: file.path, lines: await lineMatches(file, context, count, pace) };
  Object.assign(report, search.report);
}

async function lineMatches(
  { lines }: FileHits,
  context: number,
  count: Counter,
  pace: WorkSlice,
): Promise<LineMatch[]> {
  const hits = lines.flatMap((line, at) => (line.column === undefined ? [] : [{ line, at }]));
  const counts = await count(
    hits.map(({ line }) => line.text),
    Math.min(countMs, pace.left),
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
type Counter = (lines: readonly string[], ms: number) => Promise<readonly number[]>;

/** Safe patterns are counted here; others in a worker, and as one if that takes too long. */
function counterOf(source: string, flags: string, quick: boolean): Counter {
  if (quick) {
    const regex = new RegExp(source, `${flags}g`);
    return async lines => lines.map(line => Math.max(1, line.match(regex)?.length ?? 0));
  }
  return async (lines, ms) => {
    try {
      const { hits } = await searchLines(source, flags, [lines.join("\n")], { ms });
      const counts = lines.map(() => 1);
      for (const { line, count } of hits[0] ?? []) counts[line - 1] = count;
      return counts;
    } catch (error) {
      if (error instanceof Fault) return [];
      throw error;
    }
  };
}
