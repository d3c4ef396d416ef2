// What `fs.list_files` and `fs.search_text` cover: the same root, ignore rules and globs, so that a search finds
// text exactly in the files that a listing shows.
import type { CallContext } from "../../contract/context.ts";
import { excludeGlobs, includeGlobs } from "../../engine/search/globs.ts";
import type { Scope } from "../../engine/search/walker.ts";
import { closedOnFailure, type Directory } from "../../engine/workspace/directory.ts";

export const scopeProperties = {
  root: {
    type: "string",
    default: ".",
    description: 'Root directory relative to the server root, e.g. ".", "src".',
  },
  include_globs: {
    type: "array",
    items: { type: "string" },
    description: "Only include paths matching any of these globs.",
  },
  exclude_globs: {
    type: "array",
    items: { type: "string" },
    description: "Exclude paths matching any of these globs.",
  },
} as const;

interface GlobParams {
  readonly root: string;
  readonly include_globs?: readonly string[];
  readonly exclude_globs?: readonly string[];
}

export interface CoveredTree extends Disposable {
  readonly directory: Directory;
  readonly scope: Scope;
  /** A path below `directory`, relative to the server root. */
  named(path: string): string;
}

export function covered(params: GlobParams, { workspace }: CallContext): CoveredTree {
  const directory = workspace.directory(workspace.at(params.root === "" ? "." : params.root));
  const below = directory.path.slice(directory.root.path.length + 1);
  const rules = { crossing: true, strict: true, below };
  const scope = closedOnFailure(directory, () => ({
    ignore: { rules: true, hidden: false },
    // Clients that fill in every parameter send an empty list where they mean none.
    include: params.include_globs?.length ? includeGlobs(params.include_globs, rules) : undefined,
    exclude: params.exclude_globs && excludeGlobs(params.exclude_globs, { ...rules, wholePaths: true }),
  }));
  return {
    directory,
    scope,
    named: path => (below === "" ? path : `${below}/${path}`),
    [Symbol.dispose]: () => directory.close(),
  };
}
