// Configurations in JSON: a server is a member of an object somewhere in the file. After each edit the text is parsed
// again and must be equal but for that member; otherwise nothing is written.
import { isDeepStrictEqual } from "node:util";
import { type JsonExtensions, type JsonNode, type Member, parseJson, restOfLine } from "./json-text.ts";
import { type Format, lineEnding, type ServerEntry, splice, Unfit } from "./unfit.ts";

/** `key` is the object that servers are members of. */
export function jsonFormat(key: string, allowed: JsonExtensions): Format {
  return {
    put(text, name, entry) {
      if (text.trim() === "") return `${JSON.stringify({ [key]: { [name]: entry } }, undefined, 2)}\n`;
      const before = parseJson(text, allowed);
      const servers = memberOf(before, key);
      const known = servers && memberOf(servers, name);
      if (known !== undefined) objectOf(known, name);
      const meant = { ...(known?.meaning as object | undefined), ...entry };
      const edited = putFields(text, [key, name], entry, allowed);
      const all = { ...(servers?.meaning as object | undefined), [name]: meant };
      return checked(edited, { ...(before.meaning as object), [key]: all }, allowed);
    },
    servers(text) {
      const servers = text.trim() === "" ? undefined : memberOf(parseJson(text, allowed), key);
      const members = servers === undefined ? [] : objectOf(servers, key);
      return new Map(members.map(one => [one.key, text.slice(one.value.start, one.value.end)]));
    },
    remove(text, name) {
      if (text.trim() === "") return text;
      const before = parseJson(text, allowed);
      const servers = memberOf(before, key);
      if (servers === undefined || memberOf(servers, name) === undefined) return text;
      let edited = text;
      for (let again = true; again; ) {
        const object = memberOf(parseJson(edited, allowed), key);
        const members = object?.members ?? [];
        const index = members.findLastIndex(member => member.key === name);
        again = object !== undefined && index >= 0;
        if (object !== undefined && index >= 0) edited = withoutMember(edited, object, members, index);
      }
      const { [name]: _, ...others } = servers.meaning as Record<string, unknown>;
      return checked(edited, { ...(before.meaning as object), [key]: others }, allowed);
    },
  };
}

function checked(text: string, meant: unknown, allowed: JsonExtensions): string {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
  if (!isDeepStrictEqual(plain(parseJson(text, allowed).meaning), plain(meant)))
    throw new Unfit("it is written in a way that cannot be edited safely");
  return text;
}

/** Of several members with one key the last counts, as in every JSON parser. */
function memberOf(node: JsonNode, key: string): JsonNode | undefined {
  return objectOf(node, "the whole").findLast(member => member.key === key)?.value;
}

function objectOf({ members }: JsonNode, what: string): readonly Member[] {
  if (members === undefined) throw new Unfit(`${what} is not an object`);
  return members;
}

function putFields(
  text: string,
  path: readonly [string, string],
  entry: ServerEntry,
  allowed: JsonExtensions,
): string {
  const root = parseJson(text, allowed);
  const servers = memberOf(root, path[0]);
  if (servers === undefined) return withMember(text, root, path[0], { [path[1]]: entry });
  objectOf(servers, path[0]);
  if (memberOf(servers, path[1]) === undefined) return withMember(text, servers, path[1], entry);
  let edited = text;
  for (const [field, value] of Object.entries(entry)) {
    const server = memberOf(memberOf(parseJson(edited, allowed), path[0]) ?? root, path[1]);
    if (server === undefined) throw new Unfit(`${path[1]} cannot be found again`);
    const there = memberOf(server, field);
    if (there === undefined) edited = withMember(edited, server, field, value);
    else if (!isDeepStrictEqual(there.meaning, value)) {
      const flat = !edited.slice(there.start, there.end).includes("\n");
      edited = splice(
        edited,
        there.start,
        there.end,
        written(edited, value, indentAt(edited, there.start), flat),
      );
    }
  }
  return edited;
}

function withMember(
  text: string,
  { start, end, members = [] }: JsonNode,
  key: string,
  value: unknown,
): string {
  const eol = lineEnding(text);
  const first = members[0];
  const last = members.at(-1);
  if (first === undefined || last === undefined) {
    const outer = indentAt(text, start);
    const inner = outer + unitOf(text);
    const from = start + 1 + text.slice(start + 1, end - 1).trimEnd().length;
    const member = `${JSON.stringify(key)}: ${written(text, value, inner, false)}`;
    return splice(text, from, end - 1, `${eol}${inner}${member}${eol}${outer}`);
  }
  const spread = text.slice(start, first.start).includes("\n");
  const behind = (last.comma ?? last.value.end - 1) + 1;
  if (!spread) {
    const member = `${JSON.stringify(key)}:${written(text, value, "", true)}`;
    const spaced = / $/.test(text.slice(0, first.start)) || /,\s/.test(text.slice(start, end)) ? " " : "";
    return last.comma === undefined
      ? splice(text, behind, behind, `,${spaced}${member}`)
      : splice(text, behind, behind, `${spaced}${member},`);
  }
  const indent = indentAt(text, first.start);
  const member = `${JSON.stringify(key)}: ${written(text, value, indent, false)}`;
  const line = restOfLine(text, behind);
  const added = `${eol}${indent}${member}${last.comma === undefined ? "" : ","}`;
  const comma = last.comma === undefined ? "," : "";
  return text.slice(0, behind) + comma + text.slice(behind, line) + added + text.slice(line);
}

function withoutMember(text: string, object: JsonNode, members: readonly Member[], index: number): string {
  const member = members[index];
  if (member === undefined) return text;
  const previous = members[index - 1];
  const end = (member.comma ?? member.value.end - 1) + 1;
  if (
    members.length === 1 &&
    !/\/[/*]/.test(text.slice(object.start, member.start) + text.slice(end, object.end))
  )
    return splice(text, object.start, object.end, "{}");
  const lineStart = text.lastIndexOf("\n", member.start - 1) + 1;
  const blank = /[ \t]*(\r?\n)?/y;
  blank.lastIndex = end;
  const rest = blank.exec(text)?.[0] ?? "";
  const alone = text.slice(lineStart, member.start).trim() === "" && rest.endsWith("\n");
  const without = alone
    ? splice(text, lineStart, end + rest.length, "")
    : splice(text, member.start, end + rest.replace(/\r?\n$/, "").length, "");
  // The member before it is the last one now: its comma is removed, unless the file uses trailing commas.
  const isLast = index === members.length - 1;
  if (!isLast || member.comma !== undefined || previous?.comma === undefined) return without;
  return splice(without, previous.comma, previous.comma + 1, "");
}

function written(text: string, value: unknown, indent: string, flat: boolean): string {
  if (flat) return JSON.stringify(value);
  return JSON.stringify(value, undefined, unitOf(text)).replaceAll("\n", lineEnding(text) + indent);
}

/** The white space that the line of this place begins with. */
function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function unitOf(text: string): string {
  return /^([ \t]+)["}/]/m.exec(text)?.[1] ?? "  ";
}
