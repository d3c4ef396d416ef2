// What a search gives of each file: its lines, its name, or how many lines match. Names and numbers are taken from
// lines all the same, a few of which are held: whoever reports that a file matches has to prove it (confirm.ts), and
// a bare number from a child process that was led astray by a link could not be told from a true one.
import type { FileHits, GrepOptions } from "./grep-terms.ts";
import type { GrepLine } from "./ripgrep-output.ts";

export interface WantedLines {
  readonly before: number;
  readonly after: number;
  /** The most matching lines of one file that are of use. */
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

/** How much of the limit a file takes that has so many matching lines. */
export function hitsOf(count: number, { form = "lines" }: GrepOptions): number {
  return form === "lines" ? count : 1;
}

/** A file as it is given; `whole` is all that it holds, where that is little. */
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
