// Codecs: how the bytes of a file become a string and back. Bytes that an encoding cannot decode become lone
// surrogates U+DC80 to U+DCFF (byte + U+DC00) and turn into the same bytes again, so that nothing is lost on the
// way through an edit. Only the legacy encodings need a table, which is loaded when a file first asks for it.
import { isAscii, isUtf8 } from "node:buffer";
import { Fault } from "../fault.ts";
import type { Codec } from "./coding.ts";
import { decodeBrokenUtf8, encodeWithEscapes } from "./escape.ts";
import { legacyCodec } from "./legacy.ts";

const none = Buffer.alloc(0);

export const utf8: Codec = {
  name: "utf-8",
  mark: Buffer.from([0xef, 0xbb, 0xbf]),
  decode: bytes =>
    isAscii(bytes)
      ? bytes.toString("latin1")
      : isUtf8(bytes)
        ? bytes.toString("utf8")
        : decodeBrokenUtf8(bytes),
  encode: text => encodeWithEscapes(text, plain => Buffer.from(plain, "utf8")),
  unencodable: text => text.search(/[\ud800-\udc7f\udd00-\udfff]/u),
};

const utf16le: Codec = {
  name: "utf-16le",
  mark: Buffer.from([0xff, 0xfe]),
  decode: bytes => bytes.toString("utf16le"),
  encode: text => Buffer.from(text, "utf16le"),
  unencodable: () => -1,
};

const utf16be: Codec = {
  name: "utf-16be",
  mark: Buffer.from([0xfe, 0xff]),
  decode: bytes =>
    Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le"),
  encode: text => Buffer.from(text, "utf16le").swap16(),
  unencodable: () => -1,
};

const latin1: Codec = {
  name: "iso-8859-1",
  mark: none,
  decode: bytes => bytes.toString("latin1"),
  encode: text => Buffer.from(text, "latin1"),
  unencodable: text => text.search(/[^\u0000-\u00ff]/u),
};

const builtIn: ReadonlyMap<string, Codec> = new Map([
  ["utf8", utf8],
  ["utf16", utf16le],
  ["utf16le", utf16le],
  ["ucs2", utf16le],
  ["utf16be", utf16be],
  ["latin1", latin1],
  ["iso88591", latin1],
]);

const loaded = new Map<string, Codec>();

/** The codec of a name as people write it (`UTF-8`, `Shift_JIS`, `cp1252`). */
export async function codecNamed(name: string): Promise<Codec> {
  if (name === utf8.name) return utf8;
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const known = builtIn.get(key) ?? loaded.get(key);
  if (known !== undefined) return known;
  const codec = await legacyCodec(name);
  if (codec === undefined) {
    const issue = {
      at: "encoding",
      rule: "encoding",
      expected: "the name of a text encoding",
      got: JSON.stringify(name),
    };
    throw new Fault("invalid_params", { issues: [issue] });
  }
  loaded.set(key, codec);
  return codec;
}
