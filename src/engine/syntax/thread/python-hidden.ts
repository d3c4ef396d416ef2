// Definitions that the parser did not see in Python that does not parse: after an opened bracket it takes the next
// definition for a part of the expression.
import type { Node } from "web-tree-sitter";
import { lineStart } from "./line-start.ts";
import type { RawDeclaration } from "./messages.ts";
import { kindAt } from "./node-kind.ts";
import { firstLine } from "./python-blocks.ts";

const definition = /^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)[ \t]*[([:]/gm;
const belongsAbove = /^[ \t]*[@#]/;

/**
 * `found`, plus a definition for each `def` or `class` line that it lacks; indentation decides where each ends. A
 * variable found on such a line is dropped: the parser may read `class Name:` and its docstring as `Name: "..."`.
 */
export function withHidden(found: readonly RawDeclaration[], root: Node, text: string): RawDeclaration[] {
  const seen = new Set(found.flatMap(({ kind, nameStart }) => (kind === "variable" ? [] : [nameStart])));
  const hidden: RawDeclaration[] = [];
  for (const match of text.matchAll(definition)) {
    const [line, blanks = "", keyword, name = ""] = match;
    const bare = match.index + blanks.length;
    const nameStart = match.index + line.lastIndexOf(name, line.length - 1);
    if (seen.has(nameStart) || !/other|identifier/.test(kindAt(root, bare))) continue;
    const { top, start } = above(text, match.index, bare);
    const kind = keyword === "class" ? "class" : "function";
    const nameEnd = nameStart + name.length;
    const head = firstLine(text, bare);
    hidden.push({ kind, name, parent: -1, top, start, bare, end: nameEnd, nameStart, nameEnd, head });
  }
  const names = new Set(hidden.map(({ nameStart }) => nameStart));
  return [...found.filter(({ nameStart }) => !names.has(nameStart)), ...hidden];
}

/** Where the comments and decorators above a line begin, and where the decorators do. */
function above(text: string, line: number, bare: number): { readonly top: number; readonly start: number } {
  let [top, start] = [bare, bare];
  for (let at = line; at > 0; ) {
    at = lineStart(text, at - 1);
    const written = text.slice(at, text.indexOf("\n", at));
    if (!belongsAbove.test(written)) break;
    top = at + written.search(/\S/);
    if (written.trim().startsWith("@")) start = top;
  }
  return { top, start };
}
