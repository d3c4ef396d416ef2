// Finds the position of a hunk in a file. With a line number: there, if its old lines match; otherwise at the only
// place where they do, under git's rules (a hunk without trailing context belongs to the end of the file, one from line
// 1 to its start). If its line number and these rules name two places, it has none. Without a number: at the only place
// after the previous hunk, or the first one after its anchor.
import type { FileLine } from "./file-lines.ts";
import type { PatchHunk, PatchLine } from "./notation/file-patch.ts";

export interface HunkSearch {
  readonly lines: readonly FileLine[];
  /** Line endings must be the patch's. */
  readonly literal: boolean;
  /** The file is known to be the one that the patch was made from. */
  readonly verified: boolean;
}

interface LineSpan {
  readonly start: number;
  readonly end: number;
}

export interface HunkPosition {
  /** The first line, from 0. */
  readonly at: number;
  /** How many lines below its stated line number it is; 0 if it has no number. */
  readonly offset: number;
  /** Its old lines match only without the whitespace at their ends. */
  readonly isTrimmed?: true;
}

/** Why a hunk has no place. `no_anchor`: no line is what its `@@` names. `not_at_end`: see `locateByNumber`. */
type NoPlace = "no_match" | "ambiguous" | "no_anchor" | "not_at_end";

/** The place of a hunk, or why it has none. `used` are the lines of the hunks before; `drift` is how far they moved. */
export function locate(
  hunk: PatchHunk,
  target: HunkSearch,
  used: readonly LineSpan[],
  drift: number,
): HunkPosition | NoPlace {
  return hunk.oldStart === undefined
    ? locateByContext(hunk, target, used.at(-1)?.end ?? 0)
    : locateByNumber(hunk, hunk.oldStart, target, used, drift);
}

function locateByNumber(
  hunk: PatchHunk,
  oldStart: number,
  target: HunkSearch,
  used: readonly LineSpan[],
  drift: number,
): HunkPosition | NoPlace {
  const { lines } = target;
  const old = hunk.lines.filter(line => line.sign !== "+");
  const floor = used.at(-1)?.end ?? 0;
  if (old.length === 0) {
    // Nothing to recognise the place by: only a known file, or its end, is safe.
    const safe = target.verified || oldStart === lines.length;
    const complete = lines.at(-1)?.end !== "" || oldStart < lines.length;
    return safe && complete && oldStart >= floor && oldStart <= lines.length
      ? { at: oldStart, offset: 0 }
      : "no_match";
  }
  const stated = oldStart - 1;
  const wanted = old.map(line => sameLine(line, target));
  const isAtEnd = (at: number) => at + old.length === lines.length;
  const fits = (at: number) => at >= 0 && matches(wanted, lines, at);
  const hasContext = old.some(line => line.sign === " ");
  const toEnd = hunk.lines.at(-1)?.sign !== " ";
  if (drift === 0 && stated >= floor && fits(stated)) {
    const isEither = toEnd && hasContext && !target.verified && !isAtEnd(stated);
    return isEither && fits(lines.length - old.length) ? "ambiguous" : { at: stated, offset: 0 };
  }
  // Changed lines alone do not identify a place: such a hunk applies at its line number or not at all.
  if (!hasContext) return "no_match";
  const everywhere: number[] = [];
  for (const at of likelyPlaces(old, lines)) {
    if (everywhere.length === 1000 || (oldStart <= 1 && at > 0)) break;
    if (fits(at) && used.every(range => at + old.length <= range.start || at >= range.end))
      everywhere.push(at);
  }
  // Its own line number, if no other place has these lines: the hunks before it moved, and it did not.
  if (everywhere.length === 1 && everywhere[0] === stated && stated >= floor)
    return { at: stated, offset: 0 };
  const places = toEnd ? everywhere.filter(isAtEnd) : everywhere;
  const [only] = places;
  const expected = stated + drift;
  if (only === undefined) return everywhere.length > 0 ? "not_at_end" : "no_match";
  if (places.length > 1) {
    // Of several, only the one with the same offset as the previous hunks, if no other is nearer.
    const nearest = places.filter(at => Math.abs(at - stated) <= Math.abs(expected - stated));
    const agreed = drift !== 0 && nearest.length === 1 && nearest[0] === expected && expected >= floor;
    return agreed ? { at: expected, offset: drift } : "ambiguous";
  }
  return only >= floor ? { at: only, offset: only - stated } : "no_match";
}

function locateByContext(hunk: PatchHunk, target: HunkSearch, floor: number): HunkPosition | NoPlace {
  const { lines } = target;
  const old = hunk.lines.filter(line => line.sign !== "+");
  const starts = hunk.anchors.length === 0 ? undefined : anchored(hunk.anchors, lines, floor);
  if (starts?.length === 0) return "no_anchor";
  if (old.length === 0) {
    if (starts !== undefined && starts.length > 1) return "ambiguous";
    return { at: starts?.[0] === undefined ? lines.length : starts[0] + 1, offset: 0 };
  }
  const likely = likelyPlaces(old, lines).filter(at => at >= floor);
  // First as it is, then without the whitespace at line ends.
  for (const isTrimmed of [false, true]) {
    const simple = (text: string) => (isTrimmed ? text.trimEnd() : text);
    const wanted = old.map((line): SameLine => {
      const text = simple(line.text);
      return other => text === simple(other.text);
    });
    const places: number[] = [];
    for (const at of likely) {
      if (places.length === 1000) break;
      if (hunk.atEnd && at + old.length !== lines.length) continue;
      if (matches(wanted, lines, at)) places.push(at);
    }
    const chosen =
      starts === undefined
        ? places
        : [...new Set(starts.map(start => places.find(at => at >= start)))].filter(at => at !== undefined);
    const [only] = chosen;
    if (chosen.length > 1) return "ambiguous";
    if (only !== undefined) return { at: only, offset: 0, ...(isTrimmed && { isTrimmed }) };
  }
  return "no_match";
}

/** The candidate positions, in order: those of the rarest old line. Testing every position would be quadratic. */
function likelyPlaces(old: readonly PatchLine[], lines: readonly FileLine[]): number[] {
  const found = new Map<string, { readonly i: number; readonly at: number[] }>();
  for (const [i, { text }] of old.entries()) found.set(text.trimEnd(), { i, at: [] });
  for (const [at, { text }] of lines.entries()) found.get(text.trimEnd())?.at.push(at);
  const [first, ...others] = found.values();
  if (first === undefined) return [];
  const { i, at: rarest } = others.reduce((a, b) => (b.at.length < a.at.length ? b : a), first);
  return rarest.map(at => at - i).filter(at => at >= 0 && at + old.length <= lines.length);
}

/** The lines at which a chain of anchors ends, for each place where it can begin. Part of a line will do. */
function anchored(anchors: readonly string[], lines: readonly FileLine[], floor: number): number[] {
  const ends = new Set<number>();
  for (const isNamed of anchorTests) {
    const find = (anchor: string, from: number) => {
      for (let at = from; at < lines.length; at++) if (isNamed(lines[at]?.text ?? "", anchor)) return at;
      return -1;
    };
    const [first = "", ...inner] = anchors;
    for (let at = find(first, floor); at >= 0 && ends.size < 1000; at = find(first, at + 1)) {
      const end = inner.reduce((from, anchor) => (from < 0 ? -1 : find(anchor, from + 1)), at);
      // A line that does not occur after this position does not occur after a later one either.
      if (end < 0) break;
      ends.add(end);
    }
    if (ends.size > 0) break;
  }
  return [...ends];
}

/** Whether a line is what an anchor names, the strictest test first. */
const anchorTests: readonly ((line: string, anchor: string) => boolean)[] = [
  (line, anchor) => line === anchor,
  (line, anchor) => line.trim() === anchor.trim(),
  (line, anchor) => line.includes(anchor.trim()),
];

type SameLine = (line: FileLine) => boolean;

function matches(old: readonly SameLine[], lines: readonly FileLine[], at: number): boolean {
  for (let i = 0; i < old.length; i++) {
    const line = lines[at + i];
    if (line === undefined || !old[i]?.(line)) return false;
  }
  return true;
}

function sameLine(line: PatchLine, target: HunkSearch): SameLine {
  if (!target.literal) return other => line.text === other.text && line.end === (other.end !== "");
  const whole = line.text + (line.end ? "\n" : "");
  return other => whole === other.text + other.end;
}
