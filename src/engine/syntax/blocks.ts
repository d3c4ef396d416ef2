// An outline from the text alone: headings of Markdown, and elsewhere lines that open a more indented block.

import { LineIndex } from "../text/lines.ts";
import { nextTurn } from "../turn.ts";
import type { Declared } from "./declared.ts";

/** A bound for memory, some 30 MB. */
const most = 100_000;
/** This many lines take a few milliseconds; other calls have their turn after them. */
const pieceLines = 2000;
const deepest = 3;
const longestHead = 160;

interface IndentBlock {
  readonly level: number;
  readonly line: number;
  readonly head: string;
  to: number;
}

/** The first of them, and whether there are more. */
export async function blocksOf(
  path: string,
  text: string,
): Promise<{ readonly declared: Declared[]; readonly cut: boolean }> {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const found = await (/\.(md|markdown|mdx|rst)$/i.test(path) ? headings(lines) : indented(lines));
  const index = new LineIndex(text);
  const open: (IndentBlock & { readonly name: string })[] = [];
  const declared: Declared[] = [];
  for (const [i, block] of found.slice(0, most).entries()) {
    if (i % pieceLines === pieceLines - 1) await nextTurn();
    while (open.length > 0 && (open.at(-1)?.to ?? 0) < block.line) open.pop();
    const own = nameIn(block.head);
    const above = open.at(-1);
    const name = above === undefined ? own : `${above.name}.${own}`;
    const depth = open.length;
    open.push({ ...block, name });
    const start = index.start(block.line);
    const end = index.end(block.to);
    const { line: from, to, head } = block;
    const place = {
      topStart: start,
      start,
      bare: start,
      end,
      nameStart: start,
      nameEnd: index.end(block.line),
    };
    declared.push({ kind: "section", name, depth, top: from, from, to, ...place, head, local: false });
  }
  return { declared, cut: found.length > most };
}

async function headings(lines: readonly string[]): Promise<IndentBlock[]> {
  const blocks: IndentBlock[] = [];
  const open: IndentBlock[] = [];
  let fence: string | undefined;
  for (const [i, line] of lines.entries()) {
    if (i % pieceLines === pieceLines - 1) await nextTurn();
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
    const heading = fence === undefined ? /^(#{1,6})\s+(.*?)\s*#*$/.exec(line) : null;
    if (heading === null) continue;
    const level = heading[1]?.length ?? 1;
    while ((open.at(-1)?.level ?? 0) >= level) {
      const closed = open.pop();
      if (closed !== undefined) closed.to = i;
    }
    if (blocks.length > most) continue;
    const block = { level, line: i + 1, head: line.trim().slice(0, longestHead), to: lines.length };
    blocks.push(block);
    open.push(block);
  }
  return blocks;
}

async function indented(lines: readonly string[]): Promise<IndentBlock[]> {
  const blocks: IndentBlock[] = [];
  const open: IndentBlock[] = [];
  let lastUsed = 0;
  const close = (level: number) => {
    while (open.length > 0 && (open.at(-1)?.level ?? 0) >= level) {
      const block = open.pop();
      if (block !== undefined) block.to = Math.max(block.to, lastUsed);
    }
  };
  for (const [i, line] of lines.entries()) {
    if (i % pieceLines === pieceLines - 1) await nextTurn();
    if (line.trim() === "") continue;
    const level = /^\s*/.exec(line)?.[0].replaceAll("\t", "    ").length ?? 0;
    const isClosing = /^[\])}]|^end\b/.test(line.trim());
    if (isClosing) {
      const own = open.findLast(block => block.level === level);
      if (own !== undefined) lastUsed = i + 1;
      close(level);
    } else {
      close(level);
      const next = lines.slice(i + 1, i + 4).find(one => one.trim() !== "");
      const below = next === undefined ? 0 : (/^\s*/.exec(next)?.[0].replaceAll("\t", "    ").length ?? 0);
      if (below > level && open.length < deepest && blocks.length <= most) {
        const block = { level, line: i + 1, head: line.trim().slice(0, longestHead), to: i + 1 };
        blocks.push(block);
        open.push(block);
      }
    }
    lastUsed = i + 1;
  }
  close(0);
  return blocks;
}

/** A name for the reader: the heading's text, or the last word before the block opens. */
function nameIn(head: string): string {
  const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(head)?.[1];
  if (heading !== undefined) return heading;
  const plain = head.replace(/\(.*$/, "").replace(/[\s:={[<(]+$/, "");
  return /([\p{L}\p{N}_$.-]+)$/u.exec(plain)?.[1] ?? plain;
}
