// Invalid bytes, carried inside a string as lone surrogates. A string from a file may hold them; a string that is
// shown may not: `shown` turns them into U+FFFD.

const first = 0xdc00;

/** Escapes a byte that could not be decoded. ASCII stays itself. */
export function escapedByte(byte: number): string {
  return String.fromCharCode(byte < 0x80 ? byte : first + byte);
}

/** A text as it may leave the process: undecodable bytes as U+FFFD. */
export function shown(text: string): string {
  return text.toWellFormed();
}

/** Whether a text from outside has halves of surrogate pairs, which no file can take. Their first index, or -1. */
export function loneSurrogate(text: string): number {
  return text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u);
}

/** Encodes a string with escapes: the plain stretches by the given encoder, the escapes as their bytes. */
export function encodeWithEscapes(text: string, encode: (plain: string) => Buffer): Buffer {
  if (text.isWellFormed()) return encode(text);
  const parts: Buffer[] = [];
  let at = 0;
  for (const match of text.matchAll(/[\udc80-\udcff]+/gu)) {
    if (match.index > at) parts.push(encode(text.slice(at, match.index)));
    parts.push(Buffer.from(Array.from(match[0], char => char.charCodeAt(0) - first)));
    at = match.index + match[0].length;
  }
  parts.push(encode(text.slice(at)));
  return Buffer.concat(parts);
}

/** Decodes UTF-8 with invalid parts. Valid ranges are decoded natively; each other byte is escaped. */
export function decodeBrokenUtf8(bytes: Buffer): string {
  const parts: string[] = [];
  let start = 0;
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length > 0) at += length;
    else {
      if (at > start) parts.push(bytes.toString("utf8", start, at));
      parts.push(escapedByte(bytes[at] ?? 0));
      at += 1;
      start = at;
    }
  }
  parts.push(bytes.toString("utf8", start));
  return parts.join("");
}

/** The length of the well-formed UTF-8 sequence at an offset, or 0 (Unicode, table 3-7). */
function sequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return 1;
  const second = bytes[at + 1] ?? 0;
  if (lead >= 0xc2 && lead <= 0xdf) return isTrail(second) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isTrail(bytes[at + 2]) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const low = lead === 0xf0 ? 0x90 : 0x80;
    const high = lead === 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high && isTrail(bytes[at + 2]) && isTrail(bytes[at + 3]) ? 4 : 0;
  }
  return 0;
}

function isTrail(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte <= 0xbf;
}
