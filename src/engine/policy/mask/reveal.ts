// Checks a text that was made of other texts, such as a merge: each part that a mask hides in all of them must stay
// hidden. Masks go by the structure around a value, so lines that are hidden in each text can show when put together.
import { lineEnd, nextLine } from "./key-value.ts";
import { hiddenSpans, type MaskFormat } from "./mask.ts";

/** How much of a text is shown: all, none, or what a mask leaves. */
export type Visibility = "full" | "none" | MaskFormat;

export interface SeenText {
  readonly text: string;
  readonly as: Visibility;
}

type HiddenRange = readonly [start: number, end: number];

/** Whether a line of `made` shows something that it shows in none of the texts that it is made of. */
export function revealsMore(made: SeenText, origins: readonly SeenText[]): boolean {
  const known = new Map<string, (readonly HiddenRange[])[]>();
  for (const origin of origins)
    for (const [line, hidden] of linesOf(origin)) {
      const found = known.get(line);
      if (found === undefined) known.set(line, [hidden]);
      else found.push(hidden);
    }
  for (const [line, hidden] of linesOf(made)) {
    if (line.trim() === "") continue;
    // A line that is in none of them cannot be compared: it counts as hidden.
    const before = known.get(line) ?? [[[0, line.length] as const]];
    if (!before.some(spans => spans.every(span => isCovered(span, hidden)))) return true;
  }
  return false;
}

/** Each line without its ending, with the spans of it that are hidden. */
function* linesOf({ text, as }: SeenText): Generator<[line: string, hidden: HiddenRange[]]> {
  const spans = as === "full" ? [] : as === "none" ? [{ start: 0, end: text.length }] : hiddenSpans(text, as);
  let first = 0;
  for (let at = text.startsWith("\ufeff") ? 1 : 0; at < text.length; ) {
    const end = lineEnd(text, at);
    while (first < spans.length && (spans[first]?.end ?? 0) <= at) first++;
    const hidden: HiddenRange[] = [];
    for (let i = first; i < spans.length && (spans[i]?.start ?? 0) < end; i++) {
      const { start = 0, end: stop = 0 } = spans[i] ?? {};
      hidden.push([Math.max(start, at) - at, Math.min(stop, end) - at]);
    }
    yield [text.slice(at, end), hidden];
    at = nextLine(text, end);
  }
}

/** Whether spans in order cover all of one. */
function isCovered([start, end]: HiddenRange, spans: readonly HiddenRange[]): boolean {
  let reached = start;
  for (const [from, to] of spans) if (from <= reached) reached = Math.max(reached, to);
  return reached >= end;
}
