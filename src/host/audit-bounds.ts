// The length of an audit line. Callers choose much of what is in it, and a long line pushes the lines of others out of
// the log. So it has 8 KB at most, counted as it is written, with its escapes. What does not fit is left out, with its
// length and hash in its place. Secrets are masked before that: one that is cut has no shape to know it by, and its hash
// would tell a short one.
//
// Complete however long they are: what a call changed, since the log explains the bytes of every file, and what is
// served, which the operator chooses.
import { hash } from "node:crypto";
import { auditJson } from "./audit-json.ts";
import { withoutTokens } from "./masked-tokens.ts";

/** 8 KB, without the members that every line has. */
const longestMembers = 7 * 1024;
const complete: ReadonlySet<string> = new Set(["changes", "served"]);
/** No UTF-16 unit has more bytes in UTF-8. */
const mostBytesOfUnit = 3;

/** The members of an entry, as JSON by `auditJson`. */
export function boundedMembers(members: string): string {
  if (members.length * mostBytesOfUnit <= longestMembers || bytesOf(members) <= longestMembers)
    return members;
  const entries = Object.entries(JSON.parse(`{${members}}`) as Record<string, unknown>);
  const chosen = entries.filter(([name]) => !complete.has(name));
  for (let most = longestMembers; ; most /= 2) {
    const shorter = chosen.map(([name, value]) => [name, shortened(value, most)] as const);
    if (most > 64 && jsonBytes(Object.fromEntries(shorter)) > longestMembers) continue;
    const found = new Map(shorter);
    const all = entries.map(([name, value]) => [name, found.get(name) ?? value]);
    return auditJson(Object.fromEntries(all)).slice(1, -1);
  }
}

/**
 * A value of about this many bytes, with its secrets masked. A text that is longer becomes its beginning, its length and its hash; a list its
 * first elements, and the number of the others with the hash of the whole list as JSON.
 */
export function shortened(value: unknown, most: number): unknown {
  if (typeof value === "string") return shorterText(withoutTokens(value), most);
  if (Array.isArray(value)) return shorterList(value, most);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  return Object.fromEntries(members.map(([name, one]) => [name, shortened(one, most / members.length)]));
}

function shorterText(text: string, most: number): unknown {
  // What is certainly too long is not encoded.
  if (text.length <= most && jsonBytes(text) <= most) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text.slice(0, most)) {
    bytes += jsonBytes(character);
    if (bytes > most) break;
    end += character.length;
  }
  return { text: text.slice(0, end), characters: text.length, sha256: hash("sha256", text) };
}

function shorterList(list: readonly unknown[], most: number): unknown[] {
  let bytes = 0;
  const first: unknown[] = [];
  for (const value of list) {
    const shorter = shortened(value, most / 4);
    bytes += jsonBytes(shorter) + 3;
    if (bytes > most) break;
    first.push(shorter);
  }
  const more = list.length - first.length;
  return more === 0
    ? first
    : [...first, { more, sha256: hash("sha256", withoutTokens(JSON.stringify(list))) }];
}

/** Without the quotes of a text. */
function jsonBytes(value: unknown): number {
  return bytesOf(auditJson(value)) - 2;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}
