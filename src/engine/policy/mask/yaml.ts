// YAML and TOML, line by line: keys, structure and comments are shown, values are hidden. Not a parser: a broken
// file, or one that uses a rare corner of the format, must not show more than a valid one.
import { append } from "../../append.ts";
import { lineEnd, nextLine } from "./key-value.ts";
import { knownSecrets } from "./known-secrets.ts";
import { labelOf, mostSecrets, type Secret, unquoted } from "./secret.ts";

// No two parts of these that repeat can match the same blanks: ways to share them multiply with each dash.
const yamlKey =
  /^[ \t]*(?:-[ \t]+)*(?:#+[ \t]*)?("(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*'|[^\s#:,[\]{}"'&*!|>%@`-](?:[^#:\r\n]*[^\s#:])?|\?)[ \t]*:(?=[ \t]|$)[ \t]*/;
/** A list's dashes, or the marker of a document: what follows on the line is a value. */
const yamlItem = /^(?:[ \t]*(?:-(?:[ \t]+|$))+|---[ \t]+)/;
const tomlKey =
  /^[ \t]*(?:#+[ \t]*)?((?:"[^"\r\n]*"|'[^'\r\n]*'|[A-Za-z0-9_-]+)(?:[ \t]*\.[ \t]*(?:"[^"\r\n]*"|'[^'\r\n]*'|[A-Za-z0-9_-]+))*)[ \t]*=[ \t]*/;
const tomlTable = /^[ \t]*\[{1,2}[^=\r\n]*\]{1,2}[ \t]*(?:#.*)?$/;
const documentMarker = /^(?:---|\.\.\.)(?:[ \t]|$)/;
/** A line that ends with the indicator of a block scalar. */
const opensBlock = /(?:^|[ \t])[|>][-+0-9]*[ \t]*(?:#.*)?$/;
/** One that has nothing else, so that the scalar is the whole document. */
const isOnlyBlock = /^[ \t]*(?:---[ \t]+)?(?:[&!][^\s]*[ \t]+)*[|>][-+0-9]*[ \t]*(?:#.*)?$/;
const quiet = /^[ \t]*(?:#.*|---[ \t]*(?:#.*)?|\.\.\.|%(?:YAML|TAG)[ \t].*)?$/;

/** How many of the names above a value its label includes. */
const mostNames = 50;

export function yamlSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  const above: { indent: number; key: string }[] = [];
  let items = 0;
  for (let at = 0; at < text.length && secrets.length <= mostSecrets; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    let next = nextLine(text, end);
    const indent = line.length - line.trimStart().length;
    const key = yamlKey.exec(line);
    const item = key === null ? yamlItem.exec(line) : null;
    if (key === null && quiet.test(line)) append(secrets, knownSecrets(text, at, end));
    else {
      const lead = key?.[0] ?? item?.[0] ?? line.slice(0, indent);
      const depth = key === null ? indent : line.indexOf(key[1] ?? "");
      while ((above.at(-1)?.indent ?? -1) >= depth) above.pop();
      const name = key?.[1] ?? `-${items++}`;
      const label = labelOf(...above.slice(-mostNames).map(one => one.key), name);
      if (key !== null) above.push({ indent: depth, key: name });
      const start = at + lead.length;
      // A document that is one scalar: its lines need no indentation.
      const isWhole = key === null && isOnlyBlock.test(line);
      const [stop, resume] = yamlValue(text, start, end, isWhole ? -1 : depth, next);
      next = resume;
      const [inner, innerEnd] = unquoted(text, start, stop);
      if (innerEnd > inner) secrets.push({ start: inner, end: innerEnd, label });
    }
    at = next;
  }
  return secrets;
}

/** Where the value ends, and where the next line to look at begins. */
function yamlValue(text: string, start: number, end: number, depth: number, next: number): [number, number] {
  const value = text.slice(start, end);
  const first = /^(?:[&!][^\s]*[ \t]+)*/.exec(value)?.[0].length ?? 0;
  const opens = value[first];
  // A mapping or list begins on the next line.
  if (value.trim() === "" || /^#/.test(value)) return [start, next];
  const isBlock = opens === "|" || opens === ">" || opensBlock.test(value);
  const closing =
    opens === '"' || opens === "'"
      ? closingQuote(text, start + first, opens)
      : opens === "{" || opens === "["
        ? closingBracket(text, start + first)
        : -1;
  let stop = end;
  let resume = next;
  // Deeper lines belong to the value: block scalars, and plain or quoted ones over several lines.
  while (resume < text.length) {
    const lineStop = lineEnd(text, resume);
    const line = text.slice(resume, lineStop);
    if (isBlock && documentMarker.test(line)) break;
    const isDeeper = line.trim() === "" || line.length - line.trimStart().length > depth;
    const goesOn = closing >= stop || (isDeeper && (isBlock || line.trim() !== ""));
    if (!goesOn) break;
    stop = lineStop;
    resume = nextLine(text, lineStop);
  }
  return [trimmed(text, start, stop), resume];
}

export function tomlSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  let table = "";
  for (let at = 0; at < text.length && secrets.length <= mostSecrets; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    let next = nextLine(text, end);
    const key = tomlKey.exec(line);
    if (key !== null) {
      const start = at + key[0].length;
      const stop = tomlValueEnd(text, start, end);
      next = nextLine(text, lineEnd(text, stop));
      const [inner, innerEnd] = unquoted(text, start, stop);
      if (innerEnd > inner)
        secrets.push({ start: inner, end: innerEnd, label: labelOf(table, key[1] ?? "") });
    } else if (tomlTable.test(line)) table = line.trim();
    else if (quiet.test(line)) append(secrets, knownSecrets(text, at, end));
    else if (line.trim() !== "") {
      const start = at + line.length - line.trimStart().length;
      secrets.push({ start, end: at + line.trimEnd().length, label: labelOf(table, "line") });
    }
    at = next;
  }
  return secrets;
}

function tomlValueEnd(text: string, start: number, end: number): number {
  for (const triple of ['"""', "'''"]) {
    if (!text.startsWith(triple, start)) continue;
    const close = text.indexOf(triple, start + 3);
    return close < 0 ? trimmed(text, start, text.length) : trimmed(text, start, lineEnd(text, close));
  }
  const isOpen = text[start] === "[" || text[start] === "{";
  return trimmed(text, start, isOpen ? Math.max(end, lineEnd(text, closingBracket(text, start))) : end);
}

/** Where the quote at `start` is closed; the length of the text if it is not. */
function closingQuote(text: string, start: number, quote: string): number {
  for (let i = start + 1; i < text.length; i++) {
    if (quote === '"' && text[i] === "\\") i++;
    else if (text[i] === quote) {
      if (quote === "'" && text[i + 1] === "'") i++;
      else return i;
    }
  }
  return text.length;
}

/** Where the bracket at `start` is closed; the length of the text if it is not. */
function closingBracket(text: string, start: number): number {
  let depth = 0;
  for (let i = start; i < text.length; i++) {
    const c = text[i] as string;
    if (c === '"' || c === "'") {
      const close = text.indexOf(c, i + 1);
      if (close < 0) return text.length;
      i = close;
    } else if ("[{".includes(c)) depth++;
    else if ("]}".includes(c) && --depth <= 0) return i;
  }
  return text.length;
}

function trimmed(text: string, start: number, end: number): number {
  let stop = end;
  while (stop > start && /\s/.test(text[stop - 1] ?? "")) stop--;
  return stop;
}
