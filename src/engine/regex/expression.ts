// A JavaScript regular expression as people write it, parsed once and written twice: for JavaScript's own engine and,
// without look-around and back-references, in Rust's syntax for a linear one, with the same meaning.
//
// The two differ in many points, and JavaScript's reading holds: `\d`, `\w` and `\b` are ASCII, `\s` is JavaScript's
// white space, `{` and `\_` may be literal. Characters are code points (flag `u`); a pattern that is invalid with `u`
// is read by the old rules. Notations that JavaScript lacks are accepted: `(?i)` at the start, `(?P<name>…)`,
// `[[:alpha:]]`. Matching is line by line, so a line break is refused.
import { Fault, type PatternProblem } from "../fault.ts";
import {
  type Alternatives,
  type CharacterClass,
  type ClassMember,
  parseRegex,
  type RegexNode,
} from "./regex-tree.ts";

export interface Expression {
  /** For JavaScript. */
  readonly source: string;
  readonly flags: string;
  /** For a linear engine; undefined if only JavaScript's will do. */
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
    const both = new ExpressionWriter(parseRegex(body, { unicode, posix: posixNames }), unicode);
    const { js, quick, breaks } = both;
    const flags = `${unicode ? "u" : ""}${ignoreCase ? "i" : ""}`;
    const source = wholeWord ? asWord(js, unicode) : js;
    const failure = compileFailure(source, flags);
    if (failure !== undefined) {
      message = failure;
      continue;
    }
    if (breaks) refuse({ is: "line_break" });
    const linear = wholeWord && both.linear !== undefined ? linearWord(both.linear) : both.linear;
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

const sets: Readonly<Record<"d" | "w" | "s", string>> = {
  d: "0-9",
  w: "0-9A-Za-z_",
  s: "\\t\\x0B\\x0C\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}",
};

const posix: ReadonlyMap<string, string> = new Map([
  ["alpha", "A-Za-z"],
  ["digit", "0-9"],
  ["alnum", "0-9A-Za-z"],
  ["upper", "A-Z"],
  ["lower", "a-z"],
  ["xdigit", "0-9A-Fa-f"],
  ["word", "0-9A-Za-z_"],
  ["space", "\\t\\x0B\\x0C\\r "],
  ["blank", "\\t "],
  ["punct", "!-\\/:-@\\[-`{-~"],
  ["cntrl", "\\x00-\\x1F\\x7F"],
  ["print", "\\x20-\\x7E"],
  ["graph", "\\x21-\\x7E"],
]);
const posixNames = new Set(posix.keys());

/** Writes a tree for both engines. */
class ExpressionWriter {
  js = "";
  /** Undefined if only JavaScript's engine will do. */
  linear: string | undefined = "";
  quick = true;
  /** Whether a line break occurs outside of a class. */
  breaks = false;
  readonly #unicode: boolean;
  #groups = 0;

  constructor(tree: Alternatives, unicode: boolean) {
    this.#unicode = unicode;
    this.#alternatives(tree);
    if (this.#groups > 2) this.quick = false; // alternatives in a row multiply
  }

  #put(js: string, linear: string | undefined): void {
    this.js += js;
    this.linear = linear === undefined || this.linear === undefined ? undefined : this.linear + linear;
    if (linear === undefined) this.quick = false;
  }

  #alternatives({ options }: Alternatives): void {
    for (const [i, nodes] of options.entries()) {
      if (i > 0) this.#put("|", "|");
      for (const node of nodes) this.#node(node);
    }
  }

  #node(node: RegexNode): void {
    switch (node.is) {
      case "repetition":
        if (node.of !== undefined) this.#node(node.of);
        this.quick = false;
        this.#put(node.written, node.written);
        break;
      case "any":
        this.#put(".", "[^\\n\\r\\x{2028}\\x{2029}]");
        break;
      case "edge":
        this.#put(node.written, /[bB]/.test(node.written) ? `(?-u:${node.written})` : node.written);
        break;
      case "backreference":
        this.#put(node.written, undefined);
        break;
      case "group":
        this.#groups++;
        this.#put(node.opening, node.kind === "capture" || node.kind === "plain" ? "(?:" : undefined);
        this.#alternatives(node.body);
        if (node.isClosed) this.#put(")", ")");
        break;
      case "class":
        this.#class(node);
        break;
      default:
        if (node.is === "character" && node.point === 10) this.breaks = true;
        this.#put(/^[{}\]]$/.test(node.written) ? `\\${node.written}` : this.#written(node), linearOf(node));
    }
  }

  #class({ negated, members, isClosed }: CharacterClass): void {
    const opening = negated ? "[^" : "[";
    let js = opening;
    // Without members it matches nothing, or anything at all.
    const parts: (string | undefined)[] = [members.length === 0 ? undefined : opening];
    for (const member of members) {
      if (member.is === "posix") {
        js += posix.get(member.name);
        parts.push(posix.get(member.name));
      } else if (member.is === "range") {
        const { low, high } = member;
        const isRange = low.is === "character" && high.is === "character";
        js += `${this.#written(low)}${isRange ? "-" : "\\-"}${this.#written(high)}`;
        parts.push(linearOf(low), isRange ? "-" : "\\-", linearOf(high));
      } else {
        js += this.#written(member);
        parts.push(linearOf(member));
      }
    }
    const close = isClosed ? "]" : "";
    this.#put(js + close, parts.includes(undefined) ? undefined : parts.join("") + close);
  }

  /** Together with `u`, JavaScript does not take the escape of a character that needs none. */
  #written(member: ClassMember): string {
    const { written } = member;
    return member.is === "character" && this.#unicode && /^\\[^\w^$\\.*+?()[\]{}|/]$|^\\_$/u.test(written)
      ? `\\u{${member.point.toString(16)}}`
      : written;
  }
}

/** For the linear engine, in a class or outside; undefined if it does not know it. */
function linearOf(member: ClassMember): string | undefined {
  switch (member.is) {
    case "character":
      return member.point >= 0xd800 && member.point <= 0xdfff ? undefined : plain(member.point);
    case "set":
      return `[${member.negated ? "^" : ""}${sets[member.of]}]`;
    case "property":
      return `[${member.written}]`;
    default:
      return undefined;
  }
}

/** A literal character for the linear engine. */
function plain(point: number): string {
  if (point < 32 || point === 127) return `\\x{${point.toString(16)}}`;
  const char = String.fromCodePoint(point);
  return /[\\^$.*+?()[\]{}|#&~-]/.test(char) ? `\\${char}` : char;
}
