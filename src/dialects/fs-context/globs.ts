// Which files a listing or a search covers: globs relative to the base directory, the built-in excludes of the
// searches, and hidden names.
import { Fault } from "../../engine/fault.ts";
import { excludeGlobs, type Globs, includeGlobs, namesAnywhere } from "../../engine/search/globs.ts";
import type { Scope } from "../../engine/search/walker.ts";

export const searchExcludesProperty = {
  type: "array",
  items: { type: "string" },
  description:
    "Glob patterns to skip. By default a built-in list of dependency and build folders (node_modules, dist, " +
    "build, coverage, .git, .vscode, …); own patterns replace it, [] disables it.",
} as const;

export const includeHiddenProperty = {
  type: "boolean",
  default: false,
  description: "Include dotfiles and hidden directories.",
} as const;

const builtIn =
  "node_modules dist build coverage .git .vscode .idea .next .nuxt .output .svelte-kit .cache .yarn " +
  "jspm_packages bower_components out tmp .temp .DS_Store npm-debug.log yarn-debug.log yarn-error.log Thumbs.db";
const builtInExcludes = namesAnywhere(builtIn.split(" "));

interface GlobFilter {
  /** What to give; everything where left out. `!…` means everything else. */
  readonly pattern?: string | undefined;
  /** Globs to exclude; by default the built-in list. */
  readonly excludes?: readonly string[] | undefined;
  readonly hidden: boolean;
  /** Patterns without a slash are matched with base names at any depth. */
  readonly baseName?: boolean;
  readonly ignoreCase?: boolean;
}

export function scopeOf({
  pattern,
  excludes,
  hidden,
  baseName = false,
  ignoreCase = false,
}: GlobFilter): Scope {
  const rules = { strict: true, slashless: baseName ? "base-name" : "path", ignoreCase } as const;
  const negated = pattern !== undefined && /^!(?!\()/.test(pattern);
  const wanted = negated ? pattern.slice(1) : pattern;
  const left = excludes?.map(exclude => exclude.replace(/^!/, ""));
  for (const one of [...(wanted === undefined ? [] : [wanted]), ...(left ?? [])]) refuseUnsafe(one);
  const matching = wanted === undefined || wanted === "**/*" ? undefined : includeGlobs([wanted], rules);
  return {
    ignore: { rules: false, hidden },
    include: matching !== undefined && negated ? allBut(matching) : matching,
    exclude: left === undefined ? builtInExcludes : left.length > 0 ? excludeGlobs(left, rules) : undefined,
  };
}

function allBut(globs: Globs): Globs {
  return {
    patterns: [],
    matches: path => !globs.matches(path),
    covers: () => false,
    reaches: () => true,
    mayMatchIn: () => true,
    endings: undefined,
    simple: false,
  };
}

function refuseUnsafe(pattern: string): void {
  const refuse = (message: string): never => {
    const problem = { is: "message", message } as const;
    throw new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "glob", problem });
  };
  if (/^(\/|~|[A-Za-z]:[\\/])/.test(pattern)) refuse("a pattern is relative to the base directory");
  if (/(^|[/\\{,])\.\.([/\\},]|$)/.test(pattern)) refuse("a pattern has no '..'");
  if (pattern.includes("\0")) refuse("it has a NUL character");
}
