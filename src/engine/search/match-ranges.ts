// The matches of a multi-line search, each with all its lines, in texts that we hold. ripgrep's plain output does not
// tell where one match ends and the next begins, so it is run with JSON output, only if the matches themselves count.

import type { Directory } from "../workspace/directory.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import type { GrepOptions, TextHits } from "./grep-terms.ts";
import { wantedLines } from "./result-form.ts";
import { fileAddress, killedAfter, type Query, searchArguments, startRipgrep } from "./ripgrep.ts";
import type { GrepLine } from "./ripgrep-output.ts";

/** Bytes of the text. */
type MatchRange = readonly [start: number, end: number];

/** A line of more matches than fit here is not searched to its end: parsing them would block all other calls. */
const longestMessage = 32 * 1024 * 1024;

/** Undefined if ripgrep did not finish. */
export async function matchesIn(
  start: Directory,
  query: Query,
  text: Buffer,
  options: GrepOptions,
): Promise<TextHits | undefined> {
  const ranges = await rangesIn(start, { ...query, eachMatch: true }, text, options);
  if (ranges === undefined) return undefined;
  const lines = options.form === "counts" ? [] : linesOf(text, ranges, options);
  return { lines, count: ranges.length };
}

async function rangesIn(
  start: Directory,
  query: Query,
  text: Buffer,
  { signal, timeoutMs }: GrepOptions,
): Promise<MatchRange[] | undefined> {
  using file = UnnamedFile.of(text);
  if (file === undefined) return undefined;
  const printing = { before: 0, after: 0 };
  const args = searchArguments(query, printing, ["--no-ignore", "--json"], [fileAddress(file, 0)]);
  const child = await startRipgrep(start, args, { signal, files: [file.fd] });
  using _ = killedAfter(child, timeoutMs);
  const ranges: MatchRange[] = [];
  let pending: Buffer[] = [];
  let length = 0;
  const { code } = await child.read(chunk => {
    let at = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      const message = Buffer.concat([...pending, chunk.subarray(at, end)]).toString("utf8");
      [pending, length, at] = [[], 0, end + 1];
      for (const range of rangesOf(message)) ranges.push(range);
    }
    length += chunk.length - at;
    pending.push(Buffer.from(chunk.subarray(at)));
    if (length > longestMessage) child.kill();
  });
  return code === 0 || code === 1 ? ranges : undefined;
}

interface RipgrepMessage {
  readonly type: string;
  readonly data: {
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}

function rangesOf(message: string): MatchRange[] {
  const { type, data } = JSON.parse(message) as RipgrepMessage;
  if (type !== "match") return [];
  return data.submatches.map(({ start, end }) => [data.absolute_offset + start, data.absolute_offset + end]);
}

function linesOf(text: Buffer, ranges: readonly MatchRange[], options: GrepOptions): GrepLine[] {
  const { before, after, maxLineBytes } = wantedLines(options);
  const starts = [0];
  for (let at = text.indexOf(10); at >= 0 && at + 1 < text.length; at = text.indexOf(10, at + 1))
    starts.push(at + 1);
  const lineAt = (offset: number): number => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  const piece = (first: number, last: number, column?: number): GrepLine => {
    const from = starts[first - 1] as number;
    let to = starts[last] ?? text.length;
    if (text[to - 1] === 10) to--;
    if (text[to - 1] === 13 && to > from) to--;
    const bytes = text.subarray(from, Math.min(to, from + maxLineBytes * (last - first + 1)));
    return { number: first, column, bytes, cut: bytes.length < to - from };
  };
  const found: GrepLine[] = [];
  let shown = 0; // the last line that was added
  for (const [i, [start, end]] of ranges.entries()) {
    const first = lineAt(start);
    const last = lineAt(Math.max(start, end - 1));
    for (let n = Math.max(shown + 1, first - before); n < first; n++) found.push(piece(n, n));
    found.push(piece(first, last, start - (starts[first - 1] as number)));
    const next = ranges[i + 1];
    const until = Math.min(last + after, next === undefined ? starts.length : lineAt(next[0]) - 1);
    shown = Math.max(shown, last);
    for (let n = last + 1; n <= until; n++, shown = n - 1) found.push(piece(n, n));
  }
  return found;
}
