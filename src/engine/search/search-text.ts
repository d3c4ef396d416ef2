// Searches texts in memory instead of files by path: decoded texts, and files that have to be searched again.
// Literals are found in this process, expressions by ripgrep, which gets the texts as open files without a name.

import type { Directory } from "../workspace/directory.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import type { GrepOptions, TextHits } from "./grep-terms.ts";
import { linesWith } from "./lines-with.ts";
import { literalFinder } from "./literal.ts";
import { matchesIn } from "./match-ranges.ts";
import { matching, wantedLines } from "./result-form.ts";
import { fileAddress, isChained, killedAfter, type Query, searchArguments, startRipgrep } from "./ripgrep.ts";
import { type FileBlock, HitParser } from "./ripgrep-output.ts";

export const mostTexts = 16;

/** The lines of each text, as many as `options` want. Undefined if the search failed. */
export async function searchTexts(
  start: Directory,
  query: Query,
  texts: readonly Buffer[],
  options: GrepOptions,
): Promise<(TextHits | undefined)[]> {
  if (options.perMatch && query.multiline && options.form !== "files") {
    const all: (TextHits | undefined)[] = [];
    for (const text of texts) all.push(await matchesIn(start, query, text, options));
    return all;
  }
  const find = literalFinder(query);
  const wanted = wantedLines(options);
  const found = texts.map((text): TextHits | undefined => {
    const lines = find && linesWith(find, text, wanted);
    return lines && { lines, count: matching(lines) };
  });
  const left = texts.flatMap((text, i) => (found[i] === undefined ? [{ text, i }] : []));
  for (let at = 0; at < left.length; at += mostTexts) {
    const some = left.slice(at, at + mostTexts);
    const lines = await byRipgrep(
      start,
      query,
      some.map(({ text }) => text),
      options,
    );
    for (const [n, { i }] of some.entries()) found[i] = lines?.[n];
  }
  return found;
}

async function byRipgrep(
  start: Directory,
  query: Query,
  texts: readonly Buffer[],
  options: GrepOptions,
): Promise<TextHits[] | undefined> {
  const files = texts.map(text => UnnamedFile.of(text));
  try {
    const there = files.filter(file => file !== undefined);
    if (there.length < files.length) return undefined;
    const held = there.map(({ fd }) => fd);
    const { before, after, most, maxLineBytes } = wantedLines(options);
    const { columns, signal, timeoutMs } = options;
    const maxPerFile = Number.isFinite(most) ? most : undefined;
    const paths = there.map(fileAddress);
    const args = searchArguments(query, { before, after, maxPerFile, columns }, ["--no-ignore"], paths);
    const child = await startRipgrep(start, args, { signal, files: held });
    using _ = killedAfter(child, timeoutMs);
    const printed = paths.map(path => Buffer.from(path).toString("latin1"));
    const hits: TextHits[] = texts.map(() => ({ lines: [], count: 0 }));
    const add = ({ path, lines, count }: FileBlock): void => {
      const i = printed.indexOf(path.toString("latin1"));
      if (i >= 0) hits[i] = { lines, count };
    };
    const parser = new HitParser({ maxLineBytes, columns }, add);
    const { code } = await child.read(chunk => parser.push(chunk));
    parser.end();
    if (code === 2 && isChained(query))
      return await byRipgrep(start, { ...query, eachMatch: true }, texts, options);
    return code === 0 || code === 1 ? hits : undefined;
  } finally {
    for (const file of files) file?.[Symbol.dispose]();
  }
}
