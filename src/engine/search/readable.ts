// How the bytes of a file are read when they are searched: as the caller reads them, so that a search
// finds the words that reading shows, on the lines that it numbers.
import { isUtf8 } from "node:buffer";
import { detect } from "../text/detect.ts";
import { breaksOf } from "../text/endings.ts";
import { decode } from "../text/text.ts";

/**
 * "utf-8": UTF-8, or UTF-16 by its mark. "utf-8 lf": the same, and lines end with line feeds even in a file that has
 * none. "detected": legacy encodings too, and UTF-16 without a mark.
 */
export type EncodingPolicy = "utf-8" | "utf-8 lf" | "detected";

/**
 * The text of a file as UTF-8 with `\n` line breaks; undefined if its bytes already are that. Bytes that are not text
 * in any encoding stay as they are.
 */
export async function readable(
  bytes: Buffer,
  reading: EncodingPolicy = "utf-8",
): Promise<Buffer | undefined> {
  if (isWide(bytes)) return Buffer.from((await bodyOf(bytes, reading)).toWellFormed());
  if (reading === "detected" && (!isUtf8(bytes) || bytes.includes(0))) {
    const { codec, body } = await decode("", bytes, { legacy: true });
    if (codec.name !== "utf-8") return Buffer.from(body.toWellFormed());
  }
  if (reading === "utf-8 lf" || !hasOnlyCarriageReturns(bytes)) return undefined;
  return Buffer.from(breaksOf(bytes.toString("latin1")).body, "latin1");
}

/** Whether text beyond ASCII in a file is missed, because nothing shows its encoding. */
export function isUndecoded(bytes: Buffer, reading: EncodingPolicy = "utf-8"): boolean {
  return reading === "detected" && isUncertain(bytes) && detect(bytes, { legacy: true }).encoding === "utf-8";
}

/** Whether text beyond ASCII in a file may be missed, because nothing proves the encoding that it is read in. */
export function isUncertain(bytes: Buffer): boolean {
  return !isUtf8(bytes) && !detect(bytes, { legacy: true }).certain;
}

/** Whether a file that begins like this, or is this, may have to be read in another way than byte by byte. */
export function mayNeedReading(
  head: Buffer,
  reading: EncodingPolicy = "utf-8",
  { isWhole = false } = {},
): boolean {
  if (isWide(head)) return true;
  if (reading !== "utf-8 lf" && hasOnlyCarriageReturns(head)) return true;
  if (reading !== "detected") return false;
  if (head.includes(0)) return true;
  // The last character of a part may be cut in two.
  return !isUtf8(isWhole ? head : head.subarray(0, Math.max(0, head.length - 4)));
}

/** UTF-16 by its mark. */
export function isWide(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** The text of a file in UTF-8, or in UTF-16 with a mark, with `\n` line breaks. */
export async function bodyOf(bytes: Buffer, reading: EncodingPolicy = "utf-8"): Promise<string> {
  const { raw, body, breaks } = await decode("", bytes);
  return reading === "utf-8 lf" && breaks === "cr" ? raw : body;
}

function hasOnlyCarriageReturns(bytes: Buffer): boolean {
  return bytes.includes(13) && !bytes.includes(10);
}
