// Options and results of a search by a JavaScript expression.
import type { BinaryTest } from "./binary.ts";
import type { GrepReport } from "./grep-terms.ts";
import type { Scope } from "./walker.ts";
import type { WorkLimits } from "./work-slice.ts";

export interface MatchOptions extends Scope, WorkLimits {
  /** Lines of context before and behind each match. */
  readonly context: number;
  /** How many matching lines are enough. */
  readonly limit: number;
  readonly maxFileSize: number;
  /** The most files to search, in path order. */
  readonly maxFiles: number;
  readonly binary?: BinaryTest | undefined;
}

export interface LineMatch {
  /** Counts from 1. */
  readonly number: number;
  /** The line without its ending, cut at 2,000 bytes. */
  readonly text: string;
  /** How many matches it has. */
  readonly count: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface FileMatches {
  /** Relative to the start, with `/`. */
  readonly path: string;
  readonly lines: readonly LineMatch[];
}

export interface MatchReport {
  /** Files that were searched. */
  files: number;
  /** Files and directories that could not be read. */
  inaccessible: number;
  /** Why not everything was searched, or not everything found is given. */
  stopped: GrepReport["stopped"];
}
