// The lines of a file for patches: each with its ending and its offset.
import type { LineEnding } from "../text/endings.ts";
import type { Text } from "../text/text.ts";

export interface FileLine {
  readonly text: string;
  /** "" for a last line without a break. */
  readonly end: LineEnding | "";
  /** Its offset in the raw text. */
  readonly start: number;
}

export function fileLines(text: Text): FileLine[] {
  const { raw } = text;
  const mark = text.breaks === "cr" ? "\r" : "\n";
  const lines: FileLine[] = [];
  let start = 0;
  for (let at = raw.indexOf(mark); at >= 0; at = raw.indexOf(mark, start)) {
    const crlf = mark === "\n" && at > start && raw[at - 1] === "\r";
    lines.push({ text: raw.slice(start, crlf ? at - 1 : at), end: crlf ? "\r\n" : mark, start });
    start = at + 1;
  }
  if (start < raw.length) lines.push({ text: raw.slice(start), end: "", start });
  return lines;
}
