// The scope of list_directory, find_files, search_text and replace_in_files. Ignored files are excluded by default,
// hidden ones included, `.git` is always excluded.
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { excludeGlobs, type GlobRules, type Globs, includeGlobs } from "../../engine/search/globs.ts";
import type { Scope } from "../../engine/search/walker.ts";

export const scopeProperties = {
  ignored: { type: "boolean", description: "Include git-ignored." },
  hidden: { type: "boolean", default: true },
} as const;

interface HiddenParams {
  readonly ignored?: boolean;
  readonly hidden: boolean;
}

export function scopeOf({ ignored, hidden }: HiddenParams): Scope {
  if (!ignored) return { ignore: { rules: true, hidden } };
  return { ignore: { rules: false, hidden }, exclude: excludeGlobs(["**/.git"]) };
}

/** A glob without a slash matches names at any depth; one that begins with `/` is an absolute path. */
export function globsOf(
  patterns: readonly string[],
  rules: Pick<GlobRules, "absolute" | "slashless"> = {},
): Globs {
  for (const pattern of patterns) {
    const leaves = /(^|[/{,])\.\.([/},]|$)/.test(pattern) || pattern.startsWith("~");
    const problem = {
      is: "message",
      message: "it is relative to path; '..' and '~' are not allowed",
    } as const;
    if (leaves) throw new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "glob", problem });
  }
  return includeGlobs(patterns, { slashless: "base-name", ...rules, strict: true });
}

export function isGlob(pattern: string): boolean {
  return /[*?[{]/.test(pattern);
}

/** For a search without results: a glob such as `lib/*.ts` means one place, which callers forget. */
export function anchorNotes(glob: string): string[] {
  if (!isGlob(glob) || !/^[^/*][^/]*\/[^/]/.test(glob)) return [];
  return [`[a glob with a slash starts at path; **/${printable(glob)} matches at any depth]`];
}
