// Colours for the lines of hunks: both texts are parsed once, and each line gets the spans that are in it.
import { spansOf } from "../engine/syntax/spans.ts";
import type { HighlightSpan } from "./api.ts";

interface Line {
  readonly hunk: number;
  readonly index: number;
  /** Offsets in the text that the line belongs to. */
  readonly start: number;
  readonly end: number;
}

/** For each hunk, for each of its lines after the first, the spans. */
export async function coloured(
  path: string,
  before: string,
  after: string,
  hunks: readonly string[],
): Promise<HighlightSpan[][][]> {
  const spans = hunks.map(hunk =>
    hunk
      .split("\n")
      .slice(1)
      .map((): HighlightSpan[] => []),
  );
  const [old, made]: [Line[], Line[]] = [[], []];
  const [oldStarts, newStarts] = [new LineStarts(before), new LineStarts(after)];
  for (const [i, hunk] of hunks.entries()) {
    const [head = "", ...lines] = hunk.split("\n");
    const [, a = "1", b = "1"] = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(head) ?? [];
    let [oldLine, newLine] = [Number(a), Number(b)];
    for (const [j, line] of lines.entries()) {
      if (line.startsWith("\\")) continue;
      const starts = line.startsWith("-") ? oldStarts : newStarts;
      const start = starts.of(line.startsWith("-") ? oldLine : newLine);
      (line.startsWith("-") ? old : made).push({ hunk: i, index: j, start, end: start + line.length - 1 });
      if (!line.startsWith("+")) oldLine++;
      if (!line.startsWith("-")) newLine++;
    }
  }
  for (const [text, lines] of [
    [before, old],
    [after, made],
  ] as const) {
    const parts = lines.flatMap(({ start, end }) => (end > start ? [start, end] : []));
    give(await spansOf(path, text, parts), lines, spans);
  }
  return spans;
}

/** A span over several lines is a span in each of them. */
function give(
  found: readonly HighlightSpan[],
  lines: readonly Line[],
  spans: readonly HighlightSpan[][][],
): void {
  let first = 0;
  for (const { hunk, index, start, end } of lines) {
    while (first < found.length && (found[first]?.[1] ?? 0) <= start) first++;
    for (let i = first; i < found.length; i++) {
      const [from, to, kind] = found[i] ?? [end, end, "comment"];
      if (from >= end) break;
      spans[hunk]?.[index]?.push([Math.max(from, start) - start, Math.min(to, end) - start, kind]);
    }
  }
}

/** Where lines begin, asked about in rising order. */
class LineStarts {
  readonly #text: string;
  #line = 1;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
  }

  of(line: number): number {
    for (; this.#line < line; this.#line++) {
      const end = this.#text.indexOf("\n", this.#start);
      this.#start = end < 0 ? this.#text.length : end + 1;
    }
    return this.#start;
  }
}
