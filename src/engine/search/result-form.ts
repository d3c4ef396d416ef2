// The forms of a result: lines, name, or number of matching lines. Names and counts are derived from lines too, of
// which a few are kept: a hit must be confirmed (confirm.ts), and a bare number from a child process that followed a
// swapped link would prove nothing.
import type { FileHits, GrepOptions } from "./grep-terms.ts";
import type { GrepLine } from "./ripgrep-output.ts";

export interface WantedLines {
  readonly before: number;
  readonly after: number;
  /** The most matching lines of one file that are needed. */
  readonly most: number;
  /** Lines are cut here. */
  readonly maxLineBytes: number;
  /** How many lines of one file are held as a proof, where no lines are given. */
  readonly sample?: number;
}

const proof = { before: 0, after: 0, maxLineBytes: 256 };

export function wantedLines({
  form,
  before = 0,
  after = 0,
  limit,
  perFile,
  maxLineBytes,
}: GrepOptions): WantedLines {
  const all = Number.POSITIVE_INFINITY;
  if (form === "files") return { ...proof, most: 1, sample: 1 };
  if (form === "counts") return { ...proof, most: perFile ?? all, sample: 16 };
  return {
    before,
    after,
    most: perFile ?? limit ?? all,
    maxLineBytes: maxLineBytes ?? 64 * 1024,
  };
}

/** How much of the limit a file with this many matching lines uses. */
export function hitsOf(count: number, { form = "lines" }: GrepOptions): number {
  return form === "lines" ? count : 1;
}

/** A file in the requested form; `whole` is its content, if it is small. */
export function fileHits(
  path: string,
  whole: Buffer | undefined,
  lines: readonly GrepLine[],
  count: number,
  { form }: GrepOptions,
): FileHits {
  if (form === "files") return { path, lines: [] };
  if (form === "counts") return { path, lines: [], count };
  return { path, lines: lines.map(foundLine), count, whole };
}

/** How many of the lines match. */
export function matching(lines: readonly GrepLine[]): number {
  let count = 0;
  for (const line of lines) if (line.column !== undefined) count++;
  return count;
}

function foundLine({ number, column, bytes, cut }: GrepLine): FileHits["lines"][number] {
  const text = bytes.toString("utf8");
  return { number, column, text: cut ? text.replace(/\ufffd$/, "") : text, cut };
}
