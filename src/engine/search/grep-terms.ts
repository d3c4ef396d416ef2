// Options, results and report of a search.

import type { BinaryTest } from "./binary.ts";
import type { EncodingPolicy } from "./readable.ts";
import type { GrepLine } from "./ripgrep-output.ts";
import type { Scope } from "./walker.ts";
import type { WorkLimits } from "./work-slice.ts";

/** Lines with their numbers, names of files, or how many lines match in each. */
export type ResultForm = "lines" | "files" | "counts";

export interface GrepOptions extends Scope, WorkLimits {
  /** Lines of context before and after each hit. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
  /** Search only this file of the start, by its name, regardless of the scope. */
  readonly file?: string | undefined;
  /** What to give of each file: its lines (default), only its name, or how many lines match. */
  readonly form?: ResultForm | undefined;
  /**
   * How many matching lines are enough; in the other result forms, how many files. The search ends at the file with
   * the last of them, often before the whole tree was searched; the report then says so.
   */
  readonly limit?: number | undefined;
  /** How many matching lines of one file are needed; by default all. */
  readonly perFile?: number | undefined;
  /** The most files to search, the first in path order. */
  readonly maxFiles?: number | undefined;
  /** Larger files are left out. */
  readonly maxFileSize?: number | undefined;
  /** Files to leave out as not text; by default none. */
  readonly binary?: BinaryTest | undefined;
  /** Lines are cut here. */
  readonly maxLineBytes?: number | undefined;
  /** In a multi-line search: a hit is a match with all its lines, and not each of them. */
  readonly perMatch?: boolean | undefined;
  /**
   * Count the files that were searched, in the same way each time: a tree is searched with ripgrep alone, which counts
   * more than a search in process that ends early.
   */
  readonly countsFiles?: boolean | undefined;
  /** Tell where in its line the first match begins. */
  readonly columns?: boolean | undefined;
  /** How bytes are read as text (readable.ts). Default: UTF-8, and UTF-16 by its mark. */
  readonly reading?: EncodingPolicy | undefined;
}

/** A matching line, or a line of context. */
export interface FoundLine {
  /** Counts from 1. */
  readonly number: number;
  /** Byte offset of the first match, from 0, or 0 if columns were not requested; undefined for context. */
  readonly column: number | undefined;
  /** Without its line ending. With `perMatch`, all lines of the match. */
  readonly text: string;
  /** Whether the line was longer. */
  readonly cut: boolean;
  /** How many matches it has, where JavaScript's engine found them. */
  readonly count?: number | undefined;
}

export interface FileHits {
  /** Relative to the start, with `/`. */
  readonly path: string;
  /** Where the path is not valid UTF-8. */
  readonly raw?: Buffer;
  /** Matching lines and their context, by number. Empty for names and counts. */
  readonly lines: readonly FoundLine[];
  /** How many lines match, up to the number needed; with `perMatch`, how many matches. */
  readonly count?: number | undefined;
  /** All that the file held when the lines were found in it; only of a very small one whose lines are given. */
  readonly whole?: Buffer | undefined;
}

export interface GrepReport {
  /** Files that were searched. It depends on the way unless `countsFiles` is set. */
  files: number;
  /** Files and directories that could not be read. */
  inaccessible: number;
  /**
   * Why not everything was searched, or not everything found is given. "memory": ripgrep ran out of it, and large files
   * were left out. "killed": ripgrep was ended from outside, and so was another one after it.
   */
  stopped: "limit" | "files" | "time" | "output" | "memory" | "killed" | undefined;
  /** The first files without a hit that may have one, if the query is beyond ASCII: nothing shows their encoding. */
  undecoded?: string[];
}

export interface TextHits {
  readonly lines: readonly GrepLine[];
  /** How many lines match. */
  readonly count: number;
}
