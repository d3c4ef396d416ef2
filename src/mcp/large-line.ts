// Reads a line of some megabytes in pieces, since parsing all of it at once would block the event loop. Such a line is
// nearly always one long text in a small message: long texts are taken out and parsed piece by piece, and the rest
// as it is.
import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { nextTurn } from "../engine/turn.ts";
import { JsonShape, type TextSpan } from "./json-shape.ts";

const usualPiece = 1024 * 1024;
const backslash = 0x5c;
/** The longest escape, `\u0000`, without its last byte. */
const mostEscaped = 5;

export type LargeValue =
  | { readonly value: unknown /** The text without its long strings. */; readonly text: string }
  | { readonly problem: string }
  | "not UTF-8"
  | "not JSON";

/** Texts of more than `pieceBytes` are parsed in pieces of about that size. */
export async function parseLargeLine(line: Buffer, pieceBytes = usualPiece): Promise<LargeValue> {
  if (!isUtf8(line)) return "not UTF-8";
  const shape = new JsonShape(pieceBytes);
  for (let at = 0; at < line.length; at += pieceBytes) {
    const problem = shape.take(line.subarray(at, at + pieceBytes));
    if (problem !== undefined) return { problem };
    await nextTurn();
  }
  const token = randomBytes(16).toString("hex");
  try {
    const text = withoutTexts(line, shape.longTexts, token);
    const value: unknown = JSON.parse(text);
    const texts: string[] = [];
    for (const span of shape.longTexts)
      texts.push(await parsedText(line.subarray(span.start + 1, span.end), pieceBytes));
    return { value: filled(value, token, texts), text };
  } catch {
    return "not JSON";
  }
}

/** The line with a short string in the place of each long one: the token and its number. */
function withoutTexts(line: Buffer, longTexts: readonly TextSpan[], token: string): string {
  const parts: Buffer[] = [];
  let at = 0;
  for (const [i, { start, end }] of longTexts.entries()) {
    parts.push(line.subarray(at, start), Buffer.from(`"${token}${i}`));
    at = end; // the quote at the end stays
  }
  return Buffer.concat([...parts, line.subarray(at)]).toString("utf8");
}

/** The value of a JSON string, given what is between its quotes. */
async function parsedText(bytes: Buffer, pieceBytes: number): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = cutAfter(bytes, at + pieceBytes);
    parts.push(JSON.parse(`"${bytes.toString("utf8", at, end)}"`) as string);
    at = end;
    await nextTurn();
  }
  return parts.join("");
}

/** The next place that is inside of no character and no escape. */
function cutAfter(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (((bytes[at] ?? 0) & 0xc0) === 0x80) continue;
    const last = bytes.subarray(Math.max(0, at - mostEscaped), at).lastIndexOf(backslash);
    if (last < 0) return at;
  }
  return bytes.length;
}

/** The value with the long texts back in it. Where two keys are the same, one of the texts is not in the value. */
function filled(value: unknown, token: string, texts: readonly string[]): unknown {
  if (typeof value === "string") {
    const number = value.startsWith(token) ? Number(value.slice(token.length)) : Number.NaN;
    return texts[number] ?? value;
  }
  if (Array.isArray(value)) return value.map(one => filled(one, token, texts));
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    const name = String(filled(key, token, texts));
    // An own property, also where it is named `__proto__`.
    Object.defineProperty(result, name, {
      value: filled(one, token, texts),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return result;
}
