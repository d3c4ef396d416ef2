// The directories above a held one, from the top down: from the granted root or, if that is inside a git repository,
// from the repository's root. Nothing above the granted root is listed: only the existence of `.git` is checked, and
// the caller may open files by name.
import { Fault } from "../fault.ts";
import { Directory } from "./directory.ts";
import { system } from "./errno.ts";
import { display, Handle } from "./handle.ts";
import { isWithin, type Root } from "./root.ts";

/** A directory, and the name in it that leads down to the start. Held only until the next one is taken. */
export interface Above {
  readonly directory: Directory;
  readonly name: string;
}

/** Ends early if a directory was moved, or cannot be entered. */
export function* directoriesAbove(start: Directory): Generator<Above, void, undefined> {
  const { root, given } = start;
  const names = namesIn(start.path.slice(root.path.length));
  let directory: Directory | undefined = Directory.ofRoot(root, given);
  try {
    yield* aboveRoot(directory, start);
    for (const [i, name] of names.entries()) {
      yield { directory, name };
      if (i === names.length - 1) return; // the next one is the start itself
      using current: Directory = directory;
      directory = undefined; // closed with `current`
      directory = current.child({ name, kind: "directory" });
      if (directory === undefined) return;
    }
  } finally {
    directory?.close();
  }
}

/** `inner` is the granted root. */
function* aboveRoot(inner: Directory, { root, path, given }: Directory): Generator<Above, void, undefined> {
  // What was found in its place a moment ago shows where it is.
  const isInPlace = isWithin(path, root.path);
  const names = namesIn(isInPlace ? root.path : display(root.handle.whereabouts()));
  for (let level = levelsToRepository(inner, names.length); level > 0; level--) {
    using directory = outer(root, level, given);
    if (directory === undefined) return;
    yield { directory, name: names.at(-level) ?? "" };
  }
}

function outer(root: Root, level: number, given: string): Directory | undefined {
  try {
    return at(root, `${root.handle.address}${"/..".repeat(level)}`, given);
  } catch (error) {
    if (Fault.is(error, "too_many_open_files")) throw error;
    return undefined;
  }
}

/** How many levels up the first `.git` is: 0 if it is in the directory itself, or if there is none. */
function levelsToRepository(directory: Directory, most: number): number {
  try {
    for (let level = 0; level <= most; level++) {
      const name = `${"../".repeat(level)}.git`;
      if (directory.stat({ name, kind: "directory" }) !== undefined) return level;
    }
  } catch {
    // A directory that may not be entered has no rules.
  }
  return 0;
}

function at(root: Root, address: string, given: string): Directory {
  const handle = system(given, () => Handle.open(address));
  return Directory.open({ handle, root, path: root.path }, given);
}

function namesIn(path: string): string[] {
  return path.split("/").filter(name => name !== "");
}
