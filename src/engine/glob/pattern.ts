// One glob, compiled once and matched in time proportional to pattern times path. It is not turned into a
// regular expression: JavaScript's backtrack, and `*a*a*a*a*b` over a long name would stop the server.
//
//   *  any run of characters (without `/`, unless `crossing`)     ?  one character (likewise)
//   ** as a whole segment: any number of directories              [a-z] [!a-z]  one of, none of
//   \x the character itself                                       braces: see braces.ts
//
// A pattern of an ignore file (git-pattern.ts) is tokenized by git's rules and matched by the same code.
import { classEnd } from "./braces.ts";

export type Token =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any" }
  | {
      readonly kind: "class";
      readonly ranges: readonly (readonly [number, number])[];
      readonly negated: boolean;
    }
  | { readonly kind: "star" } // within a segment
  | { readonly kind: "cross" } // across segments
  | { readonly kind: "deep" } // `**/`: nothing, or whole directories
  | { readonly kind: "rest" }; // a final `/**`: at least one more character

export interface PatternForm {
  readonly crossing?: boolean;
  readonly ignoreCase?: boolean;
}

export class Pattern {
  readonly #tokens: readonly Token[];
  readonly #crossing: boolean;
  readonly #ignoreCase: boolean;
  /** The suffix of every match. It rules out most paths. */
  readonly suffix: string;
  /** What every match begins with. */
  readonly prefix: string;
  /** Whether `suffix` alone decides, as in `deep star .ts`. */
  readonly #suffixDecides: boolean;

  constructor(pattern: string | readonly Token[], form: PatternForm = {}) {
    this.#crossing = form.crossing ?? false;
    this.#ignoreCase = form.ignoreCase ?? false;
    this.#tokens =
      typeof pattern === "string"
        ? tokens(this.#ignoreCase ? pattern.toLowerCase() : pattern, this.#crossing)
        : pattern;
    const last = this.#tokens.at(-1);
    const first = this.#tokens[0];
    this.suffix = last?.kind === "text" ? last.text : "";
    this.prefix = first?.kind === "text" ? first.text : "";
    const kinds = this.#tokens.map(token => token.kind).join(" ");
    this.#suffixDecides =
      (kinds === "deep star text" && !this.suffix.includes("/")) ||
      kinds === "cross text" ||
      kinds === "deep cross text";
  }

  /** Whether it has any character that is not plain. */
  get isLiteral(): boolean {
    return this.#tokens.every(token => token.kind === "text");
  }

  matches(path: string): boolean {
    if (this.#ignoreCase) path = path.toLowerCase();
    if (!path.endsWith(this.suffix)) return false;
    return this.#suffixDecides || this.#run(path);
  }

  /**
   * Only the last wildcard of each kind is backtracked: whatever an earlier one could still match, the later one can
   * match too. So there are two positions to return to, and the work stays bounded.
   */
  #run(path: string): boolean {
    const { length } = this.#tokens;
    let token = 0;
    let at = 0;
    let star = -1;
    let starAt = 0;
    let wide = -1;
    let wideAt = 0;
    for (;;) {
      const current = this.#tokens[token];
      let next = -1;
      if (current === undefined) {
        if (at === path.length) return true;
      } else if (current.kind === "star") {
        star = ++token;
        starAt = at;
        continue;
      } else if (current.kind === "cross" || current.kind === "deep") {
        wide = ++token;
        wideAt = at;
        star = -1;
        if (token === length && current.kind === "cross") return true;
        continue;
      } else if (current.kind === "rest") {
        if (at < path.length) return true;
      } else next = this.#step(current, path, at);
      if (next >= 0) {
        token++;
        at = next;
      } else if (star >= 0 && starAt < path.length && path[starAt] !== "/") {
        at = ++starAt;
        token = star;
      } else if (wide >= 0) {
        wideAt = this.#tokens[wide - 1]?.kind === "cross" ? wideAt + 1 : path.indexOf("/", wideAt) + 1;
        if (wideAt === 0 || wideAt > path.length) return false;
        at = wideAt;
        token = wide;
        star = -1;
      } else return false;
    }
  }

  #step(token: Token & { kind: "text" | "any" | "class" }, path: string, at: number): number {
    if (token.kind === "text") return path.startsWith(token.text, at) ? at + token.text.length : -1;
    const point = path.codePointAt(at);
    if (point === undefined || (point === 47 && !this.#crossing)) return -1;
    const next = at + (point > 0xffff ? 2 : 1);
    if (token.kind === "any") return next;
    const held = token.ranges.some(([low, high]) => point >= low && point <= high);
    return held !== token.negated ? next : -1;
  }
}

/** Most patterns of rules are plain names, and all of them are compiled before the first decision. */
function isPlain(pattern: string): boolean {
  return !["*", "?", "[", "\\"].some(special => pattern.includes(special));
}

function tokens(pattern: string, crossing: boolean): Token[] {
  if (isPlain(pattern)) return pattern === "" ? [] : [{ kind: "text", text: pattern }];
  const found: Token[] = [];
  let text = "";
  const push = (token: Token): void => {
    if (text !== "") found.push({ kind: "text", text });
    text = "";
    found.push(token);
  };
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === "\\" && i + 1 < pattern.length) text += pattern[++i];
    else if (c === "?") push({ kind: "any" });
    else if (c === "*") {
      const opens = i === 0 || pattern[i - 1] === "/";
      let end = i;
      while (pattern[end + 1] === "*") end++;
      const whole = end - i === 1 && opens;
      i = end;
      if (whole && pattern[end + 1] === "/") {
        push({ kind: "deep" });
        i++;
        while (pattern.startsWith("**/", i + 1)) i += 3;
      } else if (whole && end + 1 === pattern.length && !crossing) push({ kind: "rest" });
      else push({ kind: crossing ? "cross" : "star" });
    } else if (c === "[" && classEnd(pattern, i) > 0) {
      const end = classEnd(pattern, i);
      push(charClass(pattern.slice(i + 1, end)));
      i = end;
    } else text += c;
  }
  if (text !== "") found.push({ kind: "text", text });
  return found;
}

function charClass(body: string): Token {
  const negated = body[0] === "!" || body[0] === "^";
  const points = [...(negated ? body.slice(1) : body)];
  const ranges: [number, number][] = [];
  for (let i = 0; i < points.length; i++) {
    if (points[i] === "\\" && i + 1 < points.length) i++;
    const low = points[i]?.codePointAt(0) ?? 0;
    let high = low;
    if (points[i + 1] === "-" && i + 2 < points.length) {
      i += points[i + 2] === "\\" && i + 3 < points.length ? 3 : 2;
      high = points[i]?.codePointAt(0) ?? 0;
    }
    ranges.push([low, high]);
  }
  return { kind: "class", ranges, negated };
}
