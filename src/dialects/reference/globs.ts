// Globs as this contract's clients write them: relative to the directory that is searched, `*` within a name (also a
// hidden one), `**` across directories, `{a,b}`, `{1..3}`, `[a-z]`, `@(a|b)`, `?(a|b)`; `!` in front turns a pattern
// around, and `#` makes it a comment.
import { Fault } from "../../engine/fault.ts";
import { type Globs, includeGlobs } from "../../engine/search/globs.ts";

/** What any of the patterns matches. A directory that only something below it matches is not meant itself. */
export function anyOf(patterns: readonly string[]): Globs {
  const compiled = patterns.map(glob);
  const matches = (path: string): boolean => compiled.some(one => one.matches(path));
  return {
    patterns,
    matches,
    covers: matches,
    reaches: directory => compiled.some(one => one.reaches(directory)),
    mayMatchIn: names => compiled.some(one => one.mayMatchIn(names)),
    endings: undefined,
    simple: false,
  };
}

/** In the tree a pattern without a star also means that name at any depth. */
export function excludedFromTree(patterns: readonly string[]): Globs {
  return anyOf(patterns.flatMap(pattern => (pattern.includes("*") ? [pattern] : [pattern, `**/${pattern}`])));
}

const maxRange = 1000;

function glob(pattern: string): Globs {
  if (pattern.startsWith("#")) return includeGlobs([]);
  const turns = /^!+(?!\()/.exec(pattern)?.[0].length ?? 0;
  const plain = includeGlobs([alternatives(ranges(pattern.slice(turns)))]);
  if (turns % 2 === 0) return plain;
  return { ...plain, matches: path => !plain.matches(path), reaches: () => true, mayMatchIn: () => true };
}

/** `{1..3}` and `{a..c}` written out. Braces with neither a range nor a comma in them are plain. */
function ranges(pattern: string): string {
  return pattern.replace(/\{([^{},]*)\}/g, (whole, inside: string) => {
    const range = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])$/.exec(inside);
    const [from, to] = [range?.[1] ?? "", range?.[2] ?? ""];
    if (range === null || /\d/.test(from) !== /\d/.test(to)) return `\\{${whole.slice(1, -1)}\\}`;
    const numbers = /\d/.test(from);
    const [first, last] = numbers ? [Number(from), Number(to)] : [from.charCodeAt(0), to.charCodeAt(0)];
    const count = Math.abs(last - first) + 1;
    if (count > maxRange) throw refusal(pattern, `more than ${maxRange} alternatives`);
    const step = last < first ? -1 : 1;
    const values = Array.from({ length: count }, (_, i) => first + i * step);
    return `{${values.map(value => (numbers ? String(value) : String.fromCharCode(value))).join(",")}}`;
  });
}

/** `@(a|b)` as `{a,b}`. Repetition and exclusion in parentheses have no such form, and are refused. */
function alternatives(pattern: string): string {
  const simple = pattern.replace(/([@?])\(([^()]*)\)/g, (_, kind, choices: string) => {
    return `{${kind === "?" ? "," : ""}${choices.replaceAll("|", ",")}}`;
  });
  if (/[*+!]\([^()]*\)/.test(simple))
    throw refusal(pattern, "*(…), +(…) and !(…) are not supported; use {a,b}, or excludePatterns");
  return simple;
}

function refusal(pattern: string, message: string): Fault {
  const problem = { is: "message", message } as const;
  return new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "glob", problem });
}
