// Random names as a file system takes them: any bytes but a slash and NUL, up to 255 of them.
import type { Chance } from "../chance.ts";

const mostBytes = 255;

/** The parts of names; those that programs often mishandle are frequent. */
const pieces: readonly (string | readonly number[])[] = [
  "a",
  "B",
  " ",
  ".",
  "..",
  "-",
  "~",
  "*",
  "?",
  "[a]",
  "{b,c}",
  "!",
  "#",
  "%41",
  "%",
  "'",
  '"',
  "`",
  "$HOME",
  "&",
  ";",
  "|",
  "\n",
  "\r",
  "\t",
  "\x01",
  "\x1b[31m",
  "\x7f",
  "\u0085",
  "\u2028",
  "\ufeff",
  "\u202e",
  "\ufffd",
  "\u00a0",
  "\\",
  "\\x",
  "\\xff",
  "\\xc3\\xa9",
  "\\x5c",
  "\\x0a",
  "\\n",
  "5c",
  "ff",
  "\u00e9",
  "e\u0301",
  "\u00fc",
  "u\u0308",
  "\ud55c",
  "\u1112\u1161\u11ab",
  "\u212b",
  "\u00c5",
  "\ufb01",
  "\u0130",
  "\u0131",
  "\u00df",
  "\u1e9e",
  "\u65e5\u672c",
  "\u{1f600}",
  "\u{1f468}\u200d\u{1f469}",
  "\u{10ffff}",
  "\uffff",
  ".txt",
  ".git",
  "->",
  " -> ",
  "file:",
  "C:",
  "con",
  ".gitignore",
  [0xff],
  [0xfe],
  [0x80],
  [0xc3],
  [0xa9],
  [0xc3, 0xa9],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xed, 0xb3, 0xbf],
  [0xf0, 0x9f, 0x98],
  [0xf4, 0x90, 0x80, 0x80],
  [0xe9],
  [0xdf],
]; // prettier-ignore

/** No name of a file, or one that means something to listings: they leave out `.git`, and obey ignore files. */
const special = new Set([".", "..", ".git", ".gitignore", ".ignore", ".rgignore"]);

/** A name that is not in `taken` yet; every now and then one that looks like one that is. */
export function byteName(chance: Chance, taken: ReadonlyMap<string, unknown>): Buffer {
  for (;;) {
    const name = candidate(chance, taken);
    const text = name.toString("latin1");
    if (name.length > 0 && !special.has(text) && !taken.has(text)) return name;
  }
}

function candidate(chance: Chance, taken: ReadonlyMap<string, unknown>): Buffer {
  const others = [...taken.keys()];
  if (others.length > 0 && chance.below(6) === 0)
    return twin(chance, Buffer.from(chance.pick(others), "latin1"));
  if (chance.below(12) === 0) return plain(chance.bytes(1 + chance.below(mostBytes)));
  const length = chance.below(10) === 0 ? mostBytes : 1 + chance.below(24);
  const parts: Buffer[] = [];
  for (let bytes = 0; bytes < length; ) {
    const piece = anyPiece(chance);
    parts.push(piece);
    bytes += piece.length;
  }
  return plain(Buffer.concat(parts));
}

function anyPiece(chance: Chance): Buffer {
  if (chance.below(4) === 0) return Buffer.from(String.fromCodePoint(chance.below(0x110000)).toWellFormed());
  const piece = chance.pick(pieces);
  return typeof piece === "string" ? Buffer.from(piece) : Buffer.from(piece);
}

/** The other Unicode form, the escaped text, or the other case of a name. */
function twin(chance: Chance, name: Buffer): Buffer {
  const text = name.toString("utf8");
  const escaped = name
    .toString("latin1")
    .replace(/[\x80-\xff\n]/g, c => `\\x${c.charCodeAt(0).toString(16)}`);
  const forms = [text.normalize("NFC"), text.normalize("NFD"), escaped, text.toUpperCase(), text];
  return plain(Buffer.from(chance.pick(forms)));
}

function plain(bytes: Buffer): Buffer {
  return bytes.filter(byte => byte !== 0 && byte !== 47).subarray(0, mostBytes) as Buffer;
}

/** How a caller writes a name: its text, or what is not text with `\xNN`. Undefined if only a listing can tell. */
export function toldAs(name: Buffer): string | undefined {
  if (name.includes("\\x")) return undefined;
  const text = name.toString("utf8");
  if (Buffer.from(text).equals(name)) return text;
  const parts: string[] = [];
  for (let at = 0; at < name.length; ) {
    const length = [1, 2, 3, 4].find(n => isCharacter(name.subarray(at, at + n), n));
    const byte = name[at] ?? 0;
    if (length === undefined) parts.push(`\\x${byte.toString(16)}`);
    else parts.push(byte === 0x5c ? "\\x5c" : name.toString("utf8", at, at + length));
    at += length ?? 1;
  }
  return parts.join("");
}

function isCharacter(bytes: Buffer, length: number): boolean {
  const text = bytes.toString("utf8");
  return bytes.length === length && [...text].length === 1 && Buffer.from(text).equals(bytes);
}
