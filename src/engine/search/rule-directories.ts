// Where ignore files were met, below each root. Only hints: the directories are opened and their files read again
// for each search, so that ripgrep need not look into what they leave out.
import type { Directory } from "../workspace/directory.ts";
import type { Root } from "../workspace/root.ts";
import { type IgnoreRules, ruleEntries } from "./ignore.ts";

const mostRemembered = 2000;
const mostRead = 100;

const remembered = new WeakMap<Root, Set<string>>();

/** Takes note of an ignore file in `directory`. */
export function rememberRules({ root, path }: { readonly root: Root; readonly path: string }): void {
  const paths = remembered.get(root) ?? new Set();
  remembered.set(root, paths);
  if (paths.size < mostRemembered) paths.add(path);
}

/** The rules in directories below `start`, whose own are `rules`; the ones nearest to it first. */
export function nestedRules(start: Directory, prefix: string, rules: IgnoreRules): IgnoreRules[] {
  const below = [...(remembered.get(start.root) ?? [])]
    .filter(path => path.startsWith(`${start.path}/`))
    .map(path => path.slice(start.path.length + 1).split("/"))
    .sort((a, b) => a.length - b.length);
  return below.slice(0, mostRead).flatMap(names => rulesAt(start, prefix, rules, names) ?? []);
}

function rulesAt(
  start: Directory,
  prefix: string,
  rules: IgnoreRules,
  names: readonly string[],
): IgnoreRules | undefined {
  let [directory, path, held] = [start, prefix, rules];
  try {
    for (const name of names) {
      const child = directory.child({ name, kind: "directory" });
      if (directory !== start) directory.close();
      if (child === undefined) {
        directory = start;
        return undefined;
      }
      directory = child;
      path += `${name}/`;
      held = held.in(directory, path.slice(0, -1), ruleEntries(directory));
    }
    return held;
  } finally {
    if (directory !== start) directory.close();
  }
}
