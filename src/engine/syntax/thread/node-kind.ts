// What kind of text a leaf of the syntax tree is: a name, a part of a string, a comment, or anything else.
import type { Node } from "web-tree-sitter";
import type { NodeKind } from "./messages.ts";

const comment = /comment/;
const string = /string|char|heredoc|template_chars|raw_text|jsx_text|escape|regex|^text$|^value$|plain_value/;
const name =
  /identifier|^name$|_name$|^constant$|^word$|^self$|instance_variable|global_variable|class_variable|^variable$/;

export function kindAt(root: Node, offset: number, length = 1): NodeKind {
  const node = root.descendantForIndex(offset, offset + Math.max(length, 1) - 1);
  return node === null ? "other" : kindOf(node);
}

function kindOf(node: Node): NodeKind {
  const { type } = node;
  if (comment.test(type)) return "comment";
  if (node.isNamed && name.test(type) && node.namedChildCount === 0) return "identifier";
  for (let above: Node | null = node, steps = 0; above !== null && steps < 3; above = above.parent, steps++) {
    if (comment.test(above.type)) return "comment";
    if (/substitution|interpolation/.test(above.type)) return "other";
    if (string.test(above.type)) return "string";
  }
  return "other";
}
