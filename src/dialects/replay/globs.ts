// Globs as the contract reads them, and the trees that they lead to. A relative glob is read against a directory;
// an absolute one starts at the directory before its first wildcard, if that is allowed.
import { Fault } from "../../engine/fault.ts";
import { expandBraces } from "../../engine/glob/braces.ts";
import { excludeGlobs, type Globs, includeGlobs } from "../../engine/search/globs.ts";
import type { Directory } from "../../engine/workspace/directory.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";

/** Case does not count; a pattern without a slash is matched with the base name at any depth. */
const rules = { ignoreCase: true, slashless: "base-name" } as const;
const maxAlternatives = 1024;

export const excludeGlobsProperty = {
  type: "array",
  items: { type: "string" },
  description: "Globs to leave out; one without wildcards is a path prefix.",
} as const;

export function isGlob(entry: string): boolean {
  return /[*?{}[]/.test(entry);
}

/** Files below `directory` by globs that are read against it. */
export function included(directory: Directory, globs: readonly string[]): Globs {
  return includeGlobs(globs, { ...rules, absolute: directory.path });
}

/** What to leave out below `start`, by globs that are read against the directory at `base`. */
export function excluded(
  start: Directory,
  globs: readonly string[] = [],
  base = start.path,
): Globs | undefined {
  if (globs.length === 0) return undefined;
  const below = isWithin(start.path, base) ? start.path.slice(base.length + 1) : "";
  return excludeGlobs(globs, { ...rules, literalPrefix: true, absolute: start.path, below });
}

/** Part of what globs select: files below a directory. */
interface Tree {
  readonly directory: Directory;
  readonly include: Globs;
}

/** Everything that globs select, with the directories held open. */
export class Trees implements Disposable {
  readonly trees: Tree[] = [];
  /** How many absolute globs reach out of the allowed directories. */
  outside = 0;

  /** Relative globs are read against `base`, by default the first allowed directory. */
  static of(workspace: Workspace, globs: readonly string[], base = "."): Trees {
    const trees = new Trees();
    const written = globs.flatMap(expanded);
    try {
      const relative = written.filter(glob => !glob.startsWith("/"));
      if (relative.length > 0) {
        trees.#add(workspace.directory(workspace.at(base)), directory => included(directory, relative));
      }
      const absolute = written.filter(glob => glob.startsWith("/"));
      for (const start of new Set(absolute.map(startOf))) {
        trees.#addAbsolute(
          workspace,
          start,
          absolute.filter(glob => startOf(glob) === start),
        );
      }
      return trees;
    } catch (error) {
      trees[Symbol.dispose]();
      throw error;
    }
  }

  #addAbsolute(workspace: Workspace, start: string, globs: readonly string[]): void {
    const below = globs.map(glob => glob.slice(start === "/" ? 1 : start.length + 1));
    try {
      this.#add(workspace.directory(workspace.at(start)), () => includeGlobs(below, { ignoreCase: true }));
    } catch (error) {
      if (Fault.is(error, "not_found") || Fault.is(error, "not_a_directory")) return;
      if (!Fault.is(error, "outside_roots")) throw error;
      this.outside += globs.length;
      // Above allowed directories: a glob still matches inside these.
      for (const { path } of workspace.roots.filter(root => isWithin(root.path, start))) {
        const directory = workspace.directory(workspace.at(path));
        this.#add(directory, () => includeGlobs(globs, { ignoreCase: true, absolute: path }));
      }
    }
  }

  #add(directory: Directory, include: (directory: Directory) => Globs): void {
    try {
      this.trees.push({ directory, include: include(directory) });
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const { directory } of this.trees.splice(0)) directory.close();
  }
}

/** The directory before the first wildcard of an absolute glob; for a plain path, its parent. */
function startOf(glob: string): string {
  const segments = glob.split("/");
  const wild = segments.findIndex(segment => /[*?[\\]/.test(segment));
  return segments.slice(0, wild < 0 ? -1 : wild).join("/") || "/";
}

function expanded(glob: string): readonly string[] {
  const alternatives = expandBraces(glob, maxAlternatives);
  if (alternatives !== undefined) return alternatives;
  const problem = { is: "too_many_alternatives", limit: maxAlternatives } as const;
  throw new Fault("invalid_pattern", { pattern: glob.slice(0, 200), kind: "glob", problem });
}
