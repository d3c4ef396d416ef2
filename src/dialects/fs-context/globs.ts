// Which files a listing or a search covers: globs relative to the base directory, the built-in excludes of the
// searches, and hidden names.
import { Fault } from "../../engine/fault.ts";
import { excludeGlobs, type Globs, includeGlobs } from "../../engine/search/globs.ts";
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

const folders =
  "node_modules dist build coverage .git .vscode .idea .next .nuxt .output .svelte-kit .cache .yarn " +
  "jspm_packages bower_components out tmp .temp";
const files = ".DS_Store npm-debug.log yarn-debug.log yarn-error.log Thumbs.db";

export const builtInExcludes: readonly string[] = [
  ...folders.split(" ").map(name => `**/${name}/**`),
  ...files.split(" ").map(name => `**/${name}`),
];

interface Wanted {
  /** What to give; everything where left out. `!…` means everything else. */
  readonly pattern?: string | undefined;
  readonly excludes: readonly string[];
  readonly hidden: boolean;
  /** Patterns without a slash are matched with base names at any depth. */
  readonly baseName?: boolean;
}

export function scopeOf({ pattern, excludes, hidden, baseName = false }: Wanted): Scope {
  const rules = { strict: true, slashless: baseName ? "base-name" : "path" } as const;
  const negated = pattern !== undefined && /^!(?!\()/.test(pattern);
  const left = [
    ...excludes.map(exclude => exclude.replace(/^!/, "")),
    ...(negated ? [pattern.slice(1)] : []),
  ];
  for (const one of pattern === undefined ? left : [pattern, ...left]) refuseUnsafe(one);
  const exclude: Globs | undefined = left.length === 0 ? undefined : excludeGlobs(left, rules);
  return {
    ignore: { rules: false, hidden },
    include:
      pattern === undefined || negated || pattern === "**/*" ? undefined : includeGlobs([pattern], rules),
    exclude,
  };
}

function refuseUnsafe(pattern: string): void {
  const refuse = (reason: string): never => {
    throw new Fault("invalid_pattern", { pattern: pattern.slice(0, 200), kind: "glob", reason });
  };
  if (/^(\/|~|[A-Za-z]:[\\/])/.test(pattern)) refuse("a pattern is relative to the base directory");
  if (/(^|[/\\{,])\.\.([/\\},]|$)/.test(pattern)) refuse("a pattern has no '..'");
  if (pattern.includes("\0")) refuse("it has a NUL character");
}
