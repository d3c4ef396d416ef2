// The globs of one rule. Paths are compared in Unicode normal form C and without regard to case: on a file system that
// folds names, `.ENV` opens `.env`, and a rule must not depend on which file system that is.
import { expandBraces, isBalanced } from "../glob/braces.ts";
import { Pattern } from "../glob/pattern.ts";

const maxPatternBytes = 4096;
const maxAlternatives = 1024;

/** Why a glob can match nothing, or is not one. */
export type GlobProblem = "empty" | "too_long" | "unclosed" | "too_many_alternatives" | "matches_nothing";

/** A path and the directories above it, folded: as seen from a root, and from the top. */
export interface FoldedPath {
  readonly relative: readonly string[];
  readonly absolute: readonly string[];
}

export interface PathGlobs {
  /** Whether they fit a path: itself or a directory above it. */
  match(path: FoldedPath): boolean;
  /** What the names of matching things end with, folded; "" where that is open. */
  readonly endings: readonly string[];
}

interface Glob {
  readonly patterns: readonly Pattern[];
  readonly endings: readonly string[];
  readonly negated: boolean;
  readonly isAbsolute: boolean;
}

/** A path as globs see it. */
export function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

export function problemOf(glob: string): GlobProblem | undefined {
  const bare = glob.startsWith("!") ? glob.slice(1) : glob;
  if (bare.trim() === "") return "empty";
  if (Buffer.byteLength(bare) > maxPatternBytes) return "too_long";
  if (!isBalanced(bare)) return "unclosed";
  const alternatives = expandBraces(bare, maxAlternatives);
  if (alternatives === undefined) return "too_many_alternatives";
  // A path has no empty, `.` or `..` component once it is resolved.
  const impossible = (text: string) =>
    text.includes("\0") ||
    text
      .split("/")
      .some(
        (name, i) =>
          name === "." || name === ".." || (name === "" && i > 0 && i < text.split("/").length - 1),
      );
  return alternatives.every(impossible) ? "matches_nothing" : undefined;
}

/** Compiles globs that `problemOf` finds nothing wrong with. Relative ones are read below every root. */
export function pathGlobs(globs: readonly string[]): PathGlobs {
  const compiled = globs.map(compile);
  return {
    match({ relative, absolute }) {
      let fits = false;
      for (const { patterns, negated, isAbsolute } of compiled) {
        if (negated !== fits) continue;
        const names = isAbsolute ? absolute : relative;
        if (patterns.some(pattern => names.some(name => pattern.matches(name)))) fits = !negated;
      }
      return fits;
    },
    endings: compiled.flatMap(({ endings, negated }) => (negated ? [] : endings)),
  };
}

function compile(written: string): Glob {
  const negated = written.startsWith("!");
  const bare = folded(negated ? written.slice(1) : written)
    .replace(/^\.\//, "")
    .replace(/(.)\/$/, "$1");
  const forms = (expandBraces(bare, maxAlternatives) ?? []).flatMap(text => {
    const rooted = text.startsWith("/") || text.includes("/") ? text : `**/${text}`;
    // `secrets/**` means the directory too, so that it is neither listed nor moved away.
    return rooted.endsWith("/**") && rooted !== "**/**" ? [rooted, rooted.slice(0, -3)] : [rooted];
  });
  const patterns = forms.filter(form => form !== "").map(form => new Pattern(form));
  if (forms.includes("**/**")) patterns.push(new Pattern("")); // the root itself
  // What lies below `secrets` is not listed, because `secrets` is not; the form for the directory itself counts.
  const listed = forms
    .filter(form => !form.endsWith("/**") || form === "**/**")
    .map(form => new Pattern(form).suffix);
  const endings = listed.map(suffix => suffix.slice(suffix.lastIndexOf("/") + 1));
  return { patterns, endings, negated, isAbsolute: /^(\/|[a-z]:\/)/i.test(bare) };
}
