// Finding a text literally, with or without case.
import { literalPattern } from "../regex/find.ts";
import type { Text } from "../text/text.ts";

export interface Region {
  readonly start: number;
  readonly end: number;
}

/**
 * Every place at which a text stands, at most so many. `overlapping` also counts places that share characters, as
 * "aa" stands twice in "aaa": a unique match has to be unique in this sense.
 */
export function occurrences(
  body: string,
  old: string,
  options: {
    readonly most: number;
    readonly overlapping?: boolean;
    readonly ignoreCase?: boolean;
    readonly range?: Region;
  },
): Region[] {
  const { most, range } = options;
  const end = range?.end ?? body.length;
  const found: Region[] = [];
  if (options.ignoreCase) {
    // A literal has nothing to backtrack into, so it may run here.
    const regex = new RegExp(literalPattern(old), "giu");
    regex.lastIndex = range?.start ?? 0;
    for (let match = regex.exec(body); match !== null && found.length < most; match = regex.exec(body)) {
      if (match.index + match[0].length > end) break;
      found.push({ start: match.index, end: match.index + match[0].length });
      if (options.overlapping) regex.lastIndex = match.index + 1;
    }
    return found;
  }
  const step = options.overlapping ? 1 : old.length;
  for (
    let at = body.indexOf(old, range?.start ?? 0);
    at >= 0 && found.length < most;
    at = body.indexOf(old, at + step)
  ) {
    if (at + old.length > end) break;
    found.push({ start: at, end: at + old.length });
  }
  return found;
}

/** Whether a file has lone "\r" among its other breaks, which a "\n" of a searched text may stand for as well. */
export function hasLoneBreaks(text: Text, old: string): boolean {
  return old.includes("\n") && text.breaks !== "cr" && text.body.includes("\r");
}

/** A new text whose breaks are "\r" where those that they replace are. */
export function keepLoneBreaks(replaced: string, text: string): string {
  const breaks = replaced.match(/[\r\n]/g) ?? [];
  let next = 0;
  return text.replaceAll("\n", () => breaks[next++] ?? "\n");
}
