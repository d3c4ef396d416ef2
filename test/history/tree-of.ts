// A tree as a plain value, to compare before a change with after its undo.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Names, kinds, modes, links and bytes of a directory and everything below it, by path; its own is `.`. */
export function treeOf(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (name: string) => {
    const path = join(directory, name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) found[name] = `link ${readlinkSync(path)}`;
    else if (stat.isFile()) found[name] = `file ${mode} ${readFileSync(path, "latin1")}`;
    else {
      found[name] = `directory ${mode}`;
      for (const entry of readdirSync(path)) visit(join(name, entry));
    }
  };
  visit(".");
  return found;
}
