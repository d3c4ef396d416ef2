// Configurations in YAML: a server is an entry of a block mapping at the top of the file. Only that plain layout is
// edited, line by line; flow style, anchors, several documents and tabs are left alone.
import { type Format, isList, lineEnding, type ServerEntry, Unfit } from "./unfit.ts";

interface YamlBlock {
  /** The line of its key, and the line after its last one. */
  readonly from: number;
  readonly to: number;
  readonly indent: number;
  readonly key: string;
  /** The value after the colon, without a comment. */
  readonly value: string;
}

const keyLine =
  /^( *)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?)\s*:(?:\s+(.*))?$/;

export function yamlFormat(key: string): Format {
  return {
    put(text, name, entry) {
      const eol = lineEnding(text);
      const file = linesOf(text);
      const lines = file.map(bare);
      const ended = (added: readonly string[]) => added.map(line => line + eol);
      const insert = (at: number, dropped: number, added: readonly string[]) => {
        const before = file[at - 1];
        if (before !== undefined && !before.endsWith("\n")) file[at - 1] = before + eol;
        file.splice(at, dropped, ...ended(added));
      };
      const top = topOf(lines, key);
      if (top === undefined) {
        insert(file.length, 0, [`${key}:`, `  ${plainText(name)}:`, ...fieldLines(entry, "    ")]);
        return file.join("");
      }
      const children = blocksIn(lines, top.from + 1, top.to);
      const own = children.find(child => child.key === name);
      if (own === undefined) {
        const indent = " ".repeat(children[0]?.indent ?? top.indent + 2);
        insert(top.to, 0, [`${indent}${plainText(name)}:`, ...fieldLines(entry, `${indent}  `)]);
        if (top.value !== "") file[top.from] = (file[top.from] ?? "").replace(/ *\{\s*\}/, "");
        return file.join("");
      }
      if (own.value !== "") throw new Unfit(`${name} is not written as a block`);
      const fields = blocksIn(lines, own.from + 1, own.to);
      const indent = " ".repeat(fields[0]?.indent ?? own.indent + 2);
      const changed = Object.entries(entry).flatMap(([field, value]) => {
        const there = fields.find(one => one.key === field);
        const made = fieldLines({ [field]: value }, indent);
        return [
          { at: there?.from ?? own.to, dropped: there === undefined ? 0 : there.to - there.from, made },
        ];
      });
      // From the end to the start, so that places further up stay right.
      for (const { at, dropped, made } of changed.sort((a, b) => b.at - a.at)) insert(at, dropped, made);
      return file.join("");
    },
    servers(text) {
      const file = linesOf(text);
      const lines = file.map(bare);
      const top = topOf(lines, key);
      const blocks = top === undefined ? [] : blocksIn(lines, top.from + 1, top.to);
      return new Map(blocks.map(({ key: name, from, to }) => [name, file.slice(from, to).join("")]));
    },
    remove(text, name) {
      const file = linesOf(text);
      const lines = file.map(bare);
      const top = topOf(lines, key);
      const children = top === undefined ? [] : blocksIn(lines, top.from + 1, top.to);
      const own = children.find(child => child.key === name);
      if (own === undefined || top === undefined) return text;
      file.splice(own.from, own.to - own.from);
      // A key without anything after it would be null, which is no mapping.
      if (children.length === 1) file[top.from] = (file[top.from] ?? "").replace(":", ": {}");
      return file.join("");
    },
  };
}

/** The lines with their endings; refuses a file that is not laid out plainly. */
function linesOf(text: string): string[] {
  if (text.trim() === "") return [];
  const file = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const lines = file.map(bare);
  for (const line of lines) {
    if (/^ *\t/.test(line)) throw new Unfit("it is indented with tabs");
    if (/[|>][1-9]?\+/.test(line)) throw new Unfit("it has a block whose empty lines count");
    if (/^(---\s*\S|\.\.\.|%)/.test(line)) throw new Unfit("it is more than one plain document");
  }
  const starts = lines.filter(line => /^---/.test(line)).length;
  const firstContent = lines.find(line => /^[^\s#]/.test(line)) ?? "";
  if (starts > 1 || (starts === 1 && !/^---/.test(firstContent)))
    throw new Unfit("it is more than one plain document");
  for (const line of lines) {
    if (/^(\s|#|---|$)/.test(line) || /^-(\s|$)/.test(line) || keyLine.test(line)) continue;
    throw new Unfit("its top is not a plain mapping");
  }
  return file;
}

function bare(line: string): string {
  return line.replace(/\r?\n$/, "");
}

function topOf(lines: readonly string[], key: string): YamlBlock | undefined {
  const found = blocksIn(lines, 0, lines.length).filter(block => block.key === key);
  const [top] = found;
  if (found.length > 1) throw new Unfit(`${key} is there twice`);
  if (top === undefined) return undefined;
  if (!/^(\{\s*\})?$/.test(top.value)) throw new Unfit(`${key} is not written as a block`);
  const first = lines.slice(top.from + 1, top.to).find(line => /^ *[^\s#]/.test(line));
  if (first !== undefined && (top.value !== "" || !keyLine.test(first)))
    throw new Unfit(`${key} is not a mapping`);
  return top;
}

/** The keys at the outermost indentation of these lines. */
function blocksIn(lines: readonly string[], from: number, to: number): YamlBlock[] {
  const depth = (line: string) => /^ */.exec(line)?.[0].length ?? 0;
  const first = lines.slice(from, to).find(line => /^ *[^\s#]/.test(line) && !/^---/.test(line));
  if (first === undefined) return [];
  const indent = depth(first);
  const blocks: YamlBlock[] = [];
  for (let i = from; i < to; i++) {
    const line = lines[i] ?? "";
    const parts = keyLine.exec(line);
    if (depth(line) !== indent || parts === null || /^ *#/.test(line)) continue;
    let end = i + 1;
    for (let j = i + 1; j < to; j++) {
      const next = lines[j] ?? "";
      if (next.trim() === "") continue;
      // A list may have the indentation of its key.
      if (depth(next) <= indent && !(depth(next) === indent && /^ *-(\s|$)/.test(next))) break;
      end = j + 1;
    }
    const value = (parts[3] ?? "").replace(/(^|\s)#.*$/, "").trim();
    blocks.push({ from: i, to: end, indent, key: plain(parts[2] ?? ""), value });
  }
  return blocks;
}

function plain(key: string): string {
  if (key.startsWith("'")) return key.slice(1, -1);
  if (!key.startsWith('"')) return key;
  try {
    return JSON.parse(key);
  } catch {
    throw new Unfit(`the key ${key} is not understood`);
  }
}

/** A plain word if that is safe, otherwise in JSON's quotes, which are YAML's too. */
function plainText(word: string): string {
  const safe = /^[A-Za-z_][A-Za-z0-9_-]*$/.test(word) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(word);
  return safe ? word : JSON.stringify(word);
}

function fieldLines(entry: ServerEntry, indent: string): string[] {
  return Object.entries(entry).flatMap(([field, value]) => {
    if (typeof value !== "object")
      return [`${indent}${field}: ${typeof value === "string" ? plainText(value) : value}`];
    if (!isList(value)) {
      const pairs = Object.entries(value).map(([part, one]) => `${indent}  ${part}: ${JSON.stringify(one)}`);
      return pairs.length === 0 ? [`${indent}${field}: {}`] : [`${indent}${field}:`, ...pairs];
    }
    if (value.length === 0) return [`${indent}${field}: []`];
    return [`${indent}${field}:`, ...value.map(item => `${indent}  - ${JSON.stringify(item)}`)];
  });
}
