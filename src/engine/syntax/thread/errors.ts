// The places that the parser could not read. It continues after each of them, so there may be many.
import type { Node } from "web-tree-sitter";
import type { ParseError } from "./messages.ts";

const most = 1000;
const unreadable = "ERROR";

/** Rust takes `Vec<>` and `impl<>`; its grammar wants a type there. */
function isOptional(node: Node): boolean {
  if (node.type !== "type_identifier" || node.tree.language.name !== "rust") return false;
  const item = node.parent?.type === "type_parameter" ? node.parent : node;
  return (
    /^type_(argument|parameter)s$/.test(item.parent?.type ?? "") &&
    item.previousSibling?.type === "<" &&
    item.nextSibling?.type === ">"
  );
}

export function errorsIn(root: Node): ParseError[] {
  const found: ParseError[] = [];
  const waiting: Node[] = root.hasError ? [root] : [];
  for (let node = waiting.pop(); node !== undefined && found.length < most; node = waiting.pop()) {
    const { startIndex: start, endIndex: end } = node;
    if (node.isMissing && isOptional(node)) continue;
    if (node.isMissing) found.push({ start, end, missing: node.type });
    else if (node.type === unreadable) found.push({ start, end });
    if (node.hasError)
      for (const child of node.children.toReversed()) {
        if (child !== null && (child.hasError || child.isMissing || child.type === unreadable))
          waiting.push(child);
      }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}
