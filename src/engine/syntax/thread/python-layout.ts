// What Python refuses and its grammar lets pass: blocks without a statement, and statements of one block that do not
// begin in one column.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;

export function layoutErrors(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const block of [root, ...nodesOf(root, "block", part)]) {
    if (found.length >= most) continue;
    const statements = block.namedChildren.filter(child => child !== null && child.type !== "comment");
    const [first] = statements;
    if (first == null) {
      if (block.type === "block")
        found.push({ start: block.startIndex, end: block.endIndex, missing: "block" });
      continue;
    }
    const wanted = block.type === "block" ? indentOf(text, first.startIndex) : "";
    for (const statement of statements) {
      if (statement == null || statement.type === "ERROR") continue;
      const indent = indentOf(text, statement.startIndex);
      if (indent === undefined || wanted === undefined || /\t/.test(indent + wanted)) continue;
      if (indent !== wanted) found.push({ start: statement.startIndex, end: statement.startIndex });
    }
  }
  return found;
}

/** The blanks before it on its line; undefined if there is anything else. */
function indentOf(text: string, at: number): string | undefined {
  const before = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return before.trim() === "" ? before.replace(/^\f+/, "") : undefined;
}
