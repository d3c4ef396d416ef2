// Edits as values: what a caller can ask to change in one file. Every difference between callers is a field here. In
// all texts a line break matches any line ending.
import type { ReplacementStyle } from "../regex/replacement.ts";

/** Which lines, from 1, the last one included. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** How often to replace: exactly one match; every match; or the first N. */
export type Times = "unique" | "all" | number;

/** Replace a literal text. */
export interface ReplaceEdit {
  readonly kind: "replace";
  readonly old: string;
  readonly new: string;
  readonly times: Times;
  readonly ignoreCase?: boolean;
  /**
   * Differences to ignore, in this order, if there is no exact match. Only for a unique, case-sensitive replacement.
   */
  readonly tolerances?: readonly Tolerance[];
  /** Limits for a tolerant match; without it, whatever the tolerances allow. */
  readonly stretch?: RegionLimit;
  /** Look only in these lines; the end may be after the last line. */
  readonly within?: LineRange;
}

/** A region with this many times the lines of the old text, or this many more characters, does not count. */
export interface RegionLimit {
  readonly lines: number;
  readonly characters: number;
}

/** Replace the matches of a JavaScript regular expression. */
export interface RegexEdit {
  readonly kind: "regex";
  readonly pattern: string;
  /** `m`, `i`, `s`, `u` as wanted. */
  readonly flags: string;
  readonly new: string;
  readonly style: ReplacementStyle;
  readonly times: Times;
  /** Match each line separately. */
  readonly byLine?: boolean;
  readonly within?: LineRange;
}

/** Replace whole lines. */
export interface LinesEdit extends LineRange {
  readonly kind: "lines";
  /** Needs no final line break where lines are counted by terminators; "" removes the lines. */
  readonly new: string;
}

/** Insert lines after a line: 0 is the top, -1 the end. */
export interface InsertEdit {
  readonly kind: "insert";
  readonly after: number;
  readonly new: string;
}

/** Replace lines that must be exactly at a line of the original file. */
export interface AnchoredEdit {
  readonly kind: "anchored";
  readonly line: number;
  readonly old: string;
  readonly new: string;
  /** Whether blanks at both ends of a line count in the comparison. */
  readonly compare: "exact" | "trimmed";
}

export type Edit = ReplaceEdit | RegexEdit | LinesEdit | InsertEdit | AnchoredEdit;

/** Differences that a match may ignore; see tolerance.ts. */
export type Tolerance =
  /** Blanks at line ends. */
  | "trailing_space"
  /** A common indentation; the new text goes in verbatim. */
  | "dedented"
  /** A common indentation; the new text is dedented by its own and indented like the place. */
  | "reindented"
  /** Indentation in another unit or depth, if one maps to the other; the new text is mapped the same way. */
  | "indentation"
  /** Blanks at both ends of lines. */
  | "trimmed_lines"
  /** The same, and the number of blanks between words. */
  | "collapsed"
  /** Line breaks, and the number of blanks between words. */
  | "flowed"
  /** Blanks and line breaks around the whole text. */
  | "trimmed"
  /** Typographic quotes, dashes and spaces. */
  | "typography";
