// The lines of one file that match, with those around them: exactly what ripgrep would print. Where starting a process
// would take longer than the search itself, this answers.
import type { GrepLine } from "./ripgrep-output.ts";

/** The start of the next match at or after an offset; -1 if there is none. */
type Next = (from: number) => number;

/** Prepares the search of one file's bytes; undefined if only ripgrep can do it. */
export type Finder = (bytes: Buffer) => Next | undefined;

export interface LineLimits {
  readonly before: number;
  readonly after: number;
  /** The most matches wanted. Matches in the context of the last one are still marked as matches. */
  readonly most: number;
  readonly maxLineBytes: number;
}

/**
 * The matching lines and their context, by number; undefined if only ripgrep can do it. A UTF-8 byte-order mark is
 * skipped.
 */
export function linesWith(find: Finder, whole: Buffer, wanted: LineLimits): GrepLine[] | undefined {
  const marked = whole[0] === 0xef && whole[1] === 0xbb && whole[2] === 0xbf;
  const bytes = marked ? whole.subarray(3) : whole;
  const next = find(bytes);
  if (next === undefined) return undefined;
  let match = next(0);
  if (match < 0) return [];
  const found: GrepLine[] = [];
  const { before, after, most, maxLineBytes } = wanted;
  const add = (number: number, start: number, end: number, column?: number): void => {
    const stop = end > start && end < bytes.length && bytes[end - 1] === 13 ? end - 1 : end;
    const visible = bytes.subarray(start, Math.min(stop, start + maxLineBytes));
    found.push({ number, column, bytes: visible, cut: visible.length < stop - start });
  };
  const endOf = (start: number): number => {
    const end = bytes.indexOf(10, start);
    return end < 0 ? bytes.length : end;
  };
  let number = 1; // of the line that begins at `start`
  let start = 0;
  let shown = 0; // the last line that was added
  let left = most;
  let last = Number.POSITIVE_INFINITY; // the last line of interest
  while (match >= 0) {
    // To the line that matches; those right before it are its context, those right after the last match that one's.
    const pending: [number, number, number][] = [];
    const until = found.length === 0 ? 0 : Math.min(shown + after, last);
    for (let end = endOf(start); end < match; end = endOf(start)) {
      if (number <= until) add(number, start, end);
      else if (before > 0) {
        pending.push([number, start, end]);
        if (pending.length > before) pending.shift();
      }
      number++;
      start = end + 1;
      if (number > last) return found;
    }
    for (const [at, from, to] of pending) add(at, from, to);
    const end = endOf(match);
    add(number, start, end, match - start);
    shown = number;
    if (--left === 0) last = number + after;
    number++;
    start = end + 1;
    match = number > last || start >= bytes.length ? -1 : next(start);
  }
  const until = Math.min(shown + after, last);
  for (; number <= until && start < bytes.length; number++) {
    const end = endOf(start);
    add(number, start, end);
    start = end + 1;
  }
  return found;
}
