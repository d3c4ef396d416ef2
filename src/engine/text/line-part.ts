// The part of a long line that a diff shows: what changed in it, with a little before. Without that a change far into
// a line is out of sight, and both sides look the same.
import { commonPrefix } from "./shared-ends.ts";

/** A part of a line, and how many characters of the line are before and after it. */
export interface LinePart {
  readonly text: string;
  readonly before: number;
  readonly after: number;
}

/** Characters that are shown before the change. */
const lead = 80;

/** Up to so many characters of a line, from an offset on; no character is cut in two. */
export function linePart(line: string, most: number, from = 0): LinePart {
  const start = isSecondHalf(line, from) ? from - 1 : from;
  const cut = Math.min(line.length, start + most);
  const end = isSecondHalf(line, cut) ? cut - 1 : cut;
  return { text: line.slice(start, end).toWellFormed(), before: start, after: line.length - end };
}

/** Where the parts of a line and of the one that replaced it begin, so that they can be compared. */
export function partStart(old: string, made: string, most: number): number {
  if (old === "" || made === "" || Math.max(old.length, made.length) <= most) return 0;
  const changed = commonPrefix(old, made);
  return changed + lead <= most ? 0 : changed - lead;
}

function isSecondHalf(line: string, at: number): boolean {
  return at > 0 && at < line.length && /[\udc00-\udfff]/.test(line[at] ?? "");
}
