// Mixed work for a server that will lose its power: writes, edits, patches, moves, deletions and undos in a small tree,
// chosen so that later calls often touch what earlier ones wrote.
import type { Chance } from "../chance.ts";

export type Tree = Readonly<Record<string, string>>;
export type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

const names = ["a", "b", "c.txt", "größe", "x"];
const folders = ["", "d/", "d/e/", "new/", "new/deep/"];

export const beginning: Tree = { a: "a\n", b: "b\n", "d/a": "da\n", "d/e/b": "deb\n", "keep/x": "x\n" };

/** Names of directories that another program makes: a power cut may take them, unless something was put into them. */
export const nameOfOthers = (number: number) => `o${number}`;

function isOfOthers(path: string): boolean {
  return /^o\d+$/.test(path.slice(path.lastIndexOf("/") + 1));
}

/** Whether other programs made a directory and all that lead to it. */
export function areOfOthers(path: string): boolean {
  return path.split("/").every(isOfOthers);
}

/** The first difference between two trees. Directories of other programs count with what is in them alone. */
export function difference(tree: Tree, expected: Tree): string | undefined {
  for (const path of new Set([...Object.keys(tree), ...Object.keys(expected)])) {
    const [is, should] = [tree[path], expected[path]];
    const isOpen = isOfOthers(path) && [is, should].every(one => one === undefined || one === "/");
    if (is !== should && !isOpen) return `${path} is ${short(is)} instead of ${short(should)}`;
  }
  return undefined;
}

function short(text: string | undefined): string {
  return text === undefined
    ? "missing"
    : JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text);
}

/** A call that fits the tree. */
export function nextCall(tree: Tree, number: number, chance: Chance): Call {
  const files = Object.keys(tree).filter(path => tree[path] !== "/");
  const directories = Object.keys(tree).filter(path => tree[path] === "/" && !isOfOthers(path));
  const anywhere = () => `${chance.pick(folders)}${chance.pick(names)}`;
  const content = () => `${number} ${"text ".repeat(chance.below(40))}\n`;
  const free = () => {
    const path = anywhere();
    return path in tree ? `${path}-${number}` : path;
  };
  const kind = files.length === 0 ? 0 : chance.below(16);
  if (kind < 4) {
    const path = anywhere();
    const at = tree[path] === "/" ? `${path}-${number}` : path;
    const parent = at.slice(0, Math.max(0, at.lastIndexOf("/")));
    const blocked = parent !== "" && parent in tree && tree[parent] !== "/";
    return ["write_file", { path: blocked ? `w${number}` : at, content: content() }];
  }
  if (kind === 4) {
    const large = `${number}\n`.repeat(chance.pick([200, 80_000]));
    return ["write_file", { path: chance.pick(files), content: large }];
  }
  if (kind < 8) {
    const path = chance.pick(files);
    return ["edit_file", { path, edits: [{ insert_after: 0, new: content() }] }];
  }
  if (kind < 10) {
    const some = chance.shuffled(files).slice(0, 3);
    const added = some.map(path => `*** Update File: ${path}\n@@\n+${number} patched\n`);
    const made = `*** Add File: p${number}/f\n+made\n`;
    return ["apply_patch", { patch: `*** Begin Patch\n${[...added, made].join("")}*** End Patch\n` }];
  }
  if (kind < 12)
    return [
      "move_path",
      { from: chance.pick(chance.next() < 0.3 && directories.length > 0 ? directories : files), to: free() },
    ];
  if (kind === 12) return ["delete_path", { path: chance.pick(files) }];
  if (kind === 13) return ["delete_path", { path: chance.pick([...directories, ...files]), recursive: true }];
  if (kind === 14) return ["create_directory", { path: `m${number}/n` }];
  return ["undo", {}];
}

/** Edits of one file that are sent at once. Each adds a line at its beginning. */
export function nextEdits(
  tree: Tree,
  number: number,
  chance: Chance,
): { path: string; lines: string[] } | undefined {
  const files = Object.keys(tree).filter(path => tree[path] !== "/");
  if (files.length === 0) return undefined;
  const count = 2 + chance.below(6);
  const lines = Array.from(
    { length: count },
    (_, i) => `${number + i} at once ${"word ".repeat(chance.below(20))}\n`,
  );
  return { path: chance.pick(files), lines };
}
