// Random trees with everything that a tree can hold: text, bytes, empty files, links, modes, empty directories, and names
// that differ in case or in their Unicode form.
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Chance } from "../chance.ts";

/** Of a file: its bytes as Latin-1, with the mode before them; of a link: its target. */
export type RandomTree = Record<string, string>;

const names = ["a", "A", "b.txt", "\u00e9", "e\u0301", "\u00df", "d", "D", "x y", "-n", "\u65e5\u672c"];
const lineCount = 14;
let counter = 0;

function unique(): string {
  return `${(++counter).toString(36)}-${Math.imul(counter, 2654435761).toString(36)}`;
}

export function fillRandomly(root: string, chance: Chance): void {
  mkdirSync(root, { recursive: true });
  for (let count = 6 + chance.below(8); count > 0; count--) put(root, randomPath(chance), chance);
}

/** What programs do to a tree: files are replaced, edited in place, deleted, made something else. */
export function changeTree(root: string, chance: Chance): void {
  for (let count = 1 + chance.below(5); count > 0; count--) {
    const there = Object.keys(readTree(root));
    const path = chance.below(4) === 0 || there.length === 0 ? randomPath(chance) : chance.pick(there);
    const at = join(root, path);
    const stat = statOf(at);
    const what = chance.below(6);
    if (stat === undefined || what === 0) put(root, path, chance);
    else if (what === 1) rmSync(at, { recursive: true });
    else if (stat.isDirectory()) put(root, `${path}/${chance.pick(names)}`, chance);
    else if (stat.isSymbolicLink()) put(root, path, chance);
    else if (what === 2) replace(at, readFileSync(at), stat.mode & 0o100 ? 0o644 : 0o755);
    else replace(at, edited(readFileSync(at), chance), stat.mode & 0o777);
  }
}

function randomPath(chance: Chance): string {
  return Array.from({ length: 1 + chance.below(3) }, () => chance.pick(names)).join("/");
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // not there, or something above it is no directory
  }
}

/** As editors do. A file of a fork by links must not be written into from outside. */
function replace(path: string, content: Buffer, mode: number): void {
  writeFileSync(`${path}.new`, content);
  chmodSync(`${path}.new`, mode);
  renameSync(`${path}.new`, path);
}

function edited(content: Buffer, chance: Chance): Buffer {
  const lines = content.toString("latin1").split("\n");
  lines[chance.below(lines.length)] = `edited ${unique()}`;
  return Buffer.from(lines.join("\n"), "latin1");
}

/** Replaces whatever is at a path, or in the way of it. */
function put(root: string, path: string, chance: Chance): void {
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const at = join(root, above);
    const stat = statOf(at);
    if (stat !== undefined && !stat.isDirectory()) rmSync(at);
  }
  const at = join(root, path);
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { recursive: true, force: true });
  const kind = chance.below(8);
  if (kind === 0) mkdirSync(at);
  else if (kind === 1) symlinkSync(chance.pick(["a", "../x", `to-${unique()}`]), at);
  else if (kind === 2) writeFileSync(at, `\0\u0001${unique()}\0`, "latin1");
  else {
    const lines = Array.from({ length: lineCount }, (_, i) => `line ${i} ${unique()}`);
    writeFileSync(at, `${lines.join("\n")}${chance.below(4) === 0 ? "" : "\n"}`);
    if (chance.below(4) === 0) chmodSync(at, 0o755);
  }
}

/** Everything below a directory; a directory is "directory". */
export function readTree(root: string, below = ""): RandomTree {
  const found: RandomTree = {};
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    const at = join(root, path);
    const stat = lstatSync(at);
    if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(at)}`;
    else if (!stat.isDirectory())
      found[path] = `${stat.mode & 0o100 ? "755" : "644"} ${readFileSync(at, "latin1")}`;
    else Object.assign(found, { [path]: "directory" }, readTree(root, path));
  }
  return found;
}
