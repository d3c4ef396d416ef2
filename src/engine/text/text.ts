// A text file as a value. `raw` is its content, `body` the same with every line break as "\n", in which all matching
// happens. `rewrite` applies splices of the body to the file: bytes outside them stay, and line breaks inside them
// take the endings that they replace.

import { isAscii } from "node:buffer";
import { Fault } from "../fault.ts";
import { turnAfter } from "../turn.ts";
import { codecNamed, utf8 } from "./codec.ts";
import type { Codec } from "./coding.ts";
import { detect } from "./detect.ts";
import type { Breaks } from "./endings.ts";
import { breaksOf, type NewLines, rawSplices } from "./endings.ts";
import { likelyEncodings } from "./likely.ts";
import { halvedAt, isBetweenHalves, type Splice, spliced, trimmed } from "./splice.ts";

export interface Text {
  /** Only for faults, as the caller wants to see it there. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly codec: Codec;
  /** Whether the file begins with its encoding's byte-order mark, which is part of neither `raw` nor `body`. */
  readonly mark: boolean;
  readonly raw: string;
  readonly body: string;
  /** Which breaks of the body are something else than "\n" in the file; see endings.ts. */
  readonly breaks: Breaks;
  /** Set where the encoding is not certain: the likely ones. New text beyond ASCII is refused then. */
  readonly doubt?: readonly string[] | undefined;
}

export interface DecodeOptions {
  /** The encoding, where the caller names one; a byte-order mark of it is still seen. */
  readonly encoding?: string | undefined;
  /** Whether to find out a legacy encoding where the bytes are not UTF-8; otherwise those bytes are only kept. */
  readonly legacy?: boolean;
  /** Whether to refuse new text beyond ASCII where the encoding is not certain; see `Text.doubt`. */
  readonly strict?: boolean;
}

/** Decodes the bytes of a file. Never fails on content: invalid bytes are kept. */
export async function decode(path: string, bytes: Uint8Array, options: DecodeOptions = {}): Promise<Text> {
  const buffer = asBuffer(bytes);
  const found = detect(buffer, options);
  const codec = found.encoding === "utf-8" ? utf8 : await codecNamed(found.encoding);
  const { mark } = found;
  await turnAfter(buffer.length);
  const raw = codec.decode(mark ? buffer.subarray(codec.mark.length) : buffer);
  await turnAfter(buffer.length);
  const text = { path, bytes: buffer, codec, mark, raw, ...breaksOf(raw) };
  if (!options.strict || (isAscii(buffer) && !isWide(codec) && !buffer.includes(0))) return text;
  return doubted(text, options, found.certain);
}

/** A text with its candidate encodings, if the one used for decoding is uncertain. */
async function doubted(text: Text, { encoding }: DecodeOptions, certain = true): Promise<Text> {
  const { bytes, codec, mark } = text;
  if (encoding === undefined) return certain ? text : { ...text, doubt: likelyEncodings(bytes, codec.name) };
  const own = detect(bytes, { legacy: true });
  const name = (await codecNamed(own.encoding)).name;
  if (own.certain && name === codec.name && own.mark === mark) return text;
  // Evidence beats the caller's choice; bytes that are invalid in the named encoding are evidence against it.
  if (own.certain && (own.mark || (await decode(text.path, bytes, { legacy: true })).raw !== text.raw))
    return { ...text, doubt: [name] };
  const fits = text.raw.isWellFormed() && !(isWide(codec) && (bytes.length % 2 === 1 || isOfBytes(bytes)));
  return fits ? text : { ...text, doubt: likelyEncodings(bytes) };
}

/** Whether a text is in an encoding of single bytes: in UTF-16 each line break and each letter of ASCII has a NUL. */
function isOfBytes(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false;
  const sample = bytes.subarray(0, 4096);
  return bytes.includes(10) || sample.filter(byte => byte >= 0x20 && byte < 0x7f).length > sample.length / 2;
}

function isWide({ name }: Codec): boolean {
  return name.startsWith("utf-16");
}

/**
 * The bytes of a new file. Content that begins with U+FEFF brings its own byte-order mark; "utf-16" without a byte
 * order needs one. Throws `unencodable`.
 */
export async function encode(
  path: string,
  content: string,
  options: { readonly encoding?: string | undefined; readonly mark?: boolean } = {},
): Promise<Buffer> {
  const codec = await codecNamed(options.encoding ?? "utf-8");
  const lone = content.isWellFormed() ? -1 : content.search(/\p{Surrogate}/u);
  refuseUnencodable(path, codec, content, lone >= 0 ? lone : codec.unencodable(content), 1);
  await turnAfter(content.length);
  const wanted = options.mark || /^utf-?16$/i.test(options.encoding ?? "");
  const mark = wanted && !(codec.mark.length > 0 && content.startsWith("\ufeff"));
  const bytes = mark ? Buffer.concat([codec.mark, codec.encode(content)]) : codec.encode(content);
  await turnAfter(bytes.length);
  return bytes;
}

/** A text with splices of its body applied, which must be sorted and apart. Throws `unencodable`. */
export function rewrite(text: Text, splices: readonly Splice[], newLines: NewLines = "neighbour"): Text {
  return rewriteRaw(text, rawSplices(text, splices, newLines));
}

/** The same with splices of `raw`, whose line endings are taken literally. */
export function rewriteRaw(text: Text, splices: readonly Splice[]): Text {
  const changes = splices
    .map(splice => trimmed(text.raw, withoutSecondMark(text, splice)))
    .filter(s => s.text !== "" || s.end > s.start);
  if (changes.length === 0) return text;
  if (text.doubt !== undefined) refuseDoubtful(text, changes, text.doubt);
  let fine = "";
  for (const { start, text: added } of changes) {
    if (added === fine) continue; // the same text in many places
    const at = text.codec.unencodable(added);
    if (at >= 0) refuseUnencodable(text.path, text.codec, added, at, lineAt(text.raw, start));
    fine = added;
  }
  const halved = text.bytes.length === text.raw.length ? -1 : halvedAt(text.raw, changes);
  if (halved >= 0) refuseUnencodable(text.path, text.codec, "\ufffd", 0, lineAt(text.raw, halved));
  const bytes = spliceUtf8(text, changes);
  if (bytes !== undefined) return textLater(text, bytes, () => spliced(text.raw, changes));
  const raw = spliced(text.raw, changes);
  const whole = text.codec.token === undefined ? encodeWhole(text, raw) : spliceBytes(text, changes);
  return { ...text, bytes: whole, raw, ...breaksOf(raw) };
}

/** New text at the top of a file that has a byte-order mark does not bring another one. */
function withoutSecondMark({ mark, raw }: Text, splice: Splice): Splice {
  const second = mark && splice.start === 0 && splice.text.startsWith("\ufeff") && !raw.startsWith("\ufeff");
  return second ? { ...splice, text: splice.text.slice(1) } : splice;
}

/** Characters beyond ASCII that were in the replaced part keep their bytes, whatever the encoding. */
function refuseDoubtful(
  { path, raw, codec }: Text,
  changes: readonly Splice[],
  likely: readonly string[],
): void {
  // In UTF-16, or where it is the file's own encoding, plain ASCII is other bytes, too.
  const wide = isWide(codec) || likely.some(name => name.startsWith("utf-16"));
  for (const { start, end, text } of changes) {
    const kept = wide ? [] : [...raw.slice(start, end)].filter(isBeyondAscii);
    let at = 0;
    for (const character of text) {
      const isNew = wide || isBeyondAscii(character);
      const place = isNew ? kept.indexOf(character) : 0;
      if (place < 0) {
        const line = lineAt(raw, start) + lineAt(text, at) - 1;
        throw new Fault("unencodable", { path, encoding: codec.name, character, line, likely });
      }
      if (isNew) kept.splice(0, place + 1);
      at += character.length;
    }
  }
}

function isBeyondAscii(character: string): boolean {
  return character > "\x7f";
}

/** The characters of a large file are decoded on demand. */
function textLater({ path, codec, mark }: Text, bytes: Buffer, spliceRaw: () => string): Text {
  let made: Pick<Text, "raw" | "body" | "breaks"> | undefined;
  const make = () => {
    if (made !== undefined) return made;
    const raw = spliceRaw();
    made = { raw, ...breaksOf(raw) };
    return made;
  };
  return {
    path,
    bytes,
    codec,
    mark,
    get raw() {
      return make().raw;
    },
    get body() {
      return make().body;
    },
    get breaks() {
      return make().breaks;
    },
  };
}

/** The same file with its byte-order mark as the first character of the text. */
export function withMarkInText(text: Text): Text {
  if (!text.mark) return text;
  const raw = `\ufeff${text.raw}`;
  return { ...text, mark: false, raw, ...breaksOf(raw) };
}

/** The way back. */
export function withMarkApart(text: Text): Text {
  if (text.mark || text.codec.mark.length === 0 || !text.raw.startsWith("\ufeff")) return text;
  const raw = text.raw.slice(1);
  return { ...text, mark: true, raw, ...breaksOf(raw) };
}

function encodeWhole(text: Text, raw: string): Buffer {
  const head = text.mark ? text.codec.mark : undefined;
  // Half a UTF-16 unit at the end of a file is not text, and stays.
  const odd = text.codec.name.startsWith("utf-16") && text.bytes.length % 2 === 1;
  const parts = [head, text.codec.encode(raw), odd ? text.bytes.subarray(-1) : undefined];
  const present = parts.filter(part => part !== undefined);
  return present.length === 1 && present[0] !== undefined ? present[0] : Buffer.concat(present);
}

const mostParts = 1000; // beyond, it is quicker to encode the whole

/** Valid UTF-8 needs encoding only for new text. Undefined if it is not valid UTF-8. */
function spliceUtf8({ codec, mark, raw, bytes }: Text, splices: readonly Splice[]): Buffer | undefined {
  if (codec !== utf8 || splices.length > mostParts || !raw.isWellFormed()) return undefined;
  const head = mark ? utf8.mark.length : 0;
  const plain = bytes.length - head === raw.length; // one byte for each character
  const parts: Buffer[] = [];
  let chars = 0;
  let at = head;
  let done = 0;
  const advance = (to: number) => {
    at += plain ? to - chars : Buffer.byteLength(raw.slice(chars, to));
    chars = to;
    return at;
  };
  for (const { start, end, text } of splices) {
    if (!text.isWellFormed() || isBetweenHalves(raw, start) || isBetweenHalves(raw, end)) return undefined;
    parts.push(bytes.subarray(done, advance(start)), Buffer.from(text));
    done = advance(end);
  }
  parts.push(bytes.subarray(done));
  return Buffer.concat(parts);
}

/** For encodings that do not give their bytes back: finds the bytes of each splice and replaces only those. */
function spliceBytes(text: Text, splices: readonly Splice[]): Buffer {
  const { path, raw, bytes } = text;
  const parts: Buffer[] = [];
  const token = text.codec.token ?? (() => ({ bytes: 1, chars: 1 }));
  let chars = 0;
  let at = 0;
  let done = 0;
  // 0x0A never occurs inside a character, so whole lines are skipped without decoding them again.
  const advance = (to: number) => {
    for (let end = raw.indexOf("\n", chars); end >= 0 && end < to; end = raw.indexOf("\n", chars)) {
      at = bytes.indexOf(0x0a, at) + 1;
      chars = end + 1;
    }
    while (chars < to) {
      const next = token(bytes, at);
      at += next.bytes;
      chars += next.chars;
    }
    // A few sequences encode two characters, and cannot be split between them.
    if (chars > to) refuseUnencodable(path, text.codec, raw, to, 1);
    return at;
  };
  for (const splice of splices) {
    parts.push(bytes.subarray(done, advance(splice.start)), text.codec.encode(splice.text));
    done = advance(splice.end);
  }
  parts.push(bytes.subarray(done));
  return Buffer.concat(parts);
}

function refuseUnencodable(path: string, codec: Codec, added: string, at: number, line: number): void {
  if (at < 0) return;
  const character = String.fromCodePoint(added.codePointAt(at) ?? 0xfffd).toWellFormed();
  throw new Fault("unencodable", {
    path,
    encoding: codec.name,
    character,
    line: line + lineAt(added, at) - 1,
  });
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
