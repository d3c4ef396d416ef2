// The matches of a multi-line search, each with all its lines, in texts that we hold. ripgrep's plain output does not
// tell where one match ends and the next begins, so it is run with JSON output, only if the matches themselves count.

import { append } from "../append.ts";
import type { Directory } from "../workspace/directory.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import type { GrepOptions, TextHits } from "./grep-terms.ts";
import { wantedLines } from "./result-form.ts";
import { fileAddress, isChained, killedAfter, type Query, searchArguments, startRipgrep } from "./ripgrep.ts";
import type { GrepLine } from "./ripgrep-output.ts";

/** Bytes of the text. */
type MatchRange = readonly [start: number, end: number];

/** A line of more matches than fit here is not searched to its end: parsing them would block all other calls. */
const longestMessage = 32 * 1024 * 1024;
const longestChain = 4 * 1024 * 1024;

/** The matches of each text. Undefined if ripgrep did not finish. */
export async function matchesIn(
  start: Directory,
  query: Query,
  texts: readonly Buffer[],
  options: GrepOptions,
): Promise<(TextHits | undefined)[]> {
  const files = texts.map(text => UnnamedFile.of(text));
  try {
    const there = files.filter(file => file !== undefined);
    const isAll = there.length === files.length;
    const found = isAll ? await rangesIn(start, query, there, options) : undefined;
    return texts.map((text, i) => {
      const all = found?.[i];
      if (all === undefined) return undefined;
      const ranges = options.perMatch === "line" ? joinedByLine(text, all) : all;
      const lines = options.form === "counts" ? [] : linesOf(text, ranges, options);
      return { lines, count: ranges.length };
    });
  } finally {
    for (const file of files) file?.[Symbol.dispose]();
  }
}

/** Matches that share a line as one. */
function joinedByLine(text: Buffer, ranges: readonly MatchRange[]): MatchRange[] {
  const merged: MatchRange[] = [];
  let lineEnd = -1; // of the line on which the last one ends
  const endOf = ([start, end]: MatchRange): number => {
    const at = text.indexOf(10, Math.max(start, end - 1));
    return at < 0 ? text.length : at;
  };
  for (const range of ranges) {
    const last = merged.at(-1);
    if (last !== undefined && range[0] <= lineEnd) {
      merged[merged.length - 1] = [last[0], Math.max(last[1], range[1])];
    } else merged.push(range);
    lineEnd = Math.max(lineEnd, endOf(range));
  }
  return merged;
}

/**
 * The ranges of the matches in each file, in the order of the files. Where matches that share a line are one, a chain
 * of them is found at once (match-chain.ts).
 */
async function rangesIn(
  start: Directory,
  asked: Query,
  files: readonly UnnamedFile[],
  options: GrepOptions,
): Promise<MatchRange[][] | undefined> {
  const { signal, timeoutMs, perMatch } = options;
  const query = perMatch === "line" ? asked : { ...asked, eachMatch: true };
  const longest = perMatch === "line" ? longestChain : longestMessage;
  const printing = { before: 0, after: 0 };
  const paths = files.map(fileAddress);
  const args = searchArguments(query, printing, ["--no-ignore", "--json"], paths);
  const child = await startRipgrep(start, args, { signal, files: files.map(({ fd }) => fd) });
  using _ = killedAfter(child, timeoutMs);
  const ranges: MatchRange[][] = files.map(() => []);
  let pending: Buffer[] = [];
  let length = 0;
  const { code } = await child.read(chunk => {
    let at = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, at)) {
      const message =
        pending.length === 0
          ? chunk.toString("utf8", at, end)
          : Buffer.concat([...pending, chunk.subarray(at, end)]).toString("utf8");
      [pending, length, at] = [[], 0, end + 1];
      const { path, found } = rangesOf(message);
      if (found.length > 0) append(ranges[paths.indexOf(path)] ?? [], found);
    }
    if (at === chunk.length) return;
    length += chunk.length - at;
    pending.push(Buffer.from(chunk.subarray(at)));
    if (length > longest) child.kill();
  });
  if (code === 2 && isChained(query))
    return await rangesIn(start, { ...asked, eachMatch: true }, files, options);
  return code === 0 || code === 1 ? ranges : undefined;
}

interface RipgrepMessage {
  readonly data: {
    readonly path: { readonly text: string };
    readonly absolute_offset: number;
    readonly submatches: readonly { readonly start: number; readonly end: number }[];
  };
}

function rangesOf(message: string): { readonly path: string; readonly found: MatchRange[] } {
  if (!message.startsWith('{"type":"match"')) return { path: "", found: [] };
  const { data } = JSON.parse(message) as RipgrepMessage;
  const found = data.submatches.map(
    ({ start, end }): MatchRange => [data.absolute_offset + start, data.absolute_offset + end],
  );
  return { path: data.path.text, found };
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
