// The content of a file: all of it, its first lines, or its last. Reads only what is requested, up to the size of an
// answer. Lines are separated by line feeds, so a final one is followed by an empty last line; the last lines have
// plain line feeds, the first their own endings.
import { isAscii, isUtf8 } from "node:buffer";
import type { CallContext } from "../../contract/context.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { LineOptions } from "../../engine/workspace/line-window.ts";
import { linesFrom } from "../../engine/workspace/lines.ts";
import { tailOf } from "../../engine/workspace/tail.ts";
import { asItIs, type Decoder, decoderFor, decoderOf, isPlain } from "./decoding.ts";
import { maxAnswerBytes } from "./room.ts";

export async function readWhole(file: OpenFile, limit: number): Promise<string> {
  const bytes = await file.bytes(limit);
  return isUtf8(bytes) && !bytes.includes(0)
    ? bytes.toString("utf8")
    : (await decoderFor(bytes)).decode(bytes);
}

export async function readHead(file: OpenFile, count: number, call: CallContext): Promise<string> {
  if (count < 1) return "";
  const { wide, decode } = await decoderOf(file);
  const { lines, full } = await linesFrom(file, 1, count, optionsOf(wide, call));
  const body = lines.map(line => decode(line.bytes) + (line.end === "\r\n" ? "\r" : "")).join("\n");
  return full ? `${body.replace(/\ufffd+$/, "")}\n\n[${cut(file)}]` : body;
}

export async function readTail(file: OpenFile, count: number, call: CallContext): Promise<string> {
  if (count < 1) return "";
  const wide = isPlain(file) ? {} : (await decoderOf(file)).wide;
  const { bytes, ends, end } = await tailOf(file, count, optionsOf(wide, call));
  // The empty line after the last break is one of them.
  const lines = end !== "" && ends.length === count ? bytes.subarray(ends[0]) : bytes;
  const isCut = lines.length >= maxAnswerBytes;
  const { decode } = wide.encoding === undefined && isAscii(lines) ? asItIs : await decoderOf(file);
  const body = decode(lines).replaceAll("\r\n", "\n");
  return isCut ? `[${cut(file)}]\n\n${body.replace(/^\ufffd+/, "")}` : body;
}

function optionsOf(wide: Decoder["wide"], call: CallContext): LineOptions {
  return {
    ...wide,
    maxBytes: maxAnswerBytes,
    get signal() {
      return call.signal;
    },
  };
}

function cut(file: OpenFile): string {
  return `cut: ${humanSize(maxAnswerBytes)} of these lines are shown; the file has ${humanSize(file.size)}`;
}
