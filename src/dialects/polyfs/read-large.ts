// A window of lines of a file that is too large to be read whole. Only the window is read; such a file cannot be
// edited, so its version is not worth computing.
import type { CallContext } from "../../contract/context.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { codecNamed } from "../../engine/text/codec.ts";
import type { Codec } from "../../engine/text/coding.ts";
import { detect } from "../../engine/text/detect.ts";
import { likelyEncodings } from "../../engine/text/likely.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { LineOptions, LineWindow } from "../../engine/workspace/line-window.ts";
import { countLines, linesFrom } from "../../engine/workspace/lines.ts";
import { lastLines } from "../../engine/workspace/tail.ts";
import { AnswerLines, shownLine } from "./answer.ts";
import type { ReadParams } from "./read-params.ts";
import { doubtOf, refuseBinary } from "./text-file.ts";

const sample = 64 * 1024;
const maxLineBytes = 8000; // as many as the characters that are shown can have

export async function largeLines(
  file: OpenFile,
  { offset, limit, numbers, encoding }: ReadParams,
  call: CallContext,
  room: number,
): Promise<string> {
  const head = file.readNow(0, sample);
  refuseBinary(file.given, head, encoding);
  const found = detect(wholeCharacters(head), { encoding, legacy: true });
  const codec = await codecNamed(found.encoding);
  const options = {
    maxLineBytes,
    maxBytes: room,
    ...wideness(codec),
    skip: found.mark ? codec.mark.length : 0,
    get signal() {
      return call.signal;
    },
  };
  const window =
    offset < 0 ? await fromEnd(file, -offset, limit, options) : await linesFrom(file, offset, limit, options);
  const { first, total } = window;
  if (offset > 0 && window.lines.length === 0 && total !== undefined)
    throw new Fault("past_end", { path: file.given, line: offset, lines: total });
  const lines = new AnswerLines(room - 150);
  const facts = [printable(file.given), humanSize(file.size)];
  if (!found.certain) facts.push(doubtOf(likelyEncodings(head, found.encoding)));
  lines.note([...facts, "too large for a version"].join(" · "));
  let shown = 0;
  for (const { bytes, left } of window.lines.slice(0, limit)) {
    const line = shownLine(codec.decode(bytes), left);
    if (!lines.add(numbers && first !== undefined ? `${first + shown}: ${line}` : line)) break;
    shown++;
  }
  lines.note(footer(first, shown, shown < window.lines.length || window.more, offset));
  return lines.toString();
}

/**
 * The last `count` lines, or the first `limit` of them; `more` is about what follows. Lines are counted only if they do
 * not all fit: an answer begins with the line that was asked for.
 */
async function fromEnd(
  file: OpenFile,
  count: number,
  limit: number,
  options: LineOptions,
): Promise<LineWindow> {
  if (count <= limit) {
    const tail = await lastLines(file, count, options);
    if (!tail.full) return { ...tail, more: false };
  }
  const total = await countLines(file, options);
  return linesFrom(file, Math.max(1, total + 1 - count), limit, options);
}

/** Up to the end of a line. Of UTF-16 all: its line feed is two bytes, and half of one makes it look like no text. */
function wholeCharacters(head: Buffer): Buffer {
  return head.includes(0) ? head : head.subarray(0, head.lastIndexOf(10) + 1 || undefined);
}

function wideness({ name }: Codec): { encoding?: "utf-16le" | "utf-16be" } {
  return name === "utf-16le" || name === "utf-16be" ? { encoding: name } : {};
}

function footer(first: number | undefined, shown: number, more: boolean, offset: number): string {
  const range =
    first === undefined ? `${shown} of the last ${-offset} lines` : `lines ${first}-${first + shown - 1}`;
  return more ? `[${range}; go on with offset=${(first ?? offset) + shown}]` : `[${range}]`;
}
