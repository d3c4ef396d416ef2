// Finding a text literally, with or without case.
import { foldCase } from "../text/fold.ts";
import { indexOfText } from "../text/index-of.ts";
import type { Text } from "../text/text.ts";

export interface Region {
  readonly start: number;
  readonly end: number;
}

/**
 * Every position of a text, up to a limit. `overlapping` also counts positions that share characters, as "aa" occurs
 * twice in "aaa": a unique match must be unique in this sense.
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
  const [where, what] = options.ignoreCase ? [foldCase(body), foldCase(old)] : [body, old];
  const end = range?.end ?? body.length;
  const step = options.overlapping ? 1 : old.length;
  const found: Region[] = [];
  for (
    let at = indexOfText(where, what, range?.start ?? 0);
    at >= 0 && found.length < most;
    at = indexOfText(where, what, at + step)
  ) {
    if (at + old.length > end) break;
    found.push({ start: at, end: at + old.length });
  }
  return found;
}

/** Whether a file has lone "\r" among its other breaks; a "\n" of a searched text may match it as well. */
export function hasLoneBreaks(text: Text, old: string): boolean {
  return old.includes("\n") && text.breaks !== "cr" && text.body.includes("\r");
}

/** A new text whose breaks are "\r" where those that they replace are. */
export function keepLoneBreaks(replaced: string, text: string): string {
  const breaks = replaced.match(/[\r\n]/g) ?? [];
  let next = 0;
  return text.replaceAll("\n", () => breaks[next++] ?? "\n");
}
