// Sets of globs. Contracts differ in what a star crosses, what a pattern without a slash means, whether case counts,
// and which directory patterns are relative to: all of that is an argument.
//
// Semantics are those of picomatch with `dot`, `posix` and without extglobs (a test compares the two), except:
// - `{a}` is `a`, as in ripgrep; picomatch, which requires a comma, takes the four characters.
// - `{1..3}` is not a range, and means itself without the braces.
// - `[id]` is one of two letters, as in ripgrep and git; picomatch also takes the name `[id]` literally.
// - `**.ts` is `*.ts`: two stars cross slashes only if they are a whole component; picomatch has exceptions.
// - `+(a|b)` and the like are plain characters.
import { Fault, type PatternProblem } from "../fault.ts";
import { expandBraces, isBalanced } from "../glob/braces.ts";
import { foreignIn } from "../glob/foreign-glob.ts";
import { Pattern } from "../glob/pattern.ts";

const maxPatternBytes = 4096;
const maxAlternatives = 1024;

export interface GlobRules {
  /** `*` and `?` also match `/`. */
  readonly crossing?: boolean;
  readonly ignoreCase?: boolean;
  /** What a pattern without a slash is matched against: the base name at any depth, or the whole path (default). */
  readonly slashless?: "base-name" | "path";
  /** A pattern without glob characters also matches everything below the path that it names. */
  readonly literalPrefix?: boolean;
  /** Refuse empty patterns, an unclosed `[` or `{`, and unsupported notations; otherwise they are plain characters. */
  readonly strict?: boolean;
  /** An exclusion applies to the paths that it matches, not to what is below them. */
  readonly wholePaths?: boolean;
  /** The start of the walk, relative to the directory that patterns are relative to; "" if it is the same. */
  readonly below?: string;
  /** The absolute path of the walk's start, for patterns that begin with `/`. */
  readonly absolute?: string;
}

/** Paths given to a set are relative to the walk's start, with `/`. */
export interface Globs {
  readonly patterns: readonly string[];
  matches(path: string): boolean;
  /** Whether everything below this directory matches, as far as an exclusion can tell. */
  covers(directory: string): boolean;
  /** Whether something below this directory could match. Never false if something does. */
  reaches(directory: string): boolean;
  /**
   * Whether one of these base names, each followed by a zero byte, could match. Never false if one does: it saves the
   * look at each of them.
   */
  mayMatchIn(names: string): boolean;
  /** The suffixes of base names that can match; undefined if any can. For narrowing, never for deciding. */
  readonly endings: readonly string[] | undefined;
  /** Whether the patterns are relative to the walk's start, matched as a whole, and case counts. */
  readonly simple: boolean;
}

interface Alternative {
  readonly pattern: Pattern;
  readonly on: "path" | "base-name" | "absolute";
}

/** Globs that select: a path is in if any matches. The same ones are the same object, so that what they chose is known. */
export function includeGlobs(patterns: readonly string[], rules: GlobRules = {}): Globs {
  const key = JSON.stringify([patterns, rules]);
  const before = made.get(key);
  if (before !== undefined) return before;
  const fresh = globs(patterns, rules, written => [written]);
  if (made.size === mostMade) made.clear();
  if (key.length <= maxPatternBytes) made.set(key, fresh);
  return fresh;
}

const made = new Map<string, Globs>();
const mostMade = 16;

/**
 * Globs that leave out: what they match, with all that is below it, and the directory of `dist/**` too. With
 * `wholePaths` only what they match.
 */
export function excludeGlobs(patterns: readonly string[], rules: GlobRules = {}): Globs {
  const outer = (written: string): string[] => (written.endsWith("/**") ? [written.slice(0, -3)] : []);
  if (rules.wholePaths) {
    const directories = globs(patterns, rules, outer);
    return {
      ...globs(patterns, rules, written => [written]),
      covers: path => directories.matches(path),
      simple: false,
    };
  }
  const found = globs(patterns, rules, written => {
    const forms = [written, ...outer(written)];
    if (written.endsWith("/")) forms.push(written.slice(0, -1));
    return forms.filter(form => form !== "");
  });
  return { ...found, covers: path => found.matches(path) };
}

// Names at any depth, and what is below them. As patterns they would mean the same; looked up they cost nothing.
export function namesAnywhere(names: readonly string[]): Globs {
  const nameSet = new Set(names);
  const matches = (path: string): boolean => {
    for (let from = 0; ; ) {
      const slash = path.indexOf("/", from);
      if (nameSet.has(slash < 0 ? path.slice(from) : path.slice(from, slash))) return true;
      if (slash < 0) return false;
      from = slash + 1;
    }
  };
  return {
    patterns: names.map(name => `**/${name}`),
    matches,
    covers: matches,
    reaches: () => true,
    mayMatchIn: () => true,
    endings: undefined,
    simple: true,
  };
}

function globs(patterns: readonly string[], rules: GlobRules, forms: (written: string) => string[]): Globs {
  const alternatives = patterns.flatMap(pattern => compile(pattern, rules, forms));
  const below = rules.below === undefined || rules.below === "" ? "" : `${rules.below}/`;
  const absolute = rules.absolute === undefined ? "" : `${rules.absolute.replace(/\/$/, "")}/`;
  const found = endings(alternatives, rules);
  const ends = found?.map(ending => `${ending}\0`);
  return {
    patterns,
    matches(path) {
      for (const { pattern, on } of alternatives) {
        const subject =
          on === "path"
            ? below + path
            : on === "base-name"
              ? path.slice(path.lastIndexOf("/") + 1)
              : absolute + path;
        if (pattern.matches(subject)) return true;
      }
      return false;
    },
    covers: () => false,
    reaches(directory) {
      return alternatives.some(({ pattern, on }) => {
        if (on === "base-name" || rules.ignoreCase) return true;
        const subject = `${(on === "path" ? below : absolute) + directory}/`;
        return subject.startsWith(pattern.prefix) || pattern.prefix.startsWith(subject);
      });
    },
    mayMatchIn(names) {
      if (ends === undefined) return true;
      const subject = rules.ignoreCase ? names.toLowerCase() : names;
      return ends.some(end => subject.includes(end));
    },
    endings: found,
    simple: below === "" && !rules.ignoreCase && alternatives.every(({ on }) => on === "path"),
  };
}

function compile(written: string, rules: GlobRules, forms: (written: string) => string[]): Alternative[] {
  const refuse = (problem: PatternProblem): never => {
    throw new Fault("invalid_pattern", { pattern: written.slice(0, 200), kind: "glob", problem });
  };
  if (Buffer.byteLength(written) > maxPatternBytes)
    refuse({ is: "too_long", limit: maxPatternBytes, unit: "bytes" });
  if (rules.strict && written.trim() === "") refuse({ is: "empty" });
  if (rules.strict && !isBalanced(written)) refuse({ is: "unclosed" });
  const foreign = rules.strict ? foreignIn(written) : undefined;
  if (foreign !== undefined) refuse(foreign);
  const expanded =
    expandBraces(written, maxAlternatives) ?? refuse({ is: "too_many_alternatives", limit: maxAlternatives });
  return expanded.flatMap(forms).flatMap(text => {
    const plain = text.replace(/^(\.\/)+/, "");
    const anchor = plain.startsWith("/") && rules.absolute !== undefined ? "absolute" : "path";
    const pattern = new Pattern(plain, rules);
    if (rules.literalPrefix && pattern.isLiteral) {
      const bare = plain.replace(/\/$/, "");
      return [bare, `${bare}/**`].map(form => ({ pattern: new Pattern(form, rules), on: anchor }) as const);
    }
    const onName = rules.slashless === "base-name" && !plain.includes("/") && plain !== "**";
    return [{ pattern, on: onName ? "base-name" : anchor } as const];
  });
}

function endings(alternatives: readonly Alternative[], rules: GlobRules): readonly string[] | undefined {
  const found = new Set<string>();
  for (const { pattern } of alternatives) {
    const ending = pattern.suffix.slice(pattern.suffix.lastIndexOf("/") + 1);
    if (ending === "" || (rules.ignoreCase && /[^\x20-\x7e]/.test(ending))) return undefined;
    found.add(ending);
  }
  return [...found];
}
