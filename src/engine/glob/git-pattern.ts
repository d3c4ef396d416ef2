// One line of an ignore file, tokenized as git's wildmatch reads it. Braces are plain characters, a class may name
// POSIX sets, and a pattern that git cannot parse (an unclosed `[`, an unknown set, a final backslash) matches nothing.
// Patterns and paths are bytes, one character for each.
import { append } from "../append.ts";
import { Pattern, type Token } from "./pattern.ts";

/** `pattern` has neither the leading `!` nor the final `/`. */
export function gitPattern(pattern: string): Pattern {
  return new Pattern(tokensOf(pattern) ?? nothing);
}

/** A class without members. */
const nothing: readonly Token[] = [{ kind: "class", ranges: [], negated: false }];

function tokensOf(pattern: string): Token[] | undefined {
  const found: Token[] = [];
  let text = "";
  const push = (token: Token): void => {
    if (text !== "") found.push({ kind: "text", text });
    text = "";
    found.push(token);
  };
  // Git compares what is plain at the start by itself, and reads the rest as if the pattern began there.
  const begins = pattern.search(/[*?[\\]/);
  // There, `**/` may leave nothing of a name for a final `**`.
  let isBare = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] as string;
    if (char === "\\") {
      if (at + 1 === pattern.length) return undefined;
      text += pattern[++at];
    } else if (char === "?") push({ kind: "any" });
    else if (char === "*") {
      const isSegment = at === 0 || pattern[at - 1] === "/";
      let end = at + 1;
      while (pattern[end] === "*") end++;
      const isWhole = end - at > 1 && (isSegment || at === begins);
      const isInside: boolean = !isSegment || (isBare && text === "" && found.at(-1)?.kind === "deep");
      at = end - 1;
      if (isWhole && end === pattern.length) push({ kind: isInside ? "cross" : "rest" });
      else if (isWhole && pattern[end] === "/") {
        isBare = isInside;
        push({ kind: "deep" });
        at = end;
      } else push({ kind: "star" });
    } else if (char === "[") {
      const parsed = classAt(pattern, at);
      if (parsed === undefined) return undefined;
      push(parsed.token);
      at = parsed.end;
    } else text += char;
  }
  if (text !== "") found.push({ kind: "text", text });
  return found;
}

type CharRange = [low: number, high: number];

/** The class that opens at `start`, and where its `]` is. */
function classAt(pattern: string, start: number): { token: Token; end: number } | undefined {
  const ranges: CharRange[] = [];
  let at = start + 1;
  const negated = pattern[at] === "!" || pattern[at] === "^";
  if (negated) at++;
  let low: number | undefined; // the start of a possible range
  for (let first = true; first || pattern[at] !== "]"; first = false, at++) {
    if (at >= pattern.length) return undefined;
    const next = pattern[at + 1];
    if (pattern[at] === "-" && low !== undefined && next !== undefined && next !== "]") {
      at++;
      if (pattern[at] === "\\") at++;
      if (at >= pattern.length) return undefined;
      ranges.push([low, pattern.charCodeAt(at)]);
      low = undefined;
    } else if (pattern[at] === "[" && next === ":") {
      const end = pattern.indexOf("]", at + 2);
      if (end < 0) return undefined;
      if (end > at + 2 && pattern[end - 1] === ":") {
        const set = posixSets.get(pattern.slice(at + 2, end - 1));
        if (set === undefined) return undefined;
        append(ranges, set);
        low = undefined;
        at = end;
      } else {
        low = 91; // no `:]`: a plain `[`
        ranges.push([low, low]);
      }
    } else {
      if (pattern[at] === "\\") at++;
      if (at >= pattern.length) return undefined;
      low = pattern.charCodeAt(at);
      ranges.push([low, low]);
    }
  }
  return { token: { kind: "class", ranges, negated }, end: at };
}

const digits: CharRange = [48, 57];
const upper: CharRange = [65, 90];
const lower: CharRange = [97, 122];
const posixSets = new Map<string, readonly CharRange[]>([
  ["alnum", [digits, upper, lower]],
  ["alpha", [upper, lower]],
  [
    "blank",
    [
      [9, 9],
      [32, 32],
    ],
  ],
  [
    "cntrl",
    [
      [0, 31],
      [127, 127],
    ],
  ],
  ["digit", [digits]],
  ["graph", [[33, 126]]],
  ["lower", [lower]],
  ["print", [[32, 126]]],
  [
    "punct",
    [
      [33, 47],
      [58, 64],
      [91, 96],
      [123, 126],
    ],
  ],
  [
    "space",
    [
      [9, 13],
      [32, 32],
    ],
  ],
  ["upper", [upper]],
  ["xdigit", [digits, [65, 70], [97, 102]]],
]);
