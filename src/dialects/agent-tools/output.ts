// The size limit of an answer. The answer says how much was left out.
import { firstBytes, firstCharacters } from "../../contract/render/cut.ts";
import { type Reply, text } from "../../contract/tool.ts";

/** An answer of at most `cap` bytes of `body`. `total` is given where `body` is only the beginning of the whole. */
export function capped(body: string, cap: number, total?: number): Reply {
  return text(cut(body, cap, total));
}

/** The text of such an answer. */
export function cut(body: string, cap: number, total = Buffer.byteLength(body)): string {
  if (total <= cap) return body;
  const shown = firstBytes(body, cap);
  return `${shown}\n${truncation(Buffer.byteLength(shown), total)}`;
}

export function truncation(shown: number, total: number, more = ""): string {
  return `[... output truncated: ${shown} of ${total} bytes shown${more} ...]`;
}

const longest = 2000;

/** A line as it is shown: a very long one is cut. */
export function shownLine(line: string): string {
  const { text: first, left } = firstCharacters(line, longest);
  return left === 0 ? first : `${first} [... line truncated ...]`;
}

/** Most files have no more lines than this. */
const mostKept = 2000;
const kept: string[] = [];

/** What is before a line: its number and a tab. */
export function numbered(line: number): string {
  if (line > mostKept) return `${String(line).padStart(6)}\t`;
  kept[line] ??= `${String(line).padStart(6)}\t`;
  return kept[line];
}
