// What rules say about the things in some roots, by path: for a sandbox that goes by paths. Links are not followed.
import type { Dirent } from "node:fs";
import { type CommandRoots, isChangeable } from "./restricted.ts";
import { type Root, under } from "./root.ts";
import { readdirSync } from "./system/calls.ts";

export interface RestrictedPath {
  readonly path: string;
  /** Not readable, not changeable, or free below something that is not changeable. */
  readonly seen: "nothing" | "read-only" | "read-write";
}

/** The paths with other access than their parent directory, outer ones first. A masked file is not seen. */
export function restrictedPaths(given: CommandRoots): RestrictedPath[] {
  const found: RestrictedPath[] = [];
  for (const root of given.roots) {
    const state = isChangeable(given, root) ? "read-write" : "read-only";
    if (root.rules.restrict) walk(given, root, root.path, state, found);
  }
  return found;
}

function walk(
  given: CommandRoots,
  root: Root,
  directory: string,
  state: RestrictedPath["seen"],
  found: RestrictedPath[],
): void {
  for (const entry of entriesOf(directory)) {
    if (entry.isSymbolicLink()) continue;
    const path = under(directory, entry.name);
    const { contents } = root.rules.decide(path);
    const isMaskedDirectory = contents === "masked" && entry.isDirectory();
    const free = given.isFreeForCommands(root, path) ? "read-write" : "read-only";
    const seen = isMaskedDirectory ? state : contents === "full" ? free : "nothing";
    if (seen !== state) found.push({ path, seen });
    if (entry.isDirectory() && seen !== "nothing") walk(given, root, path, seen, found);
  }
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return []; // not ours to read: then a command cannot either
  }
}
