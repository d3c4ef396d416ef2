// What a text must hold so that an expression can match in it: pieces of plain text, found in the expression without
// running it. It is read as ripgrep reads it (Rust's syntax, and with look-around PCRE2's); wherever the two differ,
// or anything is not understood with certainty, nothing is demanded, which is always right and only costs time.

/** All of `texts`, and of each of `any` at least one. Texts are bytes as Latin-1, with the letters A–Z in lower case. */
export interface Need {
  readonly texts: readonly string[];
  readonly any: readonly (readonly Need[])[];
}

/** Shorter texts demand nothing. */
const shortest = 3;

/** What stands one behind the other: bytes, something of unknown length, or something with needs of its own. */
type Piece = string | undefined | readonly Need[];

/** Bytes of plain text that must be there as they are, but for case. Line breaks are left to whoever searches. */
export function needOfText(text: string, ignoreCase: boolean): Need | undefined {
  return needOf([...text].map(char => bytesOf(char, ignoreCase)));
}

/** Undefined where nothing is demanded. */
export function needOfExpression(pattern: string, ignoreCase: boolean): Need | undefined {
  const [opening = "", flags = ""] = /^\(\?([ims]+)\)/.exec(pattern) ?? [];
  const reader = new Reader(pattern, opening.length, ignoreCase || flags.includes("i"));
  try {
    const pieces = reader.alternatives(0);
    return reader.isAtEnd ? needOf(pieces) : undefined;
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined;
    throw error;
  }
}

class NotUnderstood extends Error {}

function needOf(pieces: readonly Piece[]): Need | undefined {
  const texts: string[] = [];
  const any: (readonly Need[])[] = [];
  let run = "";
  for (const piece of [...pieces, undefined]) {
    if (typeof piece === "string") run += piece;
    else {
      if (run.length >= shortest) texts.push(run);
      run = "";
      if (piece !== undefined) any.push(piece);
    }
  }
  return texts.length + any.length === 0 ? undefined : { texts, any };
}

/** A character as bytes; undefined where other bytes could match it too, or it may not be in one line. */
function bytesOf(char: string, ignoreCase: boolean): string | undefined {
  if (/[\n\r\ufffd\ud800-\udfff]/.test(char) && char.length === 1) return undefined;
  if (char < "\x80") return char.toLowerCase();
  return ignoreCase ? undefined : Buffer.from(char).toString("latin1");
}

const deepest = 50;
const longest = 4096;

class Reader {
  readonly #pattern: string;
  readonly #ignoreCase: boolean;
  #at: number;

  constructor(pattern: string, from: number, ignoreCase: boolean) {
    this.#pattern = pattern;
    this.#at = from;
    this.#ignoreCase = ignoreCase;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  alternatives(depth: number): Piece[] {
    if (depth > deepest) throw new NotUnderstood();
    const branches: Piece[][] = [];
    do branches.push(this.#sequence(depth));
    while (this.#take(/\|/y) !== undefined);
    const [only] = branches;
    if (only !== undefined && branches.length === 1) return only;
    const needs = branches.map(needOf);
    return needs.every(need => need !== undefined) ? [undefined, needs, undefined] : [undefined];
  }

  #sequence(depth: number): Piece[] {
    const pieces: Piece[] = [];
    while (!this.isAtEnd && !/[|)]/.test(this.#pattern[this.#at] ?? "")) {
      pieces.push(...this.#repeated(this.#atom(depth)));
      if (pieces.length > longest) throw new NotUnderstood();
    }
    return pieces;
  }

  #atom(depth: number): Piece[] {
    if (this.#take(/\(\?-u:\[\^\\n\]\)/y) !== undefined) return [undefined]; // any byte
    const group = this.#take(/\((\?(:|<?[=!]|P?<[A-Za-z_]\w*>))?/y);
    if (group !== undefined) {
      if (this.#take(/[?*]/y) !== undefined) throw new NotUnderstood();
      const inside = this.alternatives(depth + 1);
      if (this.#take(/\)/y) === undefined) throw new NotUnderstood();
      return /[=!]$/.test(group) ? [undefined] : inside;
    }
    if (this.#take(/[.^$]/y) !== undefined) return [undefined];
    if (this.#pattern[this.#at] === "[") return [this.#class()];
    if (this.#pattern[this.#at] === "\\") return [this.#escape()];
    const char = this.#take(/[^*+?{}]/uy);
    if (char === undefined) throw new NotUnderstood();
    return [bytesOf(char, this.#ignoreCase)];
  }

  #repeated(pieces: Piece[]): Piece[] {
    const written = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y);
    if (written === undefined) return pieces;
    this.#take(/\?/y);
    if (this.#take(/[*+?{]/y) !== undefined) throw new NotUnderstood();
    const [, least, comma] = /^\{(\d+)(,?)/.exec(written) ?? [];
    const times = written === "+" ? 1 : Number(least ?? 0);
    if (times === 0) return [undefined];
    // The first ones and the last ones: they may be the same.
    const some = Array.from({ length: Math.min(times, 8) }, () => pieces).flat();
    return times <= 8 && comma === "" ? some : [...some, undefined, ...some];
  }

  #escape(): Piece {
    if (this.#take(/\\[bB]\{[a-z-]*\}|\\[bBdDsSwWAz]|\\[pP]\{[^{}]*\}|\\[pP][A-Z]|\\[<>]/y) !== undefined)
      return undefined;
    return bytesOf(this.#character(), this.#ignoreCase);
  }

  /** A character that is written with a backslash. */
  #character(): string {
    const coded = this.#take(/\\(?:x[\da-fA-F]{2}|[xu]\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4})/y);
    if (coded !== undefined) {
      const code = Number.parseInt(coded.replace(/[^\da-fA-F]/g, ""), 16);
      if (code > 0x10ffff) throw new NotUnderstood();
      return String.fromCodePoint(code);
    }
    const control = this.#take(/\\[tnrf]/y);
    if (control !== undefined) return { "\\t": "\t", "\\n": "\n", "\\r": "\r" }[control] ?? "\f";
    const plain = this.#take(/\\[!-/:-@[-`{-~]/y);
    if (plain === undefined) throw new NotUnderstood();
    return plain.slice(1);
  }

  /** Understood where it has one member, in one or both cases; otherwise only its end is looked for. */
  #class(): Piece {
    const negated = this.#take(/\[\^?/y) === "[^";
    const members: (string | undefined)[] = [];
    do {
      if (this.isAtEnd) throw new NotUnderstood();
      if (this.#take(/\[:\^?[a-z]+:\]|\\[dDsSwW]|\\[pP]\{[^{}]*\}/y) !== undefined) members.push(undefined);
      else if (this.#pattern[this.#at] === "\\") members.push(bytesOf(this.#character(), this.#ignoreCase));
      else {
        const char = this.#take(/[^[\\]/uy);
        if (char === undefined) throw new NotUnderstood(); // a class in a class, which only one of the two knows
        members.push(bytesOf(char, this.#ignoreCase));
      }
    } while (this.#take(/\]/y) === undefined);
    const [first] = members;
    return !negated && members.every(member => member === first) ? first : undefined;
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    const taken = form.exec(this.#pattern)?.[0];
    this.#at += taken?.length ?? 0;
    return taken;
  }
}
