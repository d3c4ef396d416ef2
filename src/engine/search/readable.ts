// How the bytes of a file are read when they are searched: as the caller reads them, so that a search
// finds the words that reading shows, on the lines that it numbers.
import { isUtf8 } from "node:buffer";
import { detect } from "../text/detect.ts";
import { breaksOf } from "../text/endings.ts";
import { decode } from "../text/text.ts";

/** "utf-8": UTF-8, or UTF-16 by its mark. "detected": legacy encodings too, and UTF-16 without a mark. */
export type EncodingPolicy = "utf-8" | "detected";

/**
 * The text of a file as UTF-8 with `\n` line breaks; undefined if its bytes already are that. Bytes that are not text
 * in any encoding stay as they are.
 */
export async function readable(
  bytes: Buffer,
  reading: EncodingPolicy = "utf-8",
): Promise<Buffer | undefined> {
  if (isWide(bytes)) return textOf(bytes, {});
  if (reading === "detected" && (!isUtf8(bytes) || bytes.includes(0))) {
    const { codec, body } = await decode("", bytes, { legacy: true });
    if (codec.name !== "utf-8") return Buffer.from(body.toWellFormed());
  }
  if (!hasOnlyCarriageReturns(bytes)) return undefined;
  return Buffer.from(breaksOf(bytes.toString("latin1")).body, "latin1");
}

/** Whether text beyond ASCII in a file is missed, because nothing shows its encoding. */
export function isUndecoded(bytes: Buffer, reading: EncodingPolicy = "utf-8"): boolean {
  if (reading !== "detected" || isUtf8(bytes)) return false;
  const { encoding, certain } = detect(bytes, { legacy: true });
  return encoding === "utf-8" && !certain;
}

/** Whether a file that begins like this, or is this, may have to be read in another way than byte by byte. */
export function mayNeedReading(
  head: Buffer,
  reading: EncodingPolicy = "utf-8",
  { isWhole = false } = {},
): boolean {
  if (isWide(head) || hasOnlyCarriageReturns(head)) return true;
  if (reading !== "detected") return false;
  if (head.includes(0)) return true;
  // The last character of a part may be cut in two.
  return !isUtf8(isWhole ? head : head.subarray(0, Math.max(0, head.length - 4)));
}

/** UTF-16 by its mark. */
export function isWide(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

async function textOf(bytes: Buffer, options: { readonly encoding?: string }): Promise<Buffer> {
  const { body } = await decode("", bytes, options);
  return Buffer.from(body.toWellFormed());
}

function hasOnlyCarriageReturns(bytes: Buffer): boolean {
  return bytes.includes(13) && !bytes.includes(10);
}
