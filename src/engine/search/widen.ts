// A wider expression for ripgrep, which searches bytes: it also matches where the query would match after decoding a
// file in a legacy encoding, or in UTF-16 without a mark. Its results are decoded and searched again with the query
// itself (confirm.ts), so it may match too much; it misses only UTF-16 text beyond ASCII against a class.
import { codecNamed } from "../text/codec.ts";
import type { Query } from "./ripgrep.ts";
import { ripgrepTokens } from "./ripgrep-tokens.ts";

/** Those that a file without a mark may be found to have (text/guess.ts). */
const legacyEncodings = [
  "windows-1251",
  "koi8-r",
  "shift_jis",
  "euc-jp",
  "gb18030",
  "big5",
  "euc-kr",
  "windows-1252",
];

/** One character of a legacy encoding beyond ASCII: one byte, or two. */
const legacyCharacter = "(?-u:[\\x80-\\xff][\\x40-\\xff]?)";

export interface Widened {
  readonly query: Query;
  /** Whether lines of ASCII without zero bytes match it exactly where they match the query. */
  readonly isExactOnAscii: boolean;
}

/** Undefined if the expression is not understood: foreign-files.ts finds what ripgrep then misses. */
export async function widened(query: Query): Promise<Widened | undefined> {
  const { pattern, literal, ignoreCase = false, multiline } = query;
  if (pattern === "" || (multiline && !literal) || /[\n\r\0]/.test(pattern)) return undefined;
  const atoms = literal ? [...pattern].map(char => ({ char })) : atomsOf(pattern);
  if (atoms?.some(atom => !("notation" in atom)) !== true) return undefined;
  const isLegacy = !literal && !atoms.every(isAscii);
  const write = await Writer.for(atoms, ignoreCase);
  const forms = new Set([
    literal ? write.plain(atoms) : pattern,
    ...(literal ? write.encodings(atoms) : isLegacy ? [write.legacy(atoms)] : []),
    write.wide(atoms, (char, zero) => char + zero),
    write.wide(atoms, (char, zero) => zero + char),
  ]);
  const wider = { ...query, literal: false, pattern: [...forms].map(form => `(?:${form})`).join("|") };
  return { query: wider, isExactOnAscii: isExactOnAscii(atoms, isLegacy) };
}

/**
 * Without their assertions, the forms may match where the query does not. Those in UTF-16 have none, but match no line
 * without a zero byte unless they match the empty text. Those in a legacy encoding have `^` and `$`.
 */
function isExactOnAscii(atoms: readonly Atom[], isLegacy: boolean): boolean {
  const assertions = atoms.flatMap(atom => ("notation" in atom && atom.isAssertion ? [atom.notation] : []));
  if (assertions.length === 0) return true;
  if (isLegacy && assertions.some(isDroppedFromLegacy)) return false;
  return !matchesNothing(atoms);
}

function isDroppedFromLegacy(assertion: string): boolean {
  return assertion.startsWith("\\");
}

/** Whether it may match the empty text, assertions aside. */
function matchesNothing(atoms: readonly Atom[]): boolean {
  const source = atoms.map(atom => ("notation" in atom ? (atom.isAssertion ? "" : atom.notation) : "a"));
  try {
    return new RegExp(`^(?:${source.join("").replaceAll("(?i:", "(?:")})$`).test("");
  } catch {
    return true;
  }
}

/** A character; something that matches one character; or notation that is copied, or left out of UTF-16. */
type Atom =
  | { readonly char: string }
  | { readonly one: string; readonly isAscii: boolean }
  | { readonly notation: string; readonly isAssertion: boolean };

/** Whether it means the same in every encoding but UTF-16. */
function isAscii(atom: Atom): boolean {
  if ("char" in atom) return atom.char <= "\x7f";
  return "one" in atom ? atom.isAscii : true;
}

function atomsOf(pattern: string): Atom[] | undefined {
  const tokens = ripgrepTokens(pattern);
  if (tokens === undefined) return undefined;
  const atoms: Atom[] = [];
  for (const token of tokens) {
    if (token.startsWith("[")) {
      const isAscii = /^\[[\w \t!"#$%'()*+,./:;<=>?@`{|}\\-]*\]$/.test(token) && !/\\[^dnrt\W]/.test(token);
      atoms.push({ one: token, isAscii });
    } else if (token.startsWith("(?")) {
      // Flags, names and look-around are of no use to a looser pattern, and may not be repeated.
      if (!/^\(\?(?:P?<\w+>|i?:)$/.test(token)) return undefined;
      atoms.push({ notation: token === "(?i:" ? token : "(?:", isAssertion: false });
    } else if (token === "(") atoms.push({ notation: "(?:", isAssertion: false });
    else if (/^(?:[|)*+?]|\{.*\})$/s.test(token)) atoms.push({ notation: token, isAssertion: false });
    else if (/^(?:[\^$]|\\[bBAz<>].*)$/s.test(token)) atoms.push({ notation: token, isAssertion: true });
    else if (token === "." || /^\\[pPdDsSwW]/.test(token))
      atoms.push({ one: token, isAscii: /^\\[ds]$/.test(token) });
    else if (token.startsWith("\\")) {
      const char = escaped(token);
      if (char === undefined) return undefined;
      atoms.push({ char });
    } else atoms.push({ char: token });
  }
  return atoms;
}

function escaped(token: string): string | undefined {
  const code = /^\\[xu]\{?([\da-fA-F]+)\}?$/.exec(token)?.[1];
  if (code !== undefined) {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff ? undefined : String.fromCodePoint(point);
  }
  const named = { "\\t": "\t", "\\n": "\n", "\\r": "\r", "\\f": "\f", "\\v": "\v", "\\a": "\x07" }[token];
  return named ?? (/^\\[^\w]$/u.test(token) ? token.slice(1) : undefined);
}

class Writer {
  readonly #ignoreCase: boolean;
  /** Each encoding's bytes of the characters beyond ASCII that it has. */
  readonly #encoded: readonly ReadonlyMap<string, Buffer>[];

  private constructor(ignoreCase: boolean, encoded: readonly ReadonlyMap<string, Buffer>[]) {
    this.#ignoreCase = ignoreCase;
    this.#encoded = encoded;
  }

  static async for(atoms: readonly Atom[], ignoreCase: boolean): Promise<Writer> {
    const foreign = new Set(
      atoms.flatMap(atom => ("char" in atom && atom.char > "\x7f" ? casesOf(atom.char, true) : [])),
    );
    const names = foreign.size === 0 ? [] : legacyEncodings;
    const encoded = await Promise.all(
      names.map(async name => {
        const codec = await codecNamed(name);
        const encodable = [...foreign].filter(char => codec.unencodable(char) < 0);
        return new Map(encodable.map(char => [char, codec.encode(char)]));
      }),
    );
    return new Writer(ignoreCase, encoded);
  }

  plain(atoms: readonly Atom[]): string {
    return atoms.map(atom => ("char" in atom ? quoted(atom.char) : "")).join("");
  }

  /** Plain text in each legacy encoding that has all of it. */
  encodings(atoms: readonly Atom[]): string[] {
    return this.#encoded.flatMap(bytes => {
      const parts = atoms.map(atom => ("char" in atom ? this.#inBytes(atom.char, bytes) : undefined));
      return parts.includes(undefined) ? [] : [parts.join("")];
    });
  }

  /** An expression in any of the legacy encodings. */
  legacy(atoms: readonly Atom[]): string {
    return atoms
      .map(atom => {
        if ("notation" in atom)
          return atom.isAssertion && isDroppedFromLegacy(atom.notation) ? "" : atom.notation;
        if ("one" in atom) return atom.isAscii ? atom.one : `(?:${atom.one}|${legacyCharacter})`;
        const forms = this.#encoded.flatMap(bytes => this.#inBytes(atom.char, bytes) ?? []);
        return `(?:${[...new Set([quoted(atom.char), ...forms])].join("|")})`;
      })
      .join("");
  }

  /** The same in UTF-16, where ASCII has a zero byte on one side; `join` puts the two bytes in order. */
  wide(atoms: readonly Atom[], join: (low: string, high: string) => string): string {
    return atoms
      .map(atom => {
        if ("notation" in atom) return atom.isAssertion ? "" : atom.notation;
        if ("one" in atom) return `(?:${join(atom.one, "\\x00")})`;
        const forms = casesOf(atom.char, this.#ignoreCase).map(char =>
          [
            ...Buffer.from(char, "utf16le")
              .toString("latin1")
              .matchAll(/(.)(.)/gs),
          ]
            .map(([, low = "", high = ""]) => join(hex(low.charCodeAt(0)), hex(high.charCodeAt(0))))
            .join(""),
        );
        return `(?-u:${forms.join("|")})`;
      })
      .join("");
  }

  #inBytes(char: string, bytes: ReadonlyMap<string, Buffer>): string | undefined {
    if (char <= "\x7f") return quoted(char);
    const forms = casesOf(char, this.#ignoreCase).flatMap(form => bytes.get(form) ?? []);
    if (forms.length === 0) return undefined;
    return `(?-u:${forms.map(form => [...form].map(hex).join("")).join("|")})`;
  }
}

function casesOf(char: string, ignoreCase: boolean): string[] {
  if (!ignoreCase) return [char];
  return [...new Set([char, char.toLowerCase(), char.toUpperCase()])].filter(form => [...form].length === 1);
}

function quoted(char: string): string {
  return char.replace(/[\\^$.*+?()[\]{}|#&~-]/g, "\\$&");
}

function hex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, "0")}`;
}
