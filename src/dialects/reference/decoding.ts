// Decodes a file's bytes. UTF-8 is taken as it is, with its byte-order mark, so that it can be written back; other
// encodings are detected, so that the text can be used in an edit.
import { codecNamed } from "../../engine/text/codec.ts";
import { detect } from "../../engine/text/detect.ts";
import { shown } from "../../engine/text/escape.ts";
import type { OpenFile } from "../../engine/workspace/file.ts";
import type { LineOptions } from "../../engine/workspace/line-window.ts";

export interface Decoder {
  /** Where a line break is not a single byte. */
  readonly wide: Pick<LineOptions, "encoding">;
  decode(bytes: Buffer): string;
}

export const asItIs: Decoder = { wide: {}, decode: piece => piece.toString("utf8") };

export async function decoderFor(bytes: Buffer): Promise<Decoder> {
  const { encoding } = detect(bytes, { legacy: true });
  if (encoding === "utf-8") return asItIs;
  const codec = await codecNamed(encoding);
  const { name } = codec;
  const wide: Decoder["wide"] = name === "utf-16le" || name === "utf-16be" ? { encoding: name } : {};
  return { wide, decode: piece => shown(codec.decode(piece)) };
}

/**
 * Whether ASCII bytes in this file are ASCII characters, judging by a few bytes: no UTF-16, by its mark or by NULs near
 * the start. Every other supported encoding contains ASCII.
 */
export function isPlain(file: OpenFile): boolean {
  const start = file.readNow(0, 4096);
  const marked = (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff);
  return !marked && !start.includes(0);
}

const sampleBytes = 256 * 1024;

/** The same by the beginning of a file. */
export function decoderOf(file: OpenFile): Promise<Decoder> {
  const sample = file.readNow(0, sampleBytes);
  return decoderFor(file.size > sample.length ? wholeCharacters(sample) : sample);
}

/** Without the beginning of a character at the end, which would make UTF-8 look like something else. */
function wholeCharacters(sample: Buffer): Buffer {
  if (sample.includes(0)) return sample; // UTF-16, or no text
  const line = sample.lastIndexOf(10);
  if (line >= 0) return sample.subarray(0, line + 1);
  let end = sample.length;
  while (end > 0 && ((sample[end - 1] ?? 0) & 0xc0) === 0x80) end--;
  return sample.subarray(0, end - 1);
}
