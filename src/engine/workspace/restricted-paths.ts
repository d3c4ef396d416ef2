// What rules say about the things in some roots, by path: for a sandbox that goes by paths. Links are not followed.
import type { Dirent } from "node:fs";
import { isChangeable } from "./restricted.ts";
import { type Root, under } from "./root.ts";
import { readdirSync } from "./system/calls.ts";

export interface RestrictedPath {
  readonly path: string;
  /** Not readable, not changeable, or free below something that is not changeable. */
  readonly seen: "nothing" | "read-only" | "read-write";
}

/** The paths with other access than their parent directory, outer ones first. A masked file is not seen. */
export function restrictedPaths(roots: readonly Root[]): RestrictedPath[] {
  const found: RestrictedPath[] = [];
  for (const root of roots)
    if (root.rules.restrict) walk(root, root.path, isChangeable(root) ? "read-write" : "read-only", found);
  return found;
}

function walk(root: Root, directory: string, state: RestrictedPath["seen"], found: RestrictedPath[]): void {
  for (const entry of entriesOf(directory)) {
    if (entry.isSymbolicLink()) continue;
    const path = under(directory, entry.name);
    const { contents, changes } = root.rules.decide(path);
    const isMaskedDirectory = contents === "masked" && entry.isDirectory();
    const free = changes && root.access === "read-write" ? "read-write" : "read-only";
    const seen = isMaskedDirectory ? state : contents === "full" ? free : "nothing";
    if (seen !== state) found.push({ path, seen });
    if (entry.isDirectory() && seen !== "nothing") walk(root, path, seen, found);
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // not ours to read: then a command cannot either
  }
}
