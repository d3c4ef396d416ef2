// A JavaScript regular expression as people write it, parsed once and written twice: for JavaScript's own engine and,
// without look-around and back-references, in Rust's syntax for a linear one, with the same meaning.
//
// The two differ in many points, and JavaScript's reading holds: `\d`, `\w` and `\b` are ASCII, `\s` is JavaScript's
// white space, `{` and `\_` may be literal. Characters are code points (flag `u`); a pattern that is invalid with `u`
// is read by the old rules. Notations that JavaScript lacks are accepted: `(?i)` at the start, `(?P<name>…)`,
// `[[:alpha:]]`. Matching is line by line, so a line break is refused.
import { Fault, type PatternProblem } from "../fault.ts";

export interface Expression {
  /** For JavaScript. */
  readonly source: string;
  readonly flags: string;
  /** For a linear engine; undefined where only JavaScript's will do. */
  readonly linear: string | undefined;
  readonly ignoreCase: boolean;
  /** Without repetition: it cannot run away in either engine. */
  readonly quick: boolean;
}

export interface ExpressionOptions {
  readonly ignoreCase?: boolean;
  /** The match has no letter, digit or underscore next to it, outside or inside ASCII. */
  readonly wholeWord?: boolean;
}

const longest = 4096;

/** Throws `invalid_pattern`. */
export function readExpression(written: string, options: ExpressionOptions = {}): Expression {
  const [opening = "", letters = ""] = /^\(\?([imsu]+)\)/.exec(written) ?? [];
  const ignoreCase = (options.ignoreCase ?? false) || letters.includes("i");
  const wholeWord = options.wholeWord ?? false;
  const body = written.slice(opening.length);
  const refuse = (problem: PatternProblem): never => {
    throw new Fault("invalid_pattern", { pattern: written.slice(0, 200), kind: "regex", problem });
  };
  if (written.length > longest) refuse({ is: "too_long", limit: longest, unit: "characters" });
  let message = "";
  for (const unicode of [true, false]) {
    const reading = new ExpressionReader(body, unicode);
    const { js, quick, breaks } = reading;
    const flags = `${unicode ? "u" : ""}${ignoreCase ? "i" : ""}`;
    const source = wholeWord ? asWord(js, unicode) : js;
    const failure = compileFailure(source, flags);
    if (failure !== undefined) {
      message = failure;
      continue;
    }
    if (breaks) refuse({ is: "line_break" });
    const linear = wholeWord && reading.linear !== undefined ? linearWord(reading.linear) : reading.linear;
    return { source, flags, linear, ignoreCase, quick };
  }
  return refuse({ is: "message", message });
}

function compileFailure(source: string, flags: string): string | undefined {
  try {
    new RegExp(source, flags);
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return said.slice(said.lastIndexOf(": ") + 2);
  }
}

function asWord(source: string, unicode: boolean): string {
  const word = unicode ? "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]" : "\\w";
  return `(?<!${word})(?:${source})(?!${word})`;
}

/** The same in the linear engine, whose words are Unicode's by themselves. */
function linearWord(source: string): string {
  return `\\b{start-half}(?:${source})\\b{end-half}`;
}

const digit = "0-9";
const word = "0-9A-Za-z_";
const space =
  "\\t\\x0B\\x0C\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}";
const sets: Readonly<Record<string, string>> = { d: digit, w: word, s: space };
const controls: Readonly<Record<string, number>> = { f: 12, n: 10, r: 13, t: 9, v: 11, "0": 0 };

const posix: ReadonlyMap<string, string> = new Map(
  Object.entries({
    alpha: "A-Za-z",
    digit: "0-9",
    alnum: "0-9A-Za-z",
    upper: "A-Z",
    lower: "a-z",
    xdigit: "0-9A-Fa-f",
    word: "0-9A-Za-z_",
    space: "\\t\\x0B\\x0C\\r ",
    blank: "\\t ",
    punct: "!-\\/:-@\\[-`{-~",
    cntrl: "\\x00-\\x1F\\x7F",
    print: "\\x20-\\x7E",
    graph: "\\x21-\\x7E",
  }),
);

/** The value of an escape or a character: a character, or a set. */
type Item = { readonly point: number } | { readonly set: string } | undefined;

class ExpressionReader {
  js = "";
  linear: string | undefined = "";
  quick = true;
  /** Whether a line break occurs outside of a class. */
  breaks = false;
  readonly #text: string;
  readonly #unicode: boolean;
  #at = 0;
  #groups = 0;

  constructor(text: string, unicode: boolean) {
    this.#text = text;
    this.#unicode = unicode;
    while (this.#at < text.length) this.#step();
    if (this.#groups > 2) this.quick = false; // alternatives in a row multiply
  }

  #put(js: string, linear: string | undefined): void {
    this.js += js;
    this.linear = linear === undefined || this.linear === undefined ? undefined : this.linear + linear;
    if (linear === undefined) this.quick = false;
  }

  /** The match of a token at the current position, if any. */
  #match(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    return form.exec(this.#text);
  }

  #step(): void {
    const char = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const repetition = this.#match(/[*+?]|\{\d+(?:,\d*)?\}/y)?.[0];
    if (char === "(") this.#group();
    else if (char === "[") this.#class();
    else if (char === "\\") this.#escape();
    else if (repetition !== undefined) this.#repeat(repetition);
    else {
      this.#at += char.length;
      if (char === "\n") this.breaks = true;
      if (char === ".") this.#put(char, "[^\\n\\r\\x{2028}\\x{2029}]");
      else if (/[)|^$]/.test(char)) this.#put(char, char);
      else this.#put(/[{}\]]/.test(char) ? `\\${char}` : char, plain(char.codePointAt(0) ?? 0));
    }
  }

  #repeat(written: string): void {
    this.#at += written.length;
    this.quick = false;
    this.#put(written, written);
  }

  #group(): void {
    this.#groups++;
    const opening = this.#match(/\((?:\?(?:P?<(?![=!])[^>]*>|<?[=!]|:)?)?/y)?.[0] ?? "(";
    this.#at += opening.length;
    const known = !/^\(\?(<?[=!])?$/.test(opening);
    this.#put(opening.replace("(?P<", "(?<"), known ? "(?:" : undefined);
  }

  #escape(): void {
    const from = this.#at;
    const next = this.#text[from + 1] ?? "";
    if (/[bB1-9k]/.test(next)) {
      this.#at += 2;
      this.#put(`\\${next}`, /[bB]/.test(next) ? `(?-u:\\${next})` : undefined);
      return;
    }
    const item = this.#item();
    if (item !== undefined && "point" in item && item.point === 10) this.breaks = true;
    const linear = item === undefined ? undefined : "set" in item ? `[${item.set}]` : plain(item.point);
    this.#put(this.#written(from, item), linear);
  }

  /** An item for JavaScript, which does not take the escape of a character that needs none together with `u`. */
  #written(from: number, item: Item): string {
    const written = this.#text.slice(from, this.#at);
    return item !== undefined && "point" in item && /^\\[^\w^$\\.*+?()[\]{}|/]$|^\\_$/u.test(written)
      ? `\\u{${item.point.toString(16)}}`
      : written;
  }

  #class(): void {
    const opening = this.#text[this.#at + 1] === "^" ? "[^" : "[";
    this.#at += opening.length;
    let js = opening;
    let linear: string | undefined = opening;
    const add = (item: Item): void => {
      if (item === undefined) linear = undefined;
      else if (linear !== undefined) linear += "set" in item ? `[${item.set}]` : plain(item.point);
    };
    if (this.#text[this.#at] === "]") linear = undefined; // nothing, or anything at all
    while (this.#at < this.#text.length && this.#text[this.#at] !== "]") {
      const named = this.#match(/\[:([a-z]+):\]/y);
      const members = named === null ? undefined : posix.get(named[1] ?? "");
      if (named !== null && members !== undefined) {
        this.#at += named[0].length;
        js += members;
        if (linear !== undefined) linear += members;
        continue;
      }
      const from = this.#at;
      const low = this.#item();
      const first = this.#written(from, low);
      const dash = this.#text[this.#at] === "-" && !["]", undefined].includes(this.#text[this.#at + 1]);
      if (!dash) {
        add(low);
        js += first;
        continue;
      }
      const second = ++this.#at;
      const high = this.#item();
      const isRange = low !== undefined && high !== undefined && "point" in low && "point" in high;
      js += `${first}${isRange ? "-" : "\\-"}${this.#written(second, high)}`;
      if (!isRange) for (const item of [low, { point: 45 }, high]) add(item);
      else if (linear !== undefined) linear += `${plain(low.point)}-${plain(high.point)}`;
    }
    if (this.#at < this.#text.length) {
      this.#at++;
      js += "]";
      if (linear !== undefined) linear += "]";
    }
    this.#put(js, linear);
  }

  /** A character, or an escape for one or for a set; undefined if only JavaScript knows it. */
  #item(): Item {
    const point = this.#text.codePointAt(this.#at) ?? 0;
    if (point !== 92) {
      this.#at += point > 0xffff ? 2 : 1;
      return { point };
    }
    const coded = this.#match(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|c([A-Za-z]))/y);
    if (coded !== null) {
      this.#at += coded[0].length;
      const [, byte, unit, braced, control] = coded;
      if (control !== undefined) return { point: control.charCodeAt(0) % 32 };
      if (braced !== undefined && !this.#unicode) return undefined;
      const value = Number.parseInt(byte ?? unit ?? braced ?? "", 16);
      return value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff) ? undefined : { point: value };
    }
    const property = this.#unicode ? this.#match(/\\([pP])\{([A-Za-z_]+)\}/y) : null;
    if (property !== null) {
      this.#at += property[0].length;
      return { set: property[0] };
    }
    const letter = String.fromCodePoint(this.#text.codePointAt(this.#at + 1) ?? 92);
    this.#at += 1 + letter.length;
    const set = sets[letter.toLowerCase()];
    if (set !== undefined) return { set: letter in sets ? set : `^${set}` };
    if (letter === "b") return { point: 8 }; // only in a class
    if (letter === "0" && /\d/.test(this.#text[this.#at] ?? "")) return undefined;
    const control = controls[letter];
    if (control !== undefined) return { point: control };
    return /[1-9ckpPux]/.test(letter) ? undefined : { point: letter.codePointAt(0) ?? 0 };
  }
}

/** A literal character for the linear engine. */
function plain(point: number): string {
  if (point < 32 || point === 127) return `\\x{${point.toString(16)}}`;
  const char = String.fromCodePoint(point);
  return /[\\^$.*+?()[\]{}|#&~-]/.test(char) ? `\\${char}` : char;
}
