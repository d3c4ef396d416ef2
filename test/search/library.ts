// A tree of plausible text to search in, and searches whose hits are written as ripgrep writes them.
import { grep } from "../../src/engine/search/grep.ts";
import type { GrepOptions } from "../../src/engine/search/grep-terms.ts";
import type { Query } from "../../src/engine/search/ripgrep.ts";
import { all, chance, Tree } from "./tree.ts";

export async function lines(tree: Tree, query: Query, options: GrepOptions = {}): Promise<string[]> {
  using directory = tree.directory();
  const files = await all(grep(directory, query, { columns: true, ...options }));
  return files.flatMap(file => file.lines.map(line => shown(file.path, line)));
}

function shown(path: string, line: { number: number; column: number | undefined; text: string }): string {
  return line.column === undefined
    ? `${path}-${line.number}-${line.text}`
    : `${path}:${line.number}:${line.column + 1}:${line.text}`;
}

/** A tree of plausible text with ignored parts. */
export function library(seed: number, files: number): Tree {
  const random = chance(seed);
  const words = [
    "alpha",
    "Beta",
    "gamma",
    "délta",
    "TODO",
    "x1",
    "foo_bar",
    "foo",
    "(",
    "a.b",
    "ÉCLAIR",
    "kelvin",
  ];
  const tree = new Tree({ ".gitignore": "out/\n*.log\n" });
  const body: Record<string, string> = {};
  for (let i = 0; i < files; i++) {
    const folder = random.pick(["", "src/", "src/deep/er/", "out/", "a b/", "lib.d/", "lib/"]);
    const text = Array.from({ length: random.below(20) }, () =>
      Array.from({ length: random.below(6) }, () => random.pick(words)).join(" "),
    ).join("\n");
    body[`${folder}file${i}.${random.pick(["ts", "md", "log", "txt"])}`] = text;
  }
  tree.add(body);
  return tree;
}
