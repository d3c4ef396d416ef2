// Configurations in TOML: a server is a table, `[mcp_servers.name]`. It is found by parsing the file's statements,
// including strings and nested values; if it is written in another way, it is left alone.
import { type Format, isList, lineEnding, type ServerEntry, splice, Unfit } from "./unfit.ts";

interface Statement {
  readonly kind: "table" | "tables" | "pair";
  /** From the top of the file down. */
  readonly path: readonly string[];
  /** Its table: the index of the header in the list. */
  readonly header: number;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

export function tomlFormat(key: string): Format {
  return {
    put(text, name, entry) {
      const path = [key, name];
      const statements = statementsOf(text);
      refuseOtherWays(statements, path);
      const eol = lineEnding(text);
      const header = statements.findIndex(({ kind, path: at }) => kind === "table" && same(at, path));
      if (header < 0) {
        const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
        return `${text}${gap}[${path.map(keyText).join(".")}]${eol}${fields(Object.entries(entry), eol)}`;
      }
      const own = (field: string) =>
        statements.find(({ header: at, path: of }) => at === header && same(of, [...path, field]));
      const missing = Object.entries(entry).filter(([field]) => own(field) === undefined);
      const behind = lineEnd(text, statements[header]?.end ?? 0);
      const gap = text[behind - 1] === "\n" ? "" : eol;
      const edits = [
        { start: behind, end: behind, added: missing.length === 0 ? "" : gap + fields(missing, eol) },
      ];
      for (const [field, value] of Object.entries(entry)) {
        const there = own(field);
        if (there !== undefined)
          edits.push({ start: there.valueStart, end: there.end, added: valueText(value) });
      }
      // From the end to the start, so that places further up stay right.
      return edits
        .sort((a, b) => b.start - a.start)
        .reduce((edited, { start, end, added }) => splice(edited, start, end, added), text);
    },
    servers(text) {
      const statements = statementsOf(text);
      const found = new Map<string, string>();
      for (const [index, { kind, path: at, start }] of statements.entries()) {
        const [top, name] = at;
        if (kind !== "table" || top !== key || name === undefined) continue;
        const last = statements.findLast(({ header }, i) => header === index || i === index);
        found.set(name, (found.get(name) ?? "") + text.slice(start, last?.end ?? start));
      }
      return found;
    },
    remove(text, name) {
      const path = [key, name];
      const statements = statementsOf(text);
      refuseOtherWays(statements, path);
      let edited = text;
      for (const [index, { kind, path: at, start }] of [...statements.entries()].reverse()) {
        if (kind === "pair" || !same(at.slice(0, 2), path)) continue;
        const last = statements.findLast(({ header }, i) => header === index || i === index);
        const before = edited.slice(0, start).replace(/(\r?\n)\r?\n$/, "$1");
        edited = before + edited.slice(lineEnd(edited, last?.end ?? start));
      }
      return edited;
    },
  };
}

function refuseOtherWays(statements: readonly Statement[], path: readonly string[]): void {
  for (const { kind, path: at, header } of statements) {
    const owner = header < 0 ? [] : (statements[header]?.path ?? []);
    const above = at.length <= path.length && same(at, path.slice(0, at.length));
    const inside = at.length > path.length && same(at.slice(0, path.length), path);
    if (kind === "tables" && above) throw new Unfit(`${at.join(".")} is an array of tables`);
    if (kind === "pair" && (above || (inside && owner.length < path.length)))
      throw new Unfit(`${at.join(".")} is not written as a table of its own`);
  }
  const own = statements.filter(({ kind, path: at }) => kind === "table" && same(at, path));
  if (own.length > 1) throw new Unfit(`${path.join(".")} appears twice`);
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, i) => part === b[i]);
}

function keyText(part: string): string {
  return /^[A-Za-z0-9_-]+$/.test(part) ? part : JSON.stringify(part);
}

function valueText(value: ServerEntry[string]): string {
  if (isList(value)) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value).map(([part, one]) => `${keyText(part)} = ${valueText(one)}`);
    return `{ ${pairs.join(", ")} }`;
  }
  return typeof value === "string" ? JSON.stringify(value).replaceAll("\x7f", "\\u007f") : String(value);
}

function fields(entries: readonly [string, ServerEntry[string]][], eol: string): string {
  return entries.map(([field, value]) => `${keyText(field)} = ${valueText(value)}${eol}`).join("");
}

/** After the line break of this line. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

const string = /"""[\s\S]*?(?<!(?<!\\)(?:\\\\)*\\)"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y;

function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let at = 0;
  let header = -1;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  const fail = (): never => {
    throw new Unfit(`cannot parse line ${text.slice(0, at).split("\n").length}`);
  };
  const keys = (): string[] => {
    const parts: string[] = [];
    do {
      take(/[ \t]*/y);
      const part = take(/[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'/y) ?? fail();
      parts.push(part.startsWith('"') ? unquoted(part) : part.replaceAll("'", ""));
      take(/[ \t]*/y);
    } while (take(/\./y) !== undefined);
    return parts;
  };
  const value = (): void => {
    for (let depth = 0; at < text.length; ) {
      if (take(string) !== undefined) continue;
      if (depth === 0 && /[\r\n#]/.test(text[at] ?? "")) return;
      if (take(/#[^\n]*/y) !== undefined) continue;
      const one = text[at++] ?? "";
      if (one === '"' || one === "'") fail();
      if (/[[{]/.test(one)) depth++;
      if (/[\]}]/.test(one)) depth--;
      if (depth < 0) fail();
    }
  };
  for (;;) {
    take(/(?:[ \t\r\n]|#[^\n]*)*/y);
    if (at >= text.length) return statements;
    const start = at;
    const bracket = take(/\[\[?/y);
    if (bracket !== undefined) {
      const path = keys();
      if (take(bracket === "[" ? /\]/y : /\]\]/y) === undefined) fail();
      header = statements.length;
      statements.push({
        kind: bracket === "[" ? "table" : "tables",
        path,
        header,
        start,
        valueStart: start,
        end: at,
      });
    } else {
      const path = [...(statements[header]?.path ?? []), ...keys()];
      if (take(/=[ \t]*/y) === undefined) fail();
      const valueStart = at;
      value();
      const end = valueStart + text.slice(valueStart, at).trimEnd().length;
      if (end === valueStart) fail();
      statements.push({ kind: "pair", path, header, start, valueStart, end });
    }
    take(/[ \t]*(?:#[^\n]*)?/y);
    if (at < text.length && take(/\r?\n/y) === undefined) fail();
  }
}

function unquoted(part: string): string {
  try {
    return JSON.parse(part);
  } catch {
    throw new Unfit(`cannot parse the key ${part}`);
  }
}
