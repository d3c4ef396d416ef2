// The cap on an answer. What is behind it is left out, and the answer says how much that was.
import { type Reply, text } from "../../contract/tool.ts";

/** An answer of at most `cap` bytes of `body`. `total` is given where `body` is only the beginning of the whole. */
export function capped(body: string, cap: number, total = Buffer.byteLength(body)): Reply {
  if (total <= cap) return text(body);
  const shown = firstBytes(body, cap);
  return text(`${shown}\n${truncation(Buffer.byteLength(shown), total)}`);
}

export function truncation(shown: number, total: number, more = ""): string {
  return `[... output truncated: ${shown} of ${total} bytes shown${more} ...]`;
}

/** The beginning of a text that fits into so many bytes of UTF-8, without a part of a character. */
export function firstBytes(body: string, most: number): string {
  const bytes = Buffer.from(body.slice(0, most));
  let end = Math.min(most, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

const longest = 2000;

/** A line as it is shown: a very long one is cut. */
export function shownLine(line: string): string {
  if (line.length <= longest) return line.toWellFormed();
  const cut = /[\ud800-\udbff]/.test(line[longest - 1] ?? "") ? longest - 1 : longest;
  return `${line.slice(0, cut).toWellFormed()} [... line truncated ...]`;
}
