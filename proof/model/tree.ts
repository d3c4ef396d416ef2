// The model: a tree as a map from paths to their contents, and the rules by which a path is found in it. It is
// written from the contract, not from the engine: where the two differ, one of them is wrong.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { bytesOf, spelling } from "./spelling.ts";

export type Node =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly mode: number }
  | { readonly kind: "directory"; readonly mode: number }
  | { readonly kind: "link"; readonly target: string };

/** By path relative to the top, which is "". */
export type Tree = ReadonlyMap<string, Node>;

/** What the contract refuses; several codes where it leaves open which. */
export class Refused extends Error {
  readonly codes: readonly string[];

  constructor(...codes: string[]) {
    super(codes.join(" or "));
    this.codes = codes;
  }
}

export interface Found {
  /** The real path, links resolved as far as they were followed. */
  readonly at: string;
  readonly node: Node | undefined;
}

/**
 * Goes along a path; links on the way are followed, one at its end where asked for. Where something may be created,
 * the last name is `exact`: a name in another Unicode form is another name.
 */
export function find(tree: Tree, path: string, follow: boolean, exact = false): Found {
  let at = "";
  let missing = false;
  const names = path.split("/").filter(name => name !== "");
  for (let name = names.shift(), links = 0; name !== undefined; name = names.shift()) {
    if (name === "..") {
      if (at === "") throw new Refused("outside_roots");
      at = parentOf(at);
      continue;
    }
    const here = tree.get(at);
    if (!missing && here?.kind !== "directory") throw new Refused("not_a_directory");
    const literal = missing || (exact && names.length === 0);
    const child = below(at, literal ? name : storedName(tree, at, name));
    const node = tree.get(child);
    if (node?.kind === "link" && (names.length > 0 || follow)) {
      if (node.target.startsWith("/") || ++links > 40) throw new Refused("outside_roots");
      // Nothing is made behind a link that leads nowhere; only the link's own target is.
      const leadsOn = names.length === 0 || find(tree, below(at, node.target), true).node !== undefined;
      if (!leadsOn) throw new Refused("not_found");
      names.unshift(...node.target.split("/"));
      continue;
    }
    missing ||= node === undefined;
    at = child;
  }
  return { at, node: tree.get(at) };
}

/** The exact name; else the only one that is the same in another Unicode form. */
function storedName(tree: Tree, directory: string, name: string): string {
  if (tree.has(below(directory, name)) || /^[\x20-\x7e]*$/.test(name)) return name;
  const wanted = name.normalize("NFC");
  const fits = namesIn(tree, directory).filter(one => one.normalize("NFC") === wanted);
  return fits.length === 1 ? (fits[0] ?? name) : name;
}

export function namesIn(tree: Tree, directory: string): string[] {
  return [...tree.keys()]
    .filter(path => path !== "" && parentOf(path) === directory)
    .map(path => path.slice(directory === "" ? 0 : directory.length + 1));
}

export function below(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

export function parentOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "" ? "" : `${directory}/`);
}

export function sameNode(a: Node | undefined, b: Node | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === "file") return b.kind === "file" && a.mode === b.mode && a.bytes.equals(b.bytes);
  if (a.kind === "directory") return b.kind === "directory" && a.mode === b.mode;
  return b.kind === "link" && a.target === b.target;
}

/** The paths at which two trees differ. */
export function differences(a: Tree, b: Tree): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter(path => !sameNode(a.get(path), b.get(path)));
}

/** What is really on the disk. */
export function readTree(root: string): Tree {
  const tree = new Map<string, Node>();
  const visit = (path: string) => {
    const where = bytesOf(path === "" ? root : `${root}/${path}`);
    const stat = lstatSync(where);
    const mode = stat.mode & 0o7777;
    if (stat.isSymbolicLink())
      tree.set(path, { kind: "link", target: spelling(readlinkSync(where, "buffer")) });
    else if (!stat.isDirectory()) tree.set(path, { kind: "file", bytes: readFileSync(where), mode });
    else {
      tree.set(path, { kind: "directory", mode });
      for (const name of readdirSync(where, "buffer")) visit(below(path, spelling(name)));
    }
  };
  visit("");
  return tree;
}

export function show(node: Node | undefined): string {
  if (node === undefined) return "nothing";
  if (node.kind === "directory") return `a directory ${node.mode.toString(8)}`;
  if (node.kind === "link") return `a link to ${node.target}`;
  return `a file ${node.mode.toString(8)} ${JSON.stringify(node.bytes.toString("latin1"))}`;
}
