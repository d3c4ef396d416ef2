// Lines of a file as they are returned, and the options for reading them.

/** One line. `bytes` has no terminator; `end` is how the line ended, "" at the end of a file without one. */
export interface RawLine {
  readonly bytes: Buffer;
  readonly end: "\n" | "\r\n" | "";
  /** Bytes that were left out at the end of this line because it is longer than the limit. */
  readonly left: number;
}

export interface LineWindow {
  readonly lines: readonly RawLine[];
  /** The number of the first line, from 1. From the end of a long file it is not known. */
  readonly first?: number;
  /** Whether the file continues after the window (before it, for the last lines). */
  readonly more: boolean;
  /** How many lines the file has, where reading came to its end. A final newline begins no further line. */
  readonly total?: number;
  /** Whether the limit on bytes, not the number of lines, ended the window. */
  readonly full: boolean;
}

export interface LineOptions {
  /** Bytes kept of one line; the rest is counted in `left`. */
  readonly maxLineBytes?: number;
  /** Bytes kept of all lines together; the line that would pass it is not begun, except the first. */
  readonly maxBytes?: number;
  /** 2 for UTF-16; the byte order tells where the zero byte of LF is. */
  readonly encoding?: "utf-16le" | "utf-16be" | undefined;
  /** Bytes of a byte-order mark to leave out. */
  readonly skip?: number | undefined;
  /** Read only if it takes long: pass it as a getter. */
  readonly signal?: AbortSignal | undefined;
}
