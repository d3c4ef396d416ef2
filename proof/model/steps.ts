// The steps of random programs. A step is a few numbers; what they mean is decided on the tree that the program has
// come to, so that most steps do something, and a program stays a program when steps are taken out of it.
import fc from "fast-check";
import { names } from "./fixture.ts";
import { contentOf, isBinary, seen } from "./lines.ts";
import type { Block, Changing, Edit, Reading } from "./operation.ts";
import type { Tree } from "./tree.ts";

const kinds = {
  write: 3,
  edit: 5,
  stale: 3,
  patch: 4,
  move: 3,
  copy: 2,
  delete: 2,
  mkdir: 1,
  undoLast: 2,
  undoAny: 3,
  undoPath: 1,
  read: 3,
  list: 1,
  find: 1,
  search: 2,
  together: 4,
  leaving: 2,
  elsewhere: 3,
} as const;

export type Kind = keyof typeof kinds;

export interface Step {
  readonly kind: Kind;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** Which connection, and how paths are spelled. */
  readonly via: number;
}

const number = fc.nat({ max: 9999 });

export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    ...Object.entries(kinds).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) })),
  ),
  a: number,
  b: number,
  c: number,
  via: number,
});

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];
const nameOf = (n: number) => pick(names, n) ?? "a.txt";

/** Files with text in them, by the path under which they really are. */
function texts(tree: Tree): string[] {
  return [...tree].flatMap(([path, node]) =>
    node.kind === "file" && !isBinary(node.bytes) && node.bytes.length > 0 ? [path] : [],
  );
}

/** What a step changes; undefined if it means nothing on this tree. `tag` is a text that occurs nowhere yet. */
export function changing(tree: Tree, { kind, a, b, c }: Step, tag: string): Changing | undefined {
  switch (kind) {
    case "write": {
      const mode = pick(["overwrite", "create", "append"] as const, b) ?? "overwrite";
      const content = pick([`${tag}\n`, `${tag} 1;\r\n${tag} 2;\r\n`, `${tag} 1;\n${tag} 2;`], c) ?? tag;
      return { do: "write", path: nameOf(a), content, mode };
    }
    case "edit":
      return edit(tree, a, b, c, tag);
    case "patch":
      return patch(tree, a, b, c, tag);
    case "move":
    case "copy":
      return { do: kind, from: nameOf(a), to: nameOf(b), overwrite: c % 2 === 0 };
    case "delete":
      return { do: "delete", path: nameOf(a), recursive: b % 2 === 0 };
    case "mkdir":
      return { do: "mkdir", path: nameOf(a) };
    default:
      return undefined;
  }
}

export function edit(tree: Tree, a: number, b: number, c: number, tag: string): Changing | undefined {
  const path = pick(texts(tree), a);
  const node = path === undefined ? undefined : tree.get(path);
  if (path === undefined || node?.kind !== "file") return undefined;
  const content = contentOf(node.bytes);
  const count = content.lines.length;
  const used = new Set<number>();
  const edits: Edit[] = [];
  for (let i = 0; i <= c % 3; i++) {
    const line = (b + i * 2) % count;
    if (used.has(line)) continue;
    used.add(line);
    const old = seen(content, content.lines[line]?.text ?? "");
    const form = (b + i) % 4;
    if (form === 0 && old) edits.push({ old, new: `${tag} ${i};` });
    else if (form === 1) edits.push({ line: line + 1, new: `${tag} ${i};` });
    else if (form === 2) edits.push({ after: line + 1, new: `${tag} ${i};` });
    else if (form === 3 && count > 3) edits.push({ line: line + 1, new: "" });
  }
  // Unit tests cover removing adjacent lines at the end of a file, and adding to a file that is deleted.
  const removing = edits.some(one => one.new === "");
  return edits.length === 0 ? undefined : { do: "edit", path, edits: removing ? edits.slice(0, 1) : edits };
}

function patch(tree: Tree, a: number, b: number, c: number, tag: string): Changing | undefined {
  const notation = pick(["unified", "envelope"] as const, c) ?? "unified";
  const blocks: Block[] = [];
  const files = texts(tree).filter(path => /^[\x20-\x7e]+$/.test(path) || notation === "envelope");
  const usable = files.filter(path => !path.includes("\n"));
  for (let i = 0; i <= b % 3; i++) {
    const path = pick(usable, a + i);
    const block = path === undefined ? undefined : modified(tree, path, b + i, `${tag} ${i};`);
    if (block !== undefined && !blocks.some(one => one.path === block.path)) blocks.push(block);
  }
  const extra = c % 5;
  const free = `patched ${tag.replace(/\W/g, "")}/f.txt`;
  if (extra === 1) blocks.push({ kind: "create", path: free, lines: [`${tag} 1;`, `${tag} 2;`] });
  const doomed = pick(usable, a + 7);
  if (extra === 2 && notation === "envelope" && doomed && !blocks.some(({ path }) => path === doomed))
    blocks.push({ kind: "delete", path: doomed });
  const [first] = blocks;
  if (extra === 3 && notation === "envelope" && first?.kind === "modify") blocks[0] = { ...first, to: free };
  return blocks.length === 0 ? undefined : { do: "patch", notation, blocks };
}

function modified(tree: Tree, path: string, n: number, made: string): Block | undefined {
  const node = tree.get(path);
  if (node?.kind !== "file") return undefined;
  const content = contentOf(node.bytes);
  const shown = content.lines.map(({ text, end }) => (end === "" ? undefined : seen(content, text)));
  const line = n % shown.length;
  const from = Math.max(0, line - (n % 3));
  const stands = shown.slice(from, line + 1 + (n % 2));
  const whole = stands.flatMap(text => (text === undefined ? [] : [text]));
  if (whole.length < stands.length) return undefined;
  return { kind: "modify", path, from: from + 1, stands: whole, at: line - from, new: made };
}

export function reading(tree: Tree, { kind, a, b, c }: Step): Reading | undefined {
  switch (kind) {
    case "read":
      return { do: "read", path: nameOf(a), offset: pick([1, 1, 2, -1, -3, 50], b) ?? 1, limit: 1 + (c % 9) };
    case "list":
      return { do: "list", path: pick(["", nameOf(a)], b) ?? "" };
    case "find":
      return { do: "find", path: pick(["", "d", "dlink", nameOf(a)], b) ?? "", pattern: "*.txt" };
    case "search": {
      const path = pick(texts(tree), a);
      const node = path === undefined ? undefined : tree.get(path);
      if (node?.kind !== "file") return undefined;
      const content = contentOf(node.bytes);
      const text = seen(content, pick(content.lines, b)?.text ?? "");
      return text && /^[\x20-\x7e]+$/.test(text) ? { do: "search", path: "", text } : undefined;
    }
    default:
      return undefined;
  }
}
