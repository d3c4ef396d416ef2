// A tree as paths that can be dealt out to several processes. The directories above these paths are looked at here.
import { type Dirent, lstatSync, readdirSync } from "node:fs";

/** Of few entries one may hold much of the tree, as `.git/objects` does: directories among so few are opened, too. */
const few = 32;
/** How many of those are opened at most. */
const mostOpened = 64;

/**
 * Paths that begin with `./`, from the second or third level. "changed" where a directory above them has changed since a
 * time, in milliseconds since 1970; undefined if a name is not UTF-8 or the system refuses.
 */
export function pathsToLookAt(tree: string, since: number): string[] | "changed" | undefined {
  const paths: string[] = [];
  let left = mostOpened;
  const isChanged = (directory: string, level: number): boolean => {
    if (lstatSync(`${tree}/${directory}`).ctimeMs >= since) return true;
    const entries = entriesIn(`${tree}/${directory}`);
    const isOpened = (entry: Dirent) =>
      entry.isDirectory() && (level === 0 || (level === 1 && entries.length < few && left-- > 0));
    for (const entry of entries) {
      const path = `${directory}/${entry.name}`;
      if (!isOpened(entry)) paths.push(path);
      else if (isChanged(path, level + 1)) return true;
    }
    return false;
  };
  try {
    if (isChanged(".", 0)) return "changed";
    return paths.some(path => path.includes("\ufffd")) ? undefined : paths;
  } catch {
    return undefined;
  }
}

function entriesIn(directory: string): Dirent[] {
  return readdirSync(directory, { withFileTypes: true });
}
