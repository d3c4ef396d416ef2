// The directories above the place where a walk starts, whose ignore files count too: those up to the granted root
// and, where that lies inside a git repository, on to the repository's own root. Above the granted root nothing is
// listed and nothing shown: whether there is a `.git` is looked up, and ignore files are read.
import { Fault } from "../fault.ts";
import { Directory } from "../workspace/directory.ts";
import { system } from "../workspace/errno.ts";
import { display, Handle } from "../workspace/handle.ts";
import type { Root } from "../workspace/root.ts";
import { type IgnorePolicy, IgnoreRules } from "./ignore.ts";

/** Where a walk starts, seen from the top: the path from there, and the rules that hold when it is entered. */
export interface Standpoint {
  /** "" or a path with a final slash. */
  readonly prefix: string;
  readonly rules: IgnoreRules;
}

/** The top is the granted root, or the root of the repository that it lies in. */
export function standpoint(start: Directory, policy: IgnorePolicy): Standpoint {
  const { root, given } = start;
  const names = namesIn(start.path.slice(root.path.length));
  let rules = IgnoreRules.of(policy);
  if (!policy.rules) return { prefix: pathOf(names), rules };
  let path = "";
  for (const { directory, name } of enclosing(root, given)) {
    using current = directory;
    rules = rules.in(current, path.slice(0, -1), ruleEntries(current));
    path += `${name}/`;
  }
  const prefix = path + pathOf(names);
  if (names.length === 0) return { prefix, rules };
  let directory: Directory | undefined = at(root, root.handle.address, given);
  for (const name of names) {
    using current: Directory = directory;
    rules = rules.in(current, path.slice(0, -1), ruleEntries(current));
    directory = current.child({ name, kind: "directory" });
    if (directory === undefined) return { prefix, rules };
    path += `${name}/`;
  }
  directory.close();
  return { prefix, rules };
}

/** A directory above a root, and the name in it that leads down to the root. The receiver closes it. */
interface Outer {
  readonly directory: Directory;
  readonly name: string;
}

/** From the root of the repository that `root` lies in down to its parent; none where it lies in none, or is one. */
function enclosing(root: Root, given: string): Outer[] {
  using inner = at(root, root.handle.address, given);
  const names = namesIn(display(root.handle.whereabouts()));
  const levels = levelsToRepository(inner, names.length);
  const found: Outer[] = [];
  try {
    for (let level = levels; level > 0; level--) {
      const directory = at(root, `${root.handle.address}${"/..".repeat(level)}`, given);
      found.push({ directory, name: names.at(-level) ?? "" });
    }
    return found;
  } catch (error) {
    for (const { directory } of found) directory.close();
    if (Fault.is(error, "too_many_open_files")) throw error;
    return []; // moved meanwhile, or not ours to enter
  }
}

/** How far up the first `.git` is: 0 where it is in the directory itself, or where there is none. */
function levelsToRepository(directory: Directory, most: number): number {
  try {
    for (let level = 0; level <= most; level++) {
      const name = `${"../".repeat(level)}.git`;
      if (directory.stat({ name, kind: "directory" }) !== undefined) return level;
    }
  } catch {
    // What may not be entered has no say.
  }
  return 0;
}

function at(root: Root, address: string, given: string): Directory {
  const handle = system(given, () => Handle.open(address));
  return Directory.open({ handle, root, path: root.path }, given);
}

/** The entries that may hold rules, without listing a directory that may be large. */
function ruleEntries(directory: Directory): { name: string; kind: "file" | "directory" }[] {
  const found: { name: string; kind: "file" | "directory" }[] = [];
  for (const name of [".rgignore", ".ignore", ".gitignore", ".git"]) {
    const kind = directory.stat({ name, kind: "file" })?.kind;
    if (kind === "file" || kind === "directory") found.push({ name, kind });
  }
  return found;
}

function namesIn(path: string): string[] {
  return path.split("/").filter(name => name !== "");
}

function pathOf(names: readonly string[]): string {
  return names.length === 0 ? "" : `${names.join("/")}/`;
}
