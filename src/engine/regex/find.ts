// Finding by JavaScript regular expressions, in one text with groups, or line by line in many. Patterns run in a
// worker thread under a deadline (pool.ts), so none can hang the process.
import { Fault } from "../fault.ts";
import { type Deadline, runJob } from "./pool.ts";
import { groupNumbers, parseRegex } from "./regex-tree.ts";

export interface FindOptions {
  /** How long matching may take; 5 seconds by default. Beyond it: `timeout`. */
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
  /** The most matches; all by default. */
  readonly limit?: number;
  /** Match each line separately: nothing crosses a line break, and ^ and $ match at line ends. */
  readonly byLine?: boolean;
}

/** A stretch of the text. */
export interface MatchSpan {
  readonly start: number;
  readonly end: number;
}

export interface Match extends MatchSpan {
  /** Group 1 is at index 0; undefined if a group took no part. */
  readonly groups: readonly (MatchSpan | undefined)[];
}

export interface RegexMatches {
  readonly matches: readonly Match[];
  /** How many groups the pattern has, and the numbers of its named ones. */
  readonly groups: number;
  readonly names: ReadonlyMap<string, number>;
  /** Whether there are more matches than the limit. */
  readonly more: boolean;
}

/** In characters. */
export const longestPattern = 4096;

export async function findAll(
  pattern: string,
  flags: string,
  text: string,
  options: FindOptions = {},
): Promise<RegexMatches> {
  const found = await findPacked(pattern, flags, text, options);
  return { ...found, matches: unpacked(found) };
}

/** The same without an object for each match: start and end of the match and of its groups, one after the other. */
export interface PackedMatches extends Omit<RegexMatches, "matches"> {
  readonly packed: Int32Array;
}

export async function findPacked(
  pattern: string,
  flags: string,
  text: string,
  options: FindOptions = {},
): Promise<PackedMatches> {
  const byLine = options.byLine ?? false;
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  let found: PackedMatches = { packed: new Int32Array(0), groups: 0, names: new Map(), more: false };
  const job = { pattern: checked(pattern), flags, texts: [text], want: "all", byLine, limit } as const;
  await runJob(job, deadline(options), result => {
    found = {
      packed: result.found,
      groups: result.groups,
      names: result.names.length === 0 ? new Map() : groupNumbers(parseRegex(pattern)),
      more: result.more,
    };
  });
  return found;
}

/** A line that matches: its number from 1, its first match in UTF-16 units from the line's start, and how many. */
export interface LineHit extends MatchSpan {
  readonly line: number;
  readonly count: number;
}

export interface LineSearch {
  /** Hits of each text that was searched, in order; shorter than the texts where time ran out. */
  readonly hits: readonly (readonly LineHit[])[];
  readonly timedOut: boolean;
}

/** Searches the lines of many texts in one job. On a timeout, returns what it has. */
export async function searchLines(
  pattern: string,
  flags: string,
  texts: readonly string[],
  options: Omit<FindOptions, "byLine"> = {},
): Promise<LineSearch> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const hits: LineHit[][] = [];
  const job = { pattern: checked(pattern), flags, texts, want: "lines", byLine: true, limit } as const;
  try {
    await runJob(job, deadline(options), ({ found }) => hits.push(lineHits(found)));
    return { hits, timedOut: false };
  } catch (error) {
    if (Fault.is(error, "timeout")) return { hits, timedOut: true };
    throw error;
  }
}

/** The source of a pattern that matches a text literally, with and without the `u` flag. */
export function literalPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function deadline(options: FindOptions): Deadline {
  return { ms: options.ms ?? 5000, signal: options.signal };
}

function checked(pattern: string): string {
  if (pattern.length <= longestPattern) return pattern;
  const problem = { is: "too_long", limit: longestPattern, unit: "characters" } as const;
  throw new Fault("invalid_pattern", { pattern: `${pattern.slice(0, 80)}…`, kind: "regex", problem });
}

export function unpacked({ packed: flat, groups }: Pick<PackedMatches, "packed" | "groups">): Match[] {
  const matches: Match[] = [];
  const stride = 2 + 2 * groups;
  for (let at = 0; at < flat.length; at += stride) {
    const spans = Array.from({ length: groups }, (_, g) => span(flat, at + 2 + 2 * g));
    matches.push({ start: flat[at] ?? 0, end: flat[at + 1] ?? 0, groups: spans });
  }
  return matches;
}

function span(flat: Int32Array, at: number): MatchSpan | undefined {
  const start = flat[at] ?? -1;
  return start < 0 ? undefined : { start, end: flat[at + 1] ?? start };
}

function lineHits(flat: Int32Array): LineHit[] {
  const hits: LineHit[] = [];
  for (let at = 0; at < flat.length; at += 4) {
    const [line = 0, start = 0, end = 0, count = 0] = flat.subarray(at, at + 4);
    hits.push({ line, start, end, count });
  }
  return hits;
}
