// How a query is looked for in the bytes of a file by ourselves: plain text always, and expressions as far as they
// mean the same to JavaScript (regex/alike.ts). Of a file in which they may not, the texts that the expression
// demands can still tell that there is no match; otherwise ripgrep has to look.
import { isAscii } from "node:buffer";
import { type Alike, alike } from "../regex/alike.ts";
import { type Need, needOfExpression } from "../regex/required.ts";
import type { Finder } from "./lines-with.ts";
import { literalFinder } from "./literal.ts";
import type { Query } from "./ripgrep.ts";

/** The most steps that one file may take, by the worst of expressions. */
const mostSteps = 2e7;
/** So many characters of an expression count as one step: mostly the first ones decide. */
const atOnce = 8;

/** Undefined where it is ripgrep's business in every file. */
export function finderOf(query: Query): Finder | undefined {
  const { pattern, literal, ignoreCase = false, wholeWord, multiline } = query;
  if (literal) return literalFinder(query);
  const same = wholeWord || multiline ? undefined : alike(pattern, ignoreCase);
  return same && expressionFinder(same, needOfExpression(pattern, ignoreCase));
}

function expressionFinder(same: Alike, need: Need | undefined): Finder {
  const { source, ignoreCase, delicate, ways, open, length } = same;
  const flags = ignoreCase ? "gmi" : "gm";
  const isTooMuch = (bytes: Buffer): boolean => {
    const each = mostSteps / (bytes.length + 1) / ways / Math.max(1, length / atOnce);
    return each < 1 || (open > 0 && hasLongerLine(bytes, each ** (1 / open)));
  };
  return bytes => {
    const isPlain = isAscii(bytes);
    const text = bytes.toString("latin1"); // a character for each byte
    const isUnsure = delicate && (!isPlain || bytes.includes(13));
    if (isUnsure || isTooMuch(bytes)) {
      const isUnusual = ignoreCase && !isPlain && /\xe2\x84\xaa|\xc5\xbf/.test(text);
      return need === undefined || isUnusual || holds(need, folded(text)) ? undefined : () => -1;
    }
    const regex = new RegExp(source, flags);
    return from => {
      regex.lastIndex = from;
      return regex.exec(text)?.index ?? -1;
    };
  };
}

function hasLongerLine(bytes: Buffer, length: number): boolean {
  for (let start = 0; bytes.length - start > length; ) {
    const end = bytes.indexOf(10, start);
    if (end < 0 || end - start > length) return true;
    start = end + 1;
  }
  return false;
}

function holds({ texts, any }: Need, text: string): boolean {
  return texts.every(one => text.includes(one)) && any.every(some => some.some(need => holds(need, text)));
}

function folded(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase());
}
