// Names are bytes; a *written name* is the string that represents them everywhere in the program: in memory, in the
// journal, in the archive, in answers and in parameters. The two forms correspond one to one.
//
// Almost every name is written as its UTF-8 text. A byte that is not UTF-8 is written `\xNN`. A backslash is written
// `\x5c` only in names where it would otherwise be read as such an escape. Printing may also escape what would not
// show, or change what is shown around it (`\x0a` for a line break, see `printedName`), and parsing accepts that. Paths are written name by name, so
// a slash is always a separator.
import { Buffer, isUtf8 } from "node:buffer";
import { decodeBrokenUtf8 } from "../text/escape.ts";
import { onWindows } from "./windows-path.ts";

const escapes = /\\x(0[1-9a-f]|1[0-9a-f]|7f|5c|[89a-f][0-9a-f])/g;
/** Control characters, line and paragraph separators, and the marks and controls of bidirectional text. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Windows names are not bytes, and a backslash separates them. */
const isPlain = onWindows;

/** The written form of one name or of a path. */
export function written(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (isPlain || (!text.includes("\ufffd") && !text.includes("\\x"))) return text;
  if (bytes.indexOf(47) < 0) return writtenName(bytes);
  return split(bytes).map(writtenName).join("/");
}

/** The bytes of a written name or path. */
export function bytesWritten(text: string): Buffer {
  if (isPlain || !text.includes("\\x")) return Buffer.from(text, "utf8");
  const names = text.split("/").map(nameBytes);
  return Buffer.concat(names.flatMap((name, i) => (i === 0 ? [name] : [slash, name])));
}

/** A name from a caller in its written form: printed names are accepted. */
export function readName(text: string): string {
  return isPlain || !text.includes("\\x") ? text : writtenName(nameBytes(text));
}

/** Whether system calls cannot take the written form as it is. */
export function isEscaped(text: string): boolean {
  return !isPlain && text.includes("\\x");
}

/** A written name or path with its control characters made visible, byte by byte. */
export function printedName(text: string): string {
  return text.replace(controls, char => Array.from(Buffer.from(char), escapeOf).join(""));
}

const slash = Buffer.from("/");

function split(path: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at <= path.length; ) {
    const end = path.indexOf(47, at);
    names.push(path.subarray(at, end < 0 ? path.length : end));
    at = end < 0 ? path.length + 1 : end + 1;
  }
  return names;
}

function writtenName(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    const text = bytes.toString("utf8");
    return isMistakable(text) ? text.replaceAll("\\", "\\x5c") : text;
  }
  return decodeBrokenUtf8(bytes)
    .replaceAll("\\", "\\x5c")
    .replace(/[\udc80-\udcff]/gu, char => escapeOf(char.charCodeAt(0) - 0xdc00));
}

function nameBytes(text: string): Buffer {
  return decoded(text) ?? Buffer.from(text, "utf8");
}

/** Whether text that is a whole name would be read as the escaped form of another one, as it is or as it is printed. */
function isMistakable(text: string): boolean {
  if (text.search(escapes) < 0) return false;
  return text.search(controls) >= 0 || decoded(text) !== undefined;
}

/** The name that an escaped form stands for. Undefined if the text is not the written form of a name. */
function decoded(text: string): Buffer | undefined {
  if (text.search(escapes) < 0) return undefined;
  const parts: Buffer[] = [];
  let at = 0;
  for (const match of text.matchAll(escapes)) {
    parts.push(Buffer.from(text.slice(at, match.index), "utf8"));
    parts.push(Buffer.from([Number.parseInt(match[1] ?? "", 16)]));
    at = match.index + match[0].length;
  }
  parts.push(Buffer.from(text.slice(at), "utf8"));
  const bytes = Buffer.concat(parts);
  const form = writtenName(bytes);
  return form === text || printedName(form) === text ? bytes : undefined;
}

function escapeOf(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
