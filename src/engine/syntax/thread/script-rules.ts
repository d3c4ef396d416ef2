// What JavaScript and TypeScript refuse and their grammars accept: commas with nothing before them in lists that have
// no holes, `try` without `catch` or `finally`, functions without a name as statements, assignments to expressions that
// cannot be assigned to, tags of JSX that do not match, and `||` between types.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;
const lists =
  /^(arguments|object|object_pattern|formal_parameters|named_imports|export_clause|enum_body|object_type|interface_body)$/;
const checked = ["try_statement", "expression_statement", "binary_expression", "jsx_element"];
const unnamed = /^(function_expression|generator_function|class)$/;

export function scriptErrors(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const { 0: match, index } of text.matchAll(/[({,]\s*(?=,)/g)) {
    const start = index + match.length;
    if (found.length >= most) break;
    const comma = root.descendantForIndex(start, start);
    if (comma?.type === "," && lists.test(comma.parent?.type ?? "")) found.push({ start, end: start + 1 });
  }
  return [...found, ...doubledSigns(root, text), ...wrongNodes(root, text, part)].slice(0, most);
}

/** `A || B` as types: the grammar reads two signs. */
function doubledSigns(root: Node, text: string): ParseError[] {
  const found: ParseError[] = [];
  for (const { index: start } of text.matchAll(/\|\||&&/g)) {
    const sign = root.descendantForIndex(start, start);
    if (sign !== null && /^[|&]$/.test(sign.type)) found.push({ start, end: start + 2 });
  }
  return found;
}

function wrongNodes(root: Node, text: string, part?: EditedPart): ParseError[] {
  const types = checked.filter(type => mayHave(type, text));
  return nodesOf(root, types, part).flatMap(node => (node.hasError ? [] : (wrongNode(node) ?? [])));
}

function wrongNode(node: Node): ParseError | undefined {
  switch (node.type) {
    case "try_statement": {
      const isWhole = node.childForFieldName("handler") ?? node.childForFieldName("finalizer");
      return isWhole === null ? { start: node.endIndex, end: node.endIndex, missing: "catch" } : undefined;
    }
    case "expression_statement": {
      const first = node.firstNamedChild;
      const isUnnamed =
        first !== null && unnamed.test(first.type) && first.childForFieldName("name") === null;
      return isUnnamed ? { start: node.startIndex, end: first.endIndex, missing: "name" } : undefined;
    }
    case "binary_expression": {
      const right = node.childForFieldName("right");
      const isAssigned = /^(augmented_)?assignment_expression$/.test(right?.type ?? "");
      return isAssigned && right !== null ? { start: right.startIndex, end: right.endIndex } : undefined;
    }
    default: {
      const close = node.childForFieldName("close_tag");
      const name = (tag: Node | null) => tag?.childForFieldName("name")?.text ?? "";
      return close !== null && name(node.childForFieldName("open_tag")) !== name(close)
        ? { start: close.startIndex, end: close.endIndex }
        : undefined;
    }
  }
}

/** Looking through all nodes costs more than looking through the text. */
function mayHave(type: string, text: string): boolean {
  if (type === "try_statement") return /\btry\b/.test(text);
  if (type === "jsx_element") return text.includes("</");
  if (type === "expression_statement") return /\bfunction\s*\*?\s*\(|\bclass\s*\{/.test(text);
  return true;
}
