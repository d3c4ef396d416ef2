// Lines that match a JavaScript expression: options and report.
import type { BinaryTest } from "./binary.ts";
import type { Scope } from "./walker.ts";
import type { WorkLimits } from "./work-slice.ts";

export interface LinePattern {
  /** A JavaScript regular expression, matched against each line. */
  readonly pattern: string;
  readonly ignoreCase?: boolean | undefined;
}

export interface MatchLinesOptions extends Scope, WorkLimits {
  /** Lines of context before and behind each hit. */
  readonly context?: number | undefined;
  /** How many matching lines are enough. */
  readonly limit?: number | undefined;
  /** Files to leave out as not text; by default none. */
  readonly binary?: BinaryTest | undefined;
  /** Larger files are left out, and counted. Default 64 MB. */
  readonly maxFileSize?: number | undefined;
  /** Lines are cut here, in characters. Default 64 K. */
  readonly maxLineLength?: number | undefined;
}

export interface MatchLinesReport {
  /** Files that were left out because they are too large. */
  tooLarge: number;
}
