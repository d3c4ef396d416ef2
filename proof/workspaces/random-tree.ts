// Random trees with everything that a tree can hold: text with either line ending, bytes, empty files, links, modes, empty
// directories, and names that differ in case or in their Unicode form, or are not UTF-8. Paths are bytes as Latin-1.
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
import { dirname } from "node:path";
import type { Chance } from "../chance.ts";

/** By path. Of a file: its bytes as Latin-1, with the mode before them; of a link: its target. */
export type RandomTree = Record<string, string>;

const names = [
  ...["a", "A", "b.txt", "\u00e9", "e\u0301", "\u00df", "d", "D", "x y", "-n", "\u65e5\u672c"].map(name =>
    Buffer.from(name).toString("latin1"),
  ),
  "latin-\xe9",
];
const lineCount = 14;
let counter = 0;

function unique(): string {
  return `${(++counter).toString(36)}-${Math.imul(counter, 2654435761).toString(36)}`;
}

export function fillRandomly(root: string, chance: Chance): void {
  mkdirSync(root, { recursive: true });
  for (let count = 6 + chance.below(8); count > 0; count--) put(root, randomPath(chance), chance);
}

/** What programs do to a tree: files are replaced, edited in place, deleted, made something else, and moved if asked. */
export function changeTree(root: string, chance: Chance, { moves = false } = {}): void {
  for (let count = 1 + chance.below(5); count > 0; count--) {
    const tree = readTree(root);
    const there = Object.keys(tree);
    if (moves && chance.below(2) === 0) {
      move(root, tree, chance);
      continue;
    }
    const path = chance.below(4) === 0 || there.length === 0 ? randomPath(chance) : chance.pick(there);
    const at = addressOf(root, path);
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

/** A file of text gets a new path, and now and then another line. Links are left out: git alone follows those. */
function move(root: string, tree: RandomTree, chance: Chance): void {
  const files = Object.keys(tree).filter(path => /^(644|755) .*line/.test(tree[path] ?? ""));
  const to = randomPath(chance);
  const above = dirname(to);
  if (files.length === 0 || statOf(addressOf(root, to)) !== undefined) return;
  if (above !== "." && tree[above] !== "directory") return;
  const from = addressOf(root, chance.pick(files));
  renameSync(from, addressOf(root, to));
  const { mode } = lstatSync(addressOf(root, to));
  if (chance.below(3) === 0)
    replace(addressOf(root, to), edited(readFileSync(addressOf(root, to)), chance), mode & 0o777);
}

function addressOf(root: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

function randomPath(chance: Chance): string {
  return Array.from({ length: 1 + chance.below(3) }, () => chance.pick(names)).join("/");
}

function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined; // not there, or something above it is not a directory
  }
}

/** As editors do. A file of a fork by links must not be written into from outside. */
function replace(path: Buffer, content: Buffer, mode: number): void {
  const draft = Buffer.concat([path, Buffer.from(".new")]);
  writeFileSync(draft, content);
  chmodSync(draft, mode);
  renameSync(draft, path);
}

function edited(content: Buffer, chance: Chance): Buffer {
  const lines = content.toString("latin1").split("\n");
  const end = lines[0]?.endsWith("\r") ? "\r" : "";
  lines[chance.below(lines.length)] = `edited ${unique()}${end}`;
  return Buffer.from(lines.join("\n"), "latin1");
}

/** Replaces whatever is at a path, or in the way of it. */
function put(root: string, path: string, chance: Chance): void {
  for (let above = dirname(path); above !== "."; above = dirname(above)) {
    const stat = statOf(addressOf(root, above));
    if (stat !== undefined && !stat.isDirectory()) rmSync(addressOf(root, above));
  }
  const at = addressOf(root, path);
  mkdirSync(addressOf(root, dirname(path)), { recursive: true });
  rmSync(at, { recursive: true, force: true });
  const kind = chance.below(8);
  if (kind === 0) mkdirSync(at);
  else if (kind === 1) symlinkSync(`${chance.pick(["a", "../x", "to"])}-${unique()}`, at);
  else if (kind === 2) writeFileSync(at, `\0\u0001${unique()}\0`, "latin1");
  else {
    const end = chance.below(4) === 0 ? "\r\n" : "\n";
    const lines = Array.from({ length: lineCount }, (_, i) => `line ${i} ${unique()}`);
    writeFileSync(at, `${lines.join(end)}${chance.below(4) === 0 ? "" : end}`);
    if (chance.below(4) === 0) chmodSync(at, 0o755);
  }
}

/** Everything below a directory; a directory is "directory". */
export function readTree(root: string, below = ""): RandomTree {
  const found: RandomTree = {};
  for (const name of readdirSync(addressOf(root, below), "latin1").sort()) {
    const path = below === "" ? name : `${below}/${name}`;
    const at = addressOf(root, path);
    const stat = lstatSync(at);
    if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(at)}`;
    else if (!stat.isDirectory())
      found[path] = `${stat.mode & 0o100 ? "755" : "644"} ${readFileSync(at, "latin1")}`;
    else Object.assign(found, { [path]: "directory" }, readTree(root, path));
  }
  return found;
}
