// The content of a file: all of it, its first lines, or its last. Only what is asked for is read and kept, up to
// what an answer may hold. Lines are what stands between line feeds, so behind a final one there is an empty line
// that counts as the last; the last lines come with plain line feeds, the first with the endings they have.
import { isUtf8 } from "node:buffer";
import { humanSize } from "../../engine/text/size.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { FileLine } from "../../engine/workspace/line-window.ts";
import { lastLines, linesFrom } from "../../engine/workspace/lines.ts";
import { type Decoder, decoderFor, decoderOf } from "./decoding.ts";
import { maxAnswerBytes } from "./room.ts";

export async function readWhole(file: OpenFile, limit: number): Promise<string> {
  const bytes = await file.bytes(limit);
  return isUtf8(bytes) && !bytes.includes(0)
    ? bytes.toString("utf8")
    : (await decoderFor(bytes)).decode(bytes);
}

export async function readHead(file: OpenFile, count: number, signal: AbortSignal): Promise<string> {
  if (count < 1) return "";
  const { wide, decode } = await decoderOf(file);
  const options = { ...wide, maxBytes: maxAnswerBytes, signal };
  const { lines, full } = await linesFrom(file, 1, count, options);
  const body = lines.map(line => decode(line.bytes) + (line.end === "\r\n" ? "\r" : "")).join("\n");
  return full ? `${body.replace(/\ufffd+$/, "")}\n\n[${cut(file)}]` : body;
}

export async function readTail(file: OpenFile, count: number, signal: AbortSignal): Promise<string> {
  if (count < 1) return "";
  const { wide, decode } = await decoderOf(file);
  const unit = wide.encoding === undefined ? 1 : 2;
  const ended = endsWithBreak(file, wide.encoding);
  const wanted = ended ? count - 1 : count;
  if (wanted === 0) return "";
  const options = { ...wide, maxBytes: maxAnswerBytes, signal };
  const { lines } = await lastLines(file, wanted, options);
  const body = lines.map(line => decode(line.bytes)).join("\n") + (ended && lines.length > 0 ? "\n" : "");
  const isCut = lines.reduce((sum, line) => sum + sizeOf(line, unit), 0) >= maxAnswerBytes;
  return isCut ? `[${cut(file)}]\n\n${body.replace(/^\ufffd+/, "")}` : body;
}

function endsWithBreak(file: OpenFile, encoding: Decoder["wide"]["encoding"]): boolean {
  if (encoding === undefined) return file.readNow(Math.max(0, file.size - 1), 1)[0] === 10;
  const [a, b] = file.readNow(Math.max(0, file.size - 2), 2);
  return encoding === "utf-16le" ? a === 10 && b === 0 : a === 0 && b === 10;
}

function sizeOf({ bytes, end }: FileLine, unit: number): number {
  return bytes.length + end.length * unit;
}

function cut(file: OpenFile): string {
  return `cut: ${humanSize(maxAnswerBytes)} of these lines are shown; the file has ${humanSize(file.size)}`;
}
