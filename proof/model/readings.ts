// What an operation that only reads must answer on a tree.
import { versionOf } from "./calls.ts";
import { contentOf, isBinary, seen } from "./lines.ts";
import type { Reading } from "./operation.ts";
import { below, find, isWithin, namesIn, Refused, type Tree } from "./tree.ts";

/** Says what is wrong with an answer, if anything. Throws what the operation must be refused with. */
export function complaint(
  tree: Tree,
  operation: Reading,
  text: string,
  shown: (path: string) => string,
): string | undefined {
  const lines = text.split("\n");
  switch (operation.do) {
    case "read":
      return readComplaint(tree, operation, lines);
    case "list":
      return unequal(listed(tree, operation.path), lines.slice(1));
    case "find": {
      const at = directoryAt(tree, operation.path);
      const fits = [...tree].filter(
        ([path, { kind }]) => isWithin(path, at) && kind !== "directory" && /\.txt$/s.test(path),
      );
      const names = fits.map(([path]) => printable(shown(below(operation.path, relative(path, at)))));
      return unequal(names, names.length === 0 ? [] : lines.slice(0, -1));
    }
    case "search": {
      const at = directoryAt(tree, operation.path);
      const hits = [...tree].flatMap(([path, node]) => {
        if (node.kind !== "file" || !isWithin(path, at) || isBinary(node.bytes)) return [];
        const name = printable(shown(below(operation.path, relative(path, at))));
        const matching = [...contentOf(node.bytes).lines.entries()].filter(([, { text }]) =>
          text.includes(operation.text),
        );
        return matching.length === 0
          ? []
          : [`${name} · ${versionOf(node.bytes)}`, ...matching.map(([i]) => `${i + 1}:`)];
      });
      const found = lines.filter(line => line !== "" && !line.startsWith("["));
      return unequal(
        hits,
        found.map(line => (/^\d+: /.test(line) ? `${Number.parseInt(line, 10)}:` : line)),
      );
    }
  }
}

function readComplaint(
  tree: Tree,
  { path, offset, limit }: Reading & { do: "read" },
  answer: readonly string[],
): string | undefined {
  const { node } = find(tree, path, true);
  if (node === undefined) throw new Refused("not_found");
  if (node.kind !== "file") throw new Refused("not_a_file");
  if (isBinary(node.bytes)) throw new Refused("binary");
  const content = contentOf(node.bytes);
  const total = content.lines.length;
  if (offset > Math.max(1, total)) throw new Refused("invalid_input");
  if (!answer[0]?.endsWith(versionOf(node.bytes))) return `the head has another version: ${answer[0]}`;
  const first = offset < 0 ? Math.max(1, total + 1 + offset) : offset;
  const page = content.lines.slice(first - 1, first - 1 + limit);
  const wrong = page.findIndex(({ text }, i) => {
    const shown = seen(content, text);
    const got = answer[i + 1];
    return shown === undefined ? !got?.startsWith(`${first + i}: `) : got !== `${first + i}: ${shown}`;
  });
  if (wrong >= 0) return `line ${first + wrong} is ${answer[wrong + 1]}`;
  const rest = answer.slice(1 + page.length).filter(line => !/^\[lines /.test(line));
  return rest.length > 0 ? `too much: ${rest.join("|")}` : undefined;
}

function listed(tree: Tree, path: string): string[] {
  const at = directoryAt(tree, path);
  return namesIn(tree, at).map(name => {
    const node = tree.get(below(at, name));
    const link = node?.kind === "link" ? ` -> ${printable(node.target)}` : "";
    return printable(name) + (node?.kind === "directory" ? "/" : link);
  });
}

function directoryAt(tree: Tree, path: string): string {
  const { at, node } = find(tree, path, true);
  if (node === undefined) throw new Refused("not_found");
  if (node.kind !== "directory") throw new Refused("not_a_directory");
  return at;
}

function relative(path: string, at: string): string {
  return at === "" ? path : path.slice(at.length + 1);
}

function printable(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f]/g, c => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function unequal(wanted: readonly string[], got: readonly string[]): string | undefined {
  const [a, b] = [wanted.toSorted(), got.map(line => line.trimStart()).toSorted()];
  const cleaned = a.map(line => line.trimStart());
  return JSON.stringify(cleaned.toSorted()) === JSON.stringify(b)
    ? undefined
    : `wanted ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`;
}
