// Whether the parser could not read what is around a node: nothing about it is certain then.
import type { Node } from "web-tree-sitter";

export function isInError(node: Node): boolean {
  for (let above: Node | null = node; above !== null; above = above.parent)
    if (above.type === "ERROR") return true;
  return false;
}
