// Encodings from before Unicode, by iconv-lite's tables. Some of them decode two byte sequences to one character,
// so encoding again does not always give the bytes back: `token` walks a line character by character, and an edit
// then replaces bytes only where characters were replaced.
import type { Codec } from "./coding.ts";
import { encodeWithEscapes, escapedByte } from "./escape.ts";

const notByCharacter = /^(utf|ucs|unicode|base64|hex|binary|cesu|internal)/;
const replacement = "\ufffd";
const remembered = 50_000;

/** The codec of a legacy encoding; undefined if there is none of that name, or it is stateful. */
export async function legacyCodec(name: string): Promise<Codec | undefined> {
  // The tables are large; only files in such an encoding pay for them.
  const { default: iconv } = await import("iconv-lite");
  const key = name.toLowerCase().replace(/[^a-z0-9]/g, "");
  if (key === "" || notByCharacter.test(key) || !iconv.encodingExists(name)) return undefined;
  const decodePlain = (bytes: Buffer) => iconv.decode(bytes, name, { stripBOM: false });
  if (decodePlain(Buffer.from("A\n\r~")).slice(0, 3) !== "A\n\r") return undefined;
  const encodePlain = (text: string) => Buffer.from(iconv.encode(text, name, { addBOM: false }));

  const tokens = new Map<number, { bytes: number; chars: number; text: string }>();
  const tokenAt = (bytes: Buffer, at: number) => {
    // Up to four bytes make a character; the same ones come again and again, so they are remembered.
    for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
      const key = bytes.readUIntBE(at, length) * 8 + length;
      let token = tokens.get(key);
      if (token === undefined) {
        const text = decodePlain(bytes.subarray(at, at + length));
        token = { bytes: text.includes(replacement) ? 0 : length, chars: text.length, text };
        if (tokens.size < remembered) tokens.set(key, token);
      }
      if (token.bytes > 0) return token;
    }
    return { bytes: 1, chars: 1, text: escapedByte(bytes[at] ?? 0) };
  };
  const decodeBroken = (line: Buffer) => {
    const parts: string[] = [];
    for (let at = 0; at < line.length; ) {
      const token = tokenAt(line, at);
      parts.push(token.text);
      at += token.bytes;
    }
    return parts.join("");
  };
  const holds = (char: string) =>
    /[\udc80-\udcff]/u.test(char) || (char !== replacement && decodePlain(encodePlain(char)) === char);

  return {
    name: name.toLowerCase(),
    mark: Buffer.alloc(0),
    decode: bytes => {
      const whole = decodePlain(bytes);
      if (!whole.includes(replacement)) return whole;
      // 0x0A never occurs inside a character, so lines and bytes can be walked in parallel.
      let at = 0;
      const lines = whole.split("\n").map(line => {
        const end = bytes.indexOf(0x0a, at);
        const part = bytes.subarray(at, end < 0 ? bytes.length : end);
        at = end + 1;
        return line.includes(replacement) ? decodeBroken(part) : line;
      });
      return lines.join("\n");
    },
    encode: text => encodeWithEscapes(text, encodePlain),
    unencodable: text => {
      if (decodePlain(encodePlain(text)) === text && !text.includes(replacement)) return -1;
      let at = 0;
      for (const char of text) {
        if (!holds(char)) return at;
        at += char.length;
      }
      return -1;
    },
    token: tokenAt,
  };
}
