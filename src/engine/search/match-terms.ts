// Options, results and report of a search by a JavaScript expression.
import type { BinaryTest } from "./binary.ts";
import type { GrepReport } from "./grep-terms.ts";
import type { EncodingPolicy } from "./readable.ts";
import type { Scope } from "./walker.ts";
import type { WorkLimits } from "./work-slice.ts";

export interface LinePattern {
  /** A JavaScript regular expression, matched against each line. */
  readonly source: string;
  readonly flags: string;
  /** A looser one in ripgrep's syntax (regex/looser-pattern.ts), by which candidate files are found. */
  readonly looser?: string | undefined;
}

export interface MatchOptions extends Scope, WorkLimits {
  /** Lines of context before and after each match. */
  readonly context?: number | undefined;
  /** How many matching lines are enough. */
  readonly limit?: number | undefined;
  /** The most files to search, in path order. */
  readonly maxFiles?: number | undefined;
  /** Larger files are left out, and counted. Default 64 MB. */
  readonly maxFileSize?: number | undefined;
  /** Files to leave out as not text; by default none. */
  readonly binary?: BinaryTest | undefined;
  /** How bytes are read as text (readable.ts). Default: UTF-8, and UTF-16 by its mark. */
  readonly reading?: Exclude<EncodingPolicy, "detected"> | undefined;
  /** How long matching one batch of texts may take. An expression that needs longer is catastrophic. */
  readonly batchMs?: number | undefined;
}

export interface MatchReport extends GrepReport {
  /** Files that were left out because they are too large. */
  tooLarge: number;
}

export interface LineMatch {
  /** Counts from 1. */
  readonly number: number;
  /** The line without its ending, cut at 64 K. */
  readonly text: string;
  /** How many matches it has, as far as the line is here. */
  readonly count: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface FileMatches {
  /** Relative to the start, with `/`. */
  readonly path: string;
  readonly lines: readonly LineMatch[];
}
