// A JavaScript regular expression as a syntax tree. It is parsed once, and visitors generate the other forms: for
// JavaScript and for a linear engine with the same meaning (expression.ts), and for ripgrep with a looser one
// (looser-pattern.ts). They also number its groups (groupNumbers).
//
// The parser accepts everything. Invalid parts stay in the tree as written, for JavaScript's engine to refuse.

export interface Alternatives {
  readonly is: "alternatives";
  readonly options: readonly (readonly RegexNode[])[];
}

export type RegexNode =
  | ClassMember
  | RegexGroup
  | CharacterClass
  | { readonly is: "any" }
  | { readonly is: "edge"; readonly written: "^" | "$" | "\\b" | "\\B" }
  /** `\1` or `\k<name>`. */
  | { readonly is: "backreference"; readonly written: string }
  | Repetition;

/** What matches one character outside of a class and may be a member of one. */
export type ClassMember =
  | { readonly is: "character"; readonly point: number; readonly written: string }
  /** `\d`, `\W` and so on. */
  | { readonly is: "set"; readonly of: "d" | "w" | "s"; readonly negated: boolean; readonly written: string }
  | { readonly is: "property"; readonly written: string }
  /** Only JavaScript's engine knows what it means, or refuses it. */
  | { readonly is: "unknown"; readonly written: string };

export interface RegexGroup {
  readonly is: "group";
  readonly kind: "capture" | "plain" | "look" | "unknown";
  readonly name: string | undefined;
  /** Up to the body, with `(?P<` as `(?<`. */
  readonly opening: string;
  readonly body: Alternatives;
  readonly isClosed: boolean;
}

export interface CharacterClass {
  readonly is: "class";
  readonly negated: boolean;
  readonly members: readonly (
    | ClassMember
    | { readonly is: "range"; readonly low: ClassMember; readonly high: ClassMember }
    /** `[:alpha:]`, where it is accepted. */
    | { readonly is: "posix"; readonly name: string }
  )[];
  readonly isClosed: boolean;
}

export interface Repetition {
  readonly is: "repetition";
  /** Undefined if nothing comes before it. */
  readonly of: RegexNode | undefined;
  readonly least: number;
  readonly most: number;
  readonly written: string;
}

export interface RegexParseOptions {
  /** Whether the flag `u` is set. */
  readonly unicode?: boolean;
  /** Names of POSIX classes that are accepted, and `(?P<name>…)` with them; neither is JavaScript. */
  readonly posix?: ReadonlySet<string>;
}

export function parseRegex(text: string, options: RegexParseOptions = {}): Alternatives {
  return new Parser(text, options).alternatives(0);
}

/** The numbers of the named groups. */
export function groupNumbers(tree: Alternatives): Map<string, number> {
  const numbers = new Map<string, number>();
  let groups = 0;
  const visit = (node: RegexNode | undefined): void => {
    if (node?.is === "repetition") visit(node.of);
    if (node?.is !== "group") return;
    if (node.kind === "capture") groups += 1;
    if (node.name !== undefined && !numbers.has(node.name)) numbers.set(node.name, groups);
    for (const option of node.body.options) option.forEach(visit);
  };
  for (const option of tree.options) option.forEach(visit);
  return numbers;
}

const controls: Readonly<Record<string, number>> = { f: 12, n: 10, r: 13, t: 9, v: 11, "0": 0 };

/** Groups below this depth stay unparsed. */
const deepest = 200;

class Parser {
  readonly #text: string;
  readonly #unicode: boolean;
  readonly #posix: ReadonlySet<string> | undefined;
  #at = 0;

  constructor(text: string, { unicode = false, posix }: RegexParseOptions) {
    this.#text = text;
    this.#unicode = unicode;
    this.#posix = posix;
  }

  alternatives(depth: number): Alternatives {
    const options: RegexNode[][] = [[]];
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at];
      if (char === ")" && depth > 0) break;
      if (char === "|") {
        this.#at += 1;
        options.push([]);
      } else this.#node(options.at(-1) as RegexNode[], depth);
    }
    return { is: "alternatives", options };
  }

  /** The match of a token at the current position, which is then after it. */
  #take(form: RegExp): RegExpExecArray | null {
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  /** Adds the next node to those before it; a repetition takes the last of them. */
  #node(before: RegexNode[], depth: number): void {
    const repeated = this.#take(/([*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (repeated !== null) {
      const [written, sign, least = "", comma, most] = repeated;
      const [low, high] =
        sign === "*"
          ? [0, Number.POSITIVE_INFINITY]
          : sign === "+"
            ? [1, Number.POSITIVE_INFINITY]
            : sign === "?"
              ? [0, 1]
              : [
                  Number(least),
                  comma === "" ? Number(least) : most ? Number(most) : Number.POSITIVE_INFINITY,
                ];
      before.push({ is: "repetition", of: before.pop(), least: low, most: high, written });
      return;
    }
    before.push(this.#atom(depth));
  }

  #atom(depth: number): RegexNode {
    const char = this.#text[this.#at];
    if (char === "(") return this.#group(depth);
    if (char === "[") return this.#class();
    if (char === ")") {
      this.#at += 1;
      return { is: "unknown", written: char };
    }
    if (char === "^" || char === "$") {
      this.#at += 1;
      return { is: "edge", written: char };
    }
    if (char === ".") {
      this.#at += 1;
      return { is: "any" };
    }
    const edge = this.#take(/\\[bB]/y)?.[0];
    if (edge !== undefined) return { is: "edge", written: edge as "\\b" | "\\B" };
    const reference = this.#take(/\\(?:[1-9]\d*|k(?:<[^>]*>)?)/y)?.[0];
    if (reference !== undefined) return { is: "backreference", written: reference };
    return this.#member();
  }

  #group(depth: number): RegexGroup | ClassMember {
    if (depth >= deepest) {
      const written = this.#text.slice(this.#at);
      this.#at = this.#text.length;
      return { is: "unknown", written };
    }
    const form = this.#posix
      ? /\((?:\?(?:P?<(?![=!])([^>]*)>|<?[=!]|:)?)?/y
      : /\((?:\?(?:<(?![=!])([^>]*)>|<?[=!]|:)?)?/y;
    const [opening = "(", name] = this.#take(form) ?? [];
    const kind =
      opening === "(" || name !== undefined
        ? "capture"
        : opening === "(?:"
          ? "plain"
          : opening === "(?"
            ? "unknown"
            : "look";
    const body = this.alternatives(depth + 1);
    const isClosed = this.#take(/\)/y) !== null;
    return { is: "group", kind, name, opening: opening.replace("(?P<", "(?<"), body, isClosed };
  }

  #class(): CharacterClass {
    const negated = this.#take(/\[\^?/y)?.[0] === "[^";
    const members: CharacterClass["members"][number][] = [];
    while (this.#at < this.#text.length && this.#text[this.#at] !== "]") {
      const start = this.#at;
      const name = this.#posix && this.#take(/\[:([a-z]+):\]/y)?.[1];
      if (name !== undefined && this.#posix?.has(name)) {
        members.push({ is: "posix", name });
        continue;
      }
      this.#at = start;
      const low = this.#take(/\\b/y) ? character(8, "\\b") : this.#member();
      if (this.#take(/-(?!\]|$)/y) === null) members.push(low);
      else
        members.push({ is: "range", low, high: this.#take(/\\b/y) ? character(8, "\\b") : this.#member() });
    }
    return { is: "class", negated, members, isClosed: this.#take(/\]/y) !== null };
  }

  #member(): ClassMember {
    const start = this.#at;
    const point = this.#text.codePointAt(start) ?? 0;
    if (point !== 92) {
      this.#at += point > 0xffff ? 2 : 1;
      return character(point, this.#text.slice(start, this.#at));
    }
    const coded = this.#take(/\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|c([A-Za-z]))/y);
    if (coded !== null) {
      const [written, byte, unit, braced, control] = coded;
      if (braced !== undefined && !this.#unicode) return { is: "unknown", written };
      const value = control ? control.charCodeAt(0) % 32 : Number.parseInt(byte ?? unit ?? braced ?? "", 16);
      return value > 0x10ffff ? { is: "unknown", written } : character(value, written);
    }
    const property = this.#unicode ? this.#take(/\\[pP]\{[A-Za-z_]+\}/y) : null;
    if (property !== null) return { is: "property", written: property[0] };
    const letter = String.fromCodePoint(this.#text.codePointAt(start + 1) ?? 92);
    this.#at += 1 + letter.length;
    const written = this.#text.slice(start, this.#at);
    const of = letter.toLowerCase();
    if (of === "d" || of === "w" || of === "s") return { is: "set", of, negated: of !== letter, written };
    const isOctal = letter === "0" && /\d/.test(this.#text[this.#at] ?? "");
    if (isOctal || /[1-9ckpPux]/.test(letter)) return { is: "unknown", written };
    return character(controls[letter] ?? letter.codePointAt(0) ?? 0, written);
  }
}

function character(point: number, written: string): ClassMember {
  return { is: "character", point, written };
}
