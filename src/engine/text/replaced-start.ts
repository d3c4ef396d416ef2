// The first lines that a change replaced, without context: enough to check the same change in many files.
import { diffIds } from "./line-diff.ts";
import { lineAt, numberLines } from "./numbered-lines.ts";

export interface ReplacedLine {
  readonly sign: "-" | "+";
  /** In the text that it is of, from 1. */
  readonly line: number;
  readonly text: string;
}

/** Up to so many of them, counted on the longer side of each replacement, and whether these are all. */
export function replacedStart(
  before: string,
  after: string,
  most: number,
): { readonly lines: readonly ReplacedLine[]; readonly all: boolean } {
  const { a, b, kinds } = numberLines(before, after);
  const lines: ReplacedLine[] = [];
  for (const { aStart, aEnd, bStart, bEnd } of diffIds(a.ids, b.ids, kinds)) {
    const left = most - lines.length;
    for (const [sign, side, start, end] of [
      ["-", a, aStart, aEnd],
      ["+", b, bStart, bEnd],
    ] as const)
      for (let at = start; at < Math.min(end, start + left); at++)
        lines.push({ sign, line: at + 1, text: lineAt(side, at) });
    if (Math.max(aEnd - aStart, bEnd - bStart) > left) return { lines, all: false };
  }
  return { lines, all: true };
}
