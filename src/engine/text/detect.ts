// Detects the encoding of a file, and whether it is text at all. This is the only place that decides: reading,
// searching, editing and file_info all use it. In this order: the caller's choice, a byte-order mark, valid UTF-8,
// UTF-16 recognised by its NULs and, if requested, a legacy encoding. Anything else is UTF-8 with invalid bytes.
import { isUtf8 } from "node:buffer";
import { guessLegacy } from "./guess.ts";
import { legacySample } from "./likely.ts";

export interface Detected {
  readonly encoding: string;
  readonly mark: boolean;
  /** Whether there is evidence for it. If not, `likelyEncodings` lists the alternatives. */
  readonly certain: boolean;
}

export function detect(
  bytes: Buffer,
  options: { readonly encoding?: string | undefined; readonly legacy?: boolean } = {},
): Detected {
  const marked = byMark(bytes);
  const named = options.encoding?.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (named !== undefined && options.encoding !== undefined) {
    // "utf-16" alone means: as the mark says.
    if (marked?.replace("-", "").startsWith(named)) return { encoding: marked, mark: true, certain: true };
    return { encoding: options.encoding, mark: false, certain: true };
  }
  if (marked !== undefined) return { encoding: marked, mark: true, certain: true };
  if (isUtf8(bytes) && !bytes.includes(0)) return { encoding: "utf-8", mark: false, certain: true };
  const wide = unmarkedUtf16(bytes);
  if (wide !== undefined) return { encoding: wide, mark: false, certain: true };
  const legacy = options.legacy && !bytes.includes(0) ? guessLegacy(bytes) : undefined;
  return { encoding: "utf-8", certain: isMostlyUtf8(bytes), ...legacy, mark: false };
}

/** Whether invalid bytes are the exception: no legacy text has many characters that are valid UTF-8 by accident. */
function isMostlyUtf8(bytes: Buffer): boolean {
  if (isUtf8(bytes)) return true;
  const sample = legacySample(bytes);
  let valid = 0;
  let invalid = 0;
  for (let at = 0; at < sample.length; at++) {
    const lead = sample[at] ?? 0;
    if (lead < 0x80) continue;
    const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (isUtf8(sample.subarray(at, at + length))) {
      valid += 1;
      at += length - 1;
    } else invalid += 1;
  }
  return valid >= 4 && valid >= 4 * invalid;
}

/** What makes bytes binary: a NUL near the start or the end, or anything that is not UTF-8. */
export interface BinaryRule {
  /** A NUL among this many first bytes. */
  readonly first?: number;
  /** A NUL among this many last bytes. */
  readonly last?: number;
  /** Any byte that is not UTF-8. */
  readonly notUtf8?: boolean;
}

/** Whether bytes are binary by a rule. UTF-16 with a mark is text for the NUL rules. */
export function isBinary(bytes: Uint8Array, rule: BinaryRule): boolean {
  if (rule.notUtf8 && !isUtf8(bytes)) return true;
  if (byMark(bytes)?.startsWith("utf-16")) return false;
  const head = rule.first === undefined ? undefined : bytes.subarray(0, rule.first);
  const tail = rule.last === undefined ? undefined : bytes.subarray(Math.max(0, bytes.length - rule.last));
  return (head?.includes(0) ?? false) || (tail?.includes(0) ?? false);
}

/** Whether bytes are text in no encoding that is known here: NULs near their start or end, and no UTF-16. */
export function isNoText(bytes: Buffer): boolean {
  if (isMarkedUtf32(bytes)) return true;
  return isBinary(bytes, { first: 8000, last: 8000 }) && !detect(bytes).encoding.startsWith("utf-16");
}

const pdfMark = Buffer.from("%PDF-");

/** A PDF may be all ASCII, and hold its text encoded. */
export function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, 1024).includes(pdfMark);
}

/** The same without what may be before it in the file. */
export function startsAsPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, pdfMark.length).equals(pdfMark);
}

/** UTF-32 with a byte-order mark. It is not supported: its little-endian mark begins like the one of UTF-16. */
export function isMarkedUtf32(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  return (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff);
}

function byMark(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  if (isMarkedUtf32(bytes)) return undefined;
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return undefined;
}

/** UTF-16 without a mark: nearly every second byte is NUL, always on the same side, and the text is printable. */
function unmarkedUtf16(bytes: Buffer): "utf-16le" | "utf-16be" | undefined {
  const sample = bytes.subarray(0, 4096);
  if (bytes.length % 2 === 1 || sample.length < 8) return undefined;
  let even = 0;
  let odd = 0;
  for (let i = 0; i < sample.length; i += 2) {
    if (sample[i] === 0) even += 1;
    if (sample[i + 1] === 0) odd += 1;
  }
  const units = sample.length / 2;
  const side =
    odd > units * 0.7 && even === 0 ? "utf-16le" : even > units * 0.7 && odd === 0 ? "utf-16be" : undefined;
  if (side === undefined) return undefined;
  const text = (side === "utf-16le" ? sample : Buffer.from(sample).swap16()).toString("utf16le");
  return /[\u0000-\u0008\u000e-\u001f\u007f\ufffe\uffff]/.test(text) ? undefined : side;
}
