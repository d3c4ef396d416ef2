// What JavaScript refuses and its grammars let pass: commas with nothing in front of them in lists that have no
// holes, and `try` without `catch` or `finally`.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;
const lists = /^(arguments|object|object_pattern|formal_parameters|named_imports|export_clause|enum_body)$/;

export function scriptErrors(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const { 0: match, index } of text.matchAll(/[({,]\s*(?=,)/g)) {
    const start = index + match.length;
    if (found.length >= most) break;
    const comma = root.descendantForIndex(start, start);
    if (comma?.type === "," && lists.test(comma.parent?.type ?? "")) found.push({ start, end: start + 1 });
  }
  for (const node of /\btry\b/.test(text) ? nodesOf(root, "try_statement", part) : []) {
    if (found.length >= most) continue;
    const isWhole = node.childForFieldName("handler") ?? node.childForFieldName("finalizer");
    if (isWhole === null) found.push({ start: node.endIndex, end: node.endIndex, missing: "catch" });
  }
  return found;
}
