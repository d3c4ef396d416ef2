// What rules say about the things in some roots, by path: for a sandbox that goes by paths. Links are not followed.
import type { Dirent } from "node:fs";
import { Fault } from "../fault.ts";
import { ifAllowed, system } from "./errno.ts";
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
    if (root.rules.restrict && !isWalked(given, root, root.path, state, found))
      throw new Fault("permission_denied", { path: root.path });
  }
  return found;
}

/** False if this user may not list the directory. */
function isWalked(
  given: CommandRoots,
  root: Root,
  directory: string,
  state: RestrictedPath["seen"],
  found: RestrictedPath[],
): boolean {
  const entries = entriesOf(directory);
  if (entries === undefined) return false;
  for (const entry of entries) {
    if (entry.isSymbolicLink()) continue;
    const path = under(directory, entry.name);
    const { contents } = root.rules.decide(path);
    const isMaskedDirectory = contents === "masked" && entry.isDirectory();
    const free = given.isFreeForCommands(root, path) ? "read-write" : "read-only";
    const seen = isMaskedDirectory ? state : contents === "full" ? free : "nothing";
    if (seen !== state) found.push({ path, seen });
    // One that cannot be listed is not shown: a command that knows the names in it, or opens it up, would see all.
    if (entry.isDirectory() && seen !== "nothing" && !isWalked(given, root, path, seen, found))
      found.push({ path, seen: "nothing" });
  }
  return true;
}

/** Undefined if this user may not list them. */
function entriesOf(directory: string): Dirent[] | undefined {
  return system(directory, () => ifAllowed(() => readdirSync(directory, { withFileTypes: true })));
}
