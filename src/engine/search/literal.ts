// Plain text found in the bytes of one file, for the few kinds of query of which it is certain that ripgrep would find
// the same.
import type { Finder } from "./lines-with.ts";
import type { Query } from "./ripgrep.ts";

/** The most comparisons for one file: a repetitive text in a repetitive file needs the most. */
const mostSteps = 1e8;

/** An expression in Rust's syntax whose tokens are all literal characters. */
const ownCharacters = /^(?:[^\\.+*?()|[\]{}^$\n\r\0]|\\[ -/:;=?@[-`{-~])+$/;

/** The query, as plain text if its expression is nothing else: `foo\.bar\(` is `foo.bar(`. */
export function plainWherePossible(query: Query): Query {
  if (query.literal || !ownCharacters.test(query.pattern)) return query;
  return { ...query, literal: true, pattern: query.pattern.replace(/\\(.)/g, "$1") };
}

/** Searches bytes for a query; undefined if only ripgrep can do it. */
export function literalFinder(query: Query): Finder | undefined {
  const { pattern, literal, ignoreCase, wholeWord, multiline } = query;
  if (!literal || wholeWord || multiline || pattern === "" || /[\n\r\0]/.test(pattern)) return undefined;
  if (!ignoreCase) {
    const sought = Buffer.from(pattern);
    return bytes =>
      bytes.length * sought.length > mostSteps ? undefined : from => bytes.indexOf(sought, from);
  }
  if (/[^\x20-\x7e\t]/.test(pattern)) return undefined;
  const source = [...pattern].map(inAnyCase).join("");
  return bytes => {
    if (bytes.length * pattern.length > mostSteps) return undefined;
    const regex = new RegExp(source, "g");
    const text = bytes.toString("latin1"); // a character for each byte
    return from => {
      regex.lastIndex = from;
      return regex.exec(text)?.index ?? -1;
    };
  };
}

/** By Unicode's rules, which give two letters of ASCII a third form: K has the Kelvin sign, S the long s. */
function inAnyCase(character: string): string {
  if (!/[a-z]/i.test(character)) return character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  const both = `[${character.toLowerCase()}${character.toUpperCase()}]`;
  if (/k/i.test(character)) return `(?:${both}|\\xe2\\x84\\xaa)`;
  return /s/i.test(character) ? `(?:${both}|\\xc5\\xbf)` : both;
}
