// What must come of an operation that changes the tree: the tree after it, or the code that it is refused with.
import { bytesOf, type Content, carried, contentOf, isBinary, type Line, linesIn, merged } from "./lines.ts";
import type { Block, Changing, Edit } from "./operation.ts";
import { type Found, find, isWithin, type Node, namesIn, parentOf, Refused, type Tree } from "./tree.ts";

const umask = process.umask();
const newFile = 0o666 & ~umask;
const newDirectory: Node = { kind: "directory", mode: 0o777 & ~umask };

/**
 * The tree after an operation. Throws what it is refused with. Where something may be created, the last name is `exact`
 * in the dialects that keep a name as it is given: a name in another Unicode form is another name.
 */
export function after(tree: Tree, operation: Changing, exact: boolean): Tree {
  const next = new Map(tree);
  switch (operation.do) {
    case "write":
      write(next, operation.path, operation.content, operation.mode, exact);
      break;
    case "edit":
      edit(next, operation.path, operation.edits, operation.base);
      break;
    case "patch":
      for (const block of operation.blocks) patch(next, block, exact);
      break;
    case "move":
      move(next, operation.from, operation.to, operation.overwrite, exact);
      break;
    case "copy":
      copy(next, operation.from, operation.to, operation.overwrite, exact);
      break;
    case "delete":
      remove(next, operation.path, operation.recursive);
      break;
    case "mkdir":
      makeDirectory(next, operation.path, exact);
      break;
  }
  return next;
}

type Growing = Map<string, Node>;

function put(tree: Growing, at: string, node: Node): void {
  makeParents(tree, at);
  tree.set(at, node);
}

function makeParents(tree: Growing, at: string): void {
  const parent = parentOf(at);
  if (parent === "" || tree.has(parent)) return;
  makeParents(tree, parent);
  tree.set(parent, newDirectory);
}

function write(
  tree: Growing,
  path: string,
  content: string,
  mode: "overwrite" | "create" | "append",
  exact: boolean,
): void {
  const { at, node } = find(tree, path, true, exact && mode !== "append");
  if (mode === "create" && node !== undefined) throw new Refused("exists", "not_a_file");
  if (node === undefined) {
    put(tree, at, { kind: "file", bytes: Buffer.from(content), mode: newFile });
    return;
  }
  if (node.kind !== "file") throw new Refused("not_a_file");
  const binary = isBinary(node.bytes);
  if (mode === "append" && binary) throw new Refused("binary");
  const old = binary ? contentOf(Buffer.alloc(0)) : contentOf(node.bytes);
  const lines = linesIn(carried(old, content));
  const made = mode === "overwrite" ? lines : appended(old, lines);
  tree.set(at, { ...node, bytes: bytesOf({ ...old, lines: made }) });
}

/** Added lines end as the last break before them does, if there is one. */
function appended({ lines }: Content, more: readonly Line[]): Line[] {
  const ending = lines.findLast(({ end }) => end !== "")?.end;
  const ended = more.map(({ text, end }) => ({ text, end: end === "" ? "" : (ending ?? end) }));
  const last = lines.at(-1);
  if (last === undefined || last.end !== "") return [...lines, ...ended];
  const [first, ...others] = ended;
  return [...lines.slice(0, -1), { text: last.text + (first?.text ?? ""), end: first?.end ?? "" }, ...others];
}

function fileAt(tree: Tree, path: string): Found & { node: Node & { kind: "file" } } {
  const { at, node } = find(tree, path, true);
  if (node === undefined) throw new Refused("not_found");
  if (node.kind !== "file") throw new Refused("not_a_file");
  return { at, node };
}

function edit(tree: Growing, path: string, edits: readonly Edit[], base: Buffer | undefined): void {
  const { at, node } = fileAt(tree, path);
  if (isBinary(node.bytes)) throw new Refused("binary");
  const based = base !== undefined && !base.equals(node.bytes);
  const content = contentOf(based ? base : node.bytes);
  const lines = edited(content, edits);
  if (!based) {
    tree.set(at, { ...node, bytes: bytesOf({ ...content, lines }) });
    return;
  }
  const theirs = contentOf(node.bytes);
  const result = merged(joined(content.lines), joined(lines), joined(theirs.lines));
  if (result === "overlap") throw new Refused("stale");
  if (!result.sure) throw new Unsure();
  tree.set(at, { ...node, bytes: bytesOf({ ...theirs, lines: linesIn(result.lines.join("")) }) });
}

/** The contract leaves open what comes of it, and such a program is not sent. */
export class Unsure extends Error {}

export function joined(lines: readonly Line[]): string[] {
  return lines.map(({ text, end }) => text + end);
}

function edited(content: Content, edits: readonly Edit[]): Line[] {
  const { lines } = content;
  const ending = (line: number) => lines[line]?.end || lines.findLast(({ end }) => end !== "")?.end || "\n";
  const replaced = new Map<number, string | undefined>();
  const inserted = new Map<number, string>();
  for (const one of edits) {
    const added = carried(content, one.new);
    if ("old" in one) {
      const old = carried(content, one.old);
      const places = [...lines.entries()].filter(([, { text }]) => text.includes(old));
      const [place] = places;
      if (place === undefined) throw new Refused("no_match");
      if (places.length > 1) throw new Refused("ambiguous");
      replaced.set(
        place[0],
        place[1].text.replace(old, () => added),
      );
    } else if ("line" in one) {
      if (one.line > lines.length) throw new Refused("invalid_input");
      replaced.set(one.line - 1, added === "" ? undefined : added);
    } else {
      if (one.after > lines.length) throw new Refused("invalid_input");
      inserted.set(one.after, added);
    }
  }
  const result: Line[] = [];
  const top = inserted.get(0);
  if (top !== undefined) result.push({ text: top, end: lines[0]?.end || "\n" });
  for (const [i, line] of lines.entries()) {
    const removed = replaced.has(i) && replaced.get(i) === undefined;
    if (!removed) result.push({ text: replaced.get(i) ?? line.text, end: line.end });
    // The last line takes the break before it along, where it has none itself.
    const last = result.at(-1);
    if (removed && line.end === "" && last !== undefined) result[result.length - 1] = { ...last, end: "" };
    const added = inserted.get(i + 1);
    const before = result.at(-1);
    if (added === undefined) continue;
    if (line.end !== "" || before === undefined) result.push({ text: added, end: line.end || "\n" });
    else {
      result[result.length - 1] = { ...before, end: ending(i) };
      result.push({ text: added, end: "" });
    }
  }
  return result;
}

function patch(tree: Growing, block: Block, exact: boolean): void {
  if (block.kind === "create") {
    const { at, node } = find(tree, block.path, true);
    if (node !== undefined) throw new Refused("exists", "not_a_file");
    const bytes = Buffer.from(block.lines.map(line => `${line}\n`).join(""));
    put(tree, at, { kind: "file", bytes, mode: newFile });
    return;
  }
  const { at, node } = fileAt(tree, block.path);
  if (block.kind === "delete") {
    tree.delete(at);
    return;
  }
  if (isBinary(node.bytes)) throw new Refused("binary");
  const content = contentOf(node.bytes);
  const wanted = block.stands.map(line => carried(content, line));
  const texts = content.lines.map(({ text }) => text);
  const place = texts.findIndex((_, i) => wanted.every((line, j) => texts[i + j] === line));
  if (place < 0) throw new Refused("conflict");
  const lines = content.lines.map((line, i) =>
    i === place + block.at ? { ...line, text: carried(content, block.new) } : line,
  );
  if (block.to !== undefined) {
    const to = find(tree, block.to, false, exact);
    if (to.node !== undefined) throw new Refused("exists");
    tree.delete(at);
    put(tree, to.at, { ...node, bytes: bytesOf({ ...content, lines }) });
  } else tree.set(at, { ...node, bytes: bytesOf({ ...content, lines }) });
}

/** What moves and copies have in common: whether the destination may be taken. */
function refuseTaken(there: Node | undefined, node: Node, overwrite: boolean): void {
  if (there === undefined) return;
  if (there.kind === "directory") throw new Refused(overwrite ? "not_a_file" : "exists");
  if (!overwrite) throw new Refused("exists");
  if (node.kind === "directory") throw new Refused("not_a_directory");
  if ((there.kind === "link") !== (node.kind === "link")) throw new Refused("not_a_file");
}

function move(tree: Growing, from: string, to: string, overwrite: boolean, exact: boolean): void {
  const source = find(tree, from, false);
  if (source.node === undefined) throw new Refused("not_found");
  const there = find(tree, to, false, exact);
  // A move to another form of the same name gives it that form.
  const target = there.at === source.at ? find(tree, to, false, true) : there;
  if (source.at === target.at) return;
  if (source.node.kind === "directory" && isWithin(target.at, source.at)) throw new Refused("invalid_input");
  refuseTaken(target.node, source.node, overwrite);
  makeParents(tree, target.at);
  for (const path of [...tree.keys()].filter(path => isWithin(path, source.at))) {
    const node = tree.get(path);
    tree.delete(path);
    if (node !== undefined) tree.set(target.at + path.slice(source.at.length), node);
  }
}

function copy(tree: Growing, from: string, to: string, overwrite: boolean, exact: boolean): void {
  if (find(tree, from, false).node === undefined) throw new Refused("not_found");
  const source = find(tree, from, true);
  if (source.node === undefined) throw new Refused("not_found");
  const target = find(tree, to, false, exact);
  const inside = isWithin(target.at, source.at) && target.at !== source.at;
  if (source.node.kind === "directory" && inside) throw new Refused("invalid_input");
  refuseTaken(target.node, source.node, overwrite);
  makeParents(tree, target.at);
  for (const [path, node] of [...tree])
    if (isWithin(path, source.at)) tree.set(target.at + path.slice(source.at.length), node);
}

function remove(tree: Growing, path: string, recursive: boolean): void {
  const { at, node } = find(tree, path, false);
  if (node === undefined) throw new Refused("not_found");
  if (node.kind === "directory" && !recursive && namesIn(tree, at).length > 0)
    throw new Refused("invalid_input");
  for (const one of [...tree.keys()]) if (isWithin(one, at)) tree.delete(one);
}

function makeDirectory(tree: Growing, path: string, exact: boolean): void {
  const { at, node } = find(tree, path, false, exact);
  if (node === undefined) {
    put(tree, at, newDirectory);
    return;
  }
  const leadsOut = node.kind === "link" && node.target.startsWith("/");
  const behind = node.kind === "link" && !leadsOut ? find(tree, path, true, exact).node : node;
  if (behind?.kind !== "directory") throw new Refused("exists");
}
