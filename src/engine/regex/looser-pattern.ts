// Converts a JavaScript expression to a looser one in ripgrep's syntax, which matches wherever the original does, and
// perhaps elsewhere: for finding candidate files, never for deciding. What both engines treat the same (ASCII
// characters and classes, groups, alternatives, repetition) is carried over; what they may treat differently becomes
// "anything" or no condition; anything uncertain gives no pattern at all.
//
// JavaScript counts UTF-16 units and ripgrep bytes, including invalid UTF-8: one unit is up to four bytes, or none
// for the second half of a character.

const anyByte = "(?-u:[^\\n])";
const anyUnit: LooserPart = { source: `${anyByte}{0,4}`, empty: true, wide: true };
const anything: LooserPart = { source: `${anyByte}*`, empty: true, wide: true };
const nothing: LooserPart = { source: "", empty: true, wide: false };

/** Repetitions beyond this many are not counted. */
const mostCounted = 8;
const deepest = 50;

interface LooserPart {
  readonly source: string;
  /** Whether it may match nothing. */
  readonly empty: boolean;
  /** Whether it matches any text. */
  readonly wide: boolean;
}

/**
 * The pattern for single lines, matched with the original's case sensitivity. Undefined if there is none, or if it
 * would match every line. The original must be valid, without the flags `u` and `v`.
 */
export function looserPattern(pattern: string, ignoreCase: boolean): string | undefined {
  const reader = new LooserReader(pattern, ignoreCase);
  const part = reader.alternatives(0);
  return part === undefined || part.empty || !reader.isAtEnd ? undefined : part.source;
}

class LooserReader {
  readonly #pattern: string;
  readonly #ignoreCase: boolean;
  #at = 0;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#pattern = pattern;
    this.#ignoreCase = ignoreCase;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  alternatives(depth: number): LooserPart | undefined {
    if (depth > deepest) return undefined;
    const parts: LooserPart[] = [];
    do {
      const part = this.#sequence(depth);
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.#take("|"));
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    const source = `(?:${parts.map(part => part.source).join("|")})`;
    return { source, empty: parts.some(part => part.empty), wide: false };
  }

  #sequence(depth: number): LooserPart | undefined {
    let source = "";
    let empty = true;
    while (!this.isAtEnd && !/[|)]/.test(this.#peek())) {
      const atom = this.#atom(depth);
      const part = atom && this.#repeated(atom);
      if (part === undefined) return undefined;
      source += part.source;
      empty &&= part.empty;
    }
    return { source, empty, wide: false };
  }

  #atom(depth: number): LooserPart | undefined {
    const char = this.#next();
    switch (char) {
      case "^":
      case "$":
        return nothing;
      case ".":
        return anyUnit;
      case "(":
        return this.#group(depth);
      case "[":
        return this.#class();
      case "\\":
        return this.#escape();
      default:
        return this.#literal(char.charCodeAt(0));
    }
  }

  #group(depth: number): LooserPart | undefined {
    const opening = /^(\?(:|<?[=!]|<[A-Za-z_$][\w$]*>))?/.exec(this.#pattern.slice(this.#at, this.#at + 200));
    const kind = opening?.[2] ?? "";
    this.#at += opening?.[0].length ?? 0;
    if (this.#peek() === "?") return undefined;
    const inside = this.alternatives(depth + 1);
    if (inside === undefined || !this.#take(")")) return undefined;
    // Assertions are left to the exact match.
    if (/^<?[=!]$/.test(kind)) return nothing;
    return { ...inside, source: `(?:${inside.source})` };
  }

  #repeated(part: LooserPart): LooserPart {
    const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;
    quantifier.lastIndex = this.#at;
    const written = quantifier.exec(this.#pattern);
    if (written === null) return part;
    this.#at += written[0].length;
    const [, sign, least = "0", comma, most] = written;
    const from = sign === "+" ? 1 : sign === undefined ? Math.min(Number(least), mostCounted) : 0;
    const once = sign === "?" || (comma === "" && Number(least) === 1) || (least === "0" && most === "1");
    if (part.source === "") return nothing;
    if (part.wide) return anything;
    const source = `(?:${part.source})${once ? (from === 0 ? "?" : "") : `{${from},}`}`;
    return { source, empty: part.empty || from === 0, wide: false };
  }

  #escape(): LooserPart | undefined {
    const char = this.#next();
    if (/[bB]/.test(char)) return nothing;
    if (/[DSWs]/.test(char)) return anyUnit;
    if (char === "d" || char === "w") return classOf(shorthand[char]);
    if (/[1-9k]/.test(char)) {
      const rest = char === "k" ? /^<[^>]*>/ : /^\d*/;
      this.#at += rest.exec(this.#pattern.slice(this.#at))?.[0].length ?? 0;
      return anything;
    }
    const code = this.#escapedCode(char);
    return code === undefined ? undefined : this.#literal(code);
  }

  /** The code unit of an escape; undefined if uncertain. */
  #escapedCode(char: string): number | undefined {
    const control = { t: 9, v: 11, f: 12, r: 13 }[char];
    if (control !== undefined) return control;
    if (char === "x" || char === "u") {
      const length = char === "x" ? 2 : 4;
      const digits = this.#pattern.slice(this.#at, this.#at + length);
      if (digits.length < length || !/^[\da-fA-F]+$/.test(digits)) return undefined;
      this.#at += length;
      return Number.parseInt(digits, 16);
    }
    return /[\w\n]/.test(char) || char === "" ? undefined : char.charCodeAt(0);
  }

  #literal(code: number): LooserPart | undefined {
    if (code === 10 || Number.isNaN(code)) return undefined;
    // The engines differ on case beyond ASCII, on halves of characters, and on invalid bytes.
    const isSame = code < 128 || (!this.#ignoreCase && code !== 0xfffd && (code < 0xd800 || code > 0xdfff));
    return isSame ? { source: hex(code), empty: false, wide: false } : anyUnit;
  }

  #class(): LooserPart | undefined {
    const negated = this.#take("^");
    const ranges: CodePointRange[] = [];
    let plain = !negated;
    let open: number | undefined; // the start of a range
    let last: number | undefined;
    for (;;) {
      if (this.isAtEnd) return undefined;
      const char = this.#next();
      if (char === "]") break;
      let code: number | undefined = char.charCodeAt(0);
      if (char === "\\") {
        const escaped = this.#next();
        if (/[dDwWsS]/.test(escaped)) {
          if (open !== undefined || this.#peek() === "-") return undefined;
          if (escaped === "d" || escaped === "w") ranges.push(...shorthand[escaped]);
          else plain = false;
          last = undefined;
          continue;
        }
        code = escaped === "b" ? 8 : escaped === "n" ? 10 : this.#escapedCode(escaped);
        if (code === undefined) return undefined;
      } else if (char === "-" && last !== undefined && open === undefined && this.#peek() !== "]") {
        open = last;
        continue;
      }
      ranges.push([open ?? code, code]);
      last = open === undefined ? code : undefined;
      open = undefined;
    }
    if (!plain || ranges.length === 0 || ranges.some(([, high]) => high > 127)) return anyUnit;
    return classOf(ranges);
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? "";
  }

  #next(): string {
    return this.#pattern[this.#at++] ?? "";
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }
}

type CodePointRange = readonly [low: number, high: number];

const shorthand: Readonly<Record<"d" | "w", readonly CodePointRange[]>> = {
  d: [[48, 57]],
  w: [
    [48, 57],
    [65, 90],
    [95, 95],
    [97, 122],
  ],
};

function classOf(ranges: readonly CodePointRange[]): LooserPart {
  const source = `[${ranges.map(([low, high]) => `${hex(low)}-${hex(high)}`).join("")}]`;
  return { source, empty: false, wide: false };
}

function hex(code: number): string {
  return /\w/.test(String.fromCharCode(code)) && code < 128
    ? String.fromCharCode(code)
    : `\\x{${code.toString(16)}}`;
}
