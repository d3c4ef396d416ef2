// What lies two levels below a tree, so that a look at the tree can be divided. The two levels above are looked at here.
import { type Dirent, lstatSync, readdirSync } from "node:fs";

/**
 * Paths that begin with `./`. "changed" where the tree or a directory in it has changed since a time, in milliseconds
 * since 1970; undefined if a name is not UTF-8 or the system refuses.
 */
export function secondLevel(tree: string, since: number): string[] | "changed" | undefined {
  try {
    const paths: string[] = [];
    if (lstatSync(tree).ctimeMs >= since) return "changed";
    for (const top of entriesIn(tree)) {
      const path = `./${top.name}`;
      if (!top.isDirectory()) paths.push(path);
      else if (lstatSync(`${tree}/${top.name}`).ctimeMs >= since) return "changed";
      else for (const { name } of entriesIn(`${tree}/${top.name}`)) paths.push(`${path}/${name}`);
    }
    return paths.some(path => path.includes("\ufffd")) ? undefined : paths;
  } catch {
    return undefined;
  }
}

function entriesIn(directory: string): Dirent[] {
  return readdirSync(directory, { withFileTypes: true });
}
