// The globs of one rule. Paths are compared in Unicode normal form C and without regard to case: on a file system that
// folds names, `.ENV` opens `.env`, and a rule must not depend on which file system that is.

import type { PatternProblem } from "../fault.ts";
import { expandBraces, isBalanced } from "../glob/braces.ts";
import { foreignIn } from "../glob/foreign-glob.ts";
import { Pattern } from "../glob/pattern.ts";
import { once } from "../once.ts";
import { isAscii } from "../text/ascii.ts";
import { foldCase } from "../text/fold.ts";

const maxPatternBytes = 4096;
const maxAlternatives = 1024;

/** Why a glob can match nothing, or is not one. */
export type GlobProblem = PatternProblem | { readonly is: "impossible" };

/** A path, folded: its names below the root, and the paths of it and of the directories above it. */
export interface FoldedPath {
  readonly names: readonly string[];
  /** Below the root, and from the top. Computed on demand: few globs need them. */
  relative(): readonly string[];
  absolute(): readonly string[];
}

export interface PathGlobs {
  /**
   * Whether they fit a path: itself or a directory above it. With `anyDepth`, a relative glob with a slash fits below
   * every directory.
   */
  match(path: FoldedPath, anyDepth?: boolean): boolean;
  readonly keys: readonly GlobKey[];
}

/** What a path must have for a glob to match it, folded. */
export interface GlobKey {
  /** What one of its names ends with; "" if any. */
  readonly ending: string;
  /** What one of its names begins with, for a glob of single names that names no ending. */
  readonly beginning?: string;
  /** Its first name below the root, for a relative glob that names that but no ending. */
  readonly first?: string;
}

interface Glob {
  /** Everything, the root included. */
  readonly all: boolean;
  /** Matched against single names: a glob at any depth costs no more than the length of the path. */
  readonly names: readonly Pattern[];
  readonly paths: readonly Pattern[];
  /** `paths` below every directory. Compiled on demand. */
  anyDepth(): readonly Pattern[];
  readonly keys: readonly GlobKey[];
  readonly negated: boolean;
  readonly isAbsolute: boolean;
}

/** A path as globs see it: letter by letter, so that `?` still matches one letter. */
export function folded(path: string): string {
  return isAscii(path) ? path.toLowerCase() : foldCase(path.normalize("NFC"));
}

/**
 * The paths that a file system may take a path for, each as globs see it. There are two only where a letter has a
 * capital of several letters: `paßword` opens `password` where names are compared by their capitals.
 */
export function foldedForms(path: string): readonly string[] {
  if (isAscii(path)) return [path.toLowerCase()];
  const one = folded(path);
  if (isAscii(one)) return [one];
  const other = folded(one.toUpperCase());
  return other === one ? [one] : [one, other];
}

export function problemOf(glob: string): GlobProblem | undefined {
  const bare = glob.startsWith("!") ? glob.slice(1) : glob;
  if (bare.trim() === "") return { is: "empty" };
  if (Buffer.byteLength(bare) > maxPatternBytes)
    return { is: "too_long", limit: maxPatternBytes, unit: "bytes" };
  if (!isBalanced(bare)) return { is: "unclosed" };
  const foreign = foreignIn(glob);
  if (foreign !== undefined) return foreign;
  const alternatives = expandBraces(bare, maxAlternatives);
  if (alternatives === undefined) return { is: "too_many_alternatives", limit: maxAlternatives };
  // A path has no empty, `.` or `..` component once it is resolved.
  const impossible = (text: string) =>
    text.includes("\0") ||
    text
      .split("/")
      .some(
        (name, i) =>
          name === "." || name === ".." || (name === "" && i > 0 && i < text.split("/").length - 1),
      );
  return alternatives.every(impossible) ? { is: "impossible" } : undefined;
}

/** Compiles globs that `problemOf` finds nothing wrong with. Relative ones are read below every root. */
export function pathGlobs(globs: readonly string[]): PathGlobs {
  const compiled = globs.map(compile);
  return {
    match(path, anyDepth = false) {
      let fits = false;
      for (const glob of compiled)
        if (glob.negated === fits && matches(glob, path, anyDepth)) fits = !glob.negated;
      return fits;
    },
    keys: compiled.flatMap(({ keys, negated }) => (negated ? [] : keys)),
  };
}

function compile(written: string): Glob {
  const negated = written.startsWith("!");
  const bare = folded(negated ? written.slice(1) : written)
    .replace(/^\.\//, "")
    .replace(/(.)\/$/, "$1");
  const forms = (expandBraces(bare, maxAlternatives) ?? []).map(text => {
    const rooted = text.includes("/") ? text : `**/${text}`;
    // A match covers the contents of a directory, so `secrets/**` means `secrets`: it is neither listed nor moved away.
    return rooted.endsWith("/**") && rooted !== "**/**" ? rooted.slice(0, -3) : rooted;
  });
  const all = forms.includes("**/**");
  const [names, paths]: [Pattern[], Pattern[]] = [[], []];
  const rooted: string[] = [];
  for (const form of forms.filter(form => form !== "" && form !== "**/**")) {
    const name = /^\*\*\/([^/]+)$/.exec(form)?.[1];
    if (name !== undefined && name !== "**") names.push(new Pattern(name));
    else {
      paths.push(new Pattern(form));
      rooted.push(form);
    }
  }
  const isAbsolute = /^(\/|[a-z]:\/)/i.test(bare);
  const ofNames = names.map(
    ({ suffix, prefix }): GlobKey =>
      suffix === "" && prefix !== "" ? { ending: "", beginning: prefix } : { ending: suffix },
  );
  const ofPaths = paths.map(({ suffix, prefix }): GlobKey => {
    const ending = suffix.slice(suffix.lastIndexOf("/") + 1);
    const [first = "", rest] = isAbsolute ? [] : prefix.split("/", 2);
    return ending === "" && rest !== undefined ? { ending, first } : { ending };
  });
  const keys = [...ofNames, ...ofPaths];
  const anyDepth = once(() => rooted.map(form => new Pattern(`**/${form}`)));
  return { all, names, paths, anyDepth, keys: all ? [{ ending: "" }] : keys, negated, isAbsolute };
}

function matches(glob: Glob, path: FoldedPath, anyDepth: boolean): boolean {
  const { all, names, paths, isAbsolute } = glob;
  if (all || names.some(pattern => path.names.some(name => pattern.matches(name)))) return true;
  if (paths.length === 0) return false;
  const places = isAbsolute ? path.absolute() : path.relative();
  const patterns = anyDepth && !isAbsolute ? glob.anyDepth() : paths;
  // Each place is the beginning of the whole path, which comes first.
  const [whole = ""] = places;
  return patterns.some(
    pattern => whole.startsWith(pattern.prefix) && places.some(place => pattern.matches(place)),
  );
}
