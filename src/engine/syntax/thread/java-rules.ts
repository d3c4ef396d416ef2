// What Java refuses and its grammar accepts: expressions that are not statements, statements outside of classes, a
// package declaration that is not the first or the only one, keywords as names, methods without a result, and strings
// over several lines.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nearTo, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;
const keywords =
  /\b(?:assert|break|case|catch|class|continue|do|else|enum|extends|finally|for|if|implements|import|instanceof|new|package|return|switch|throws?|try|while)\b/g;
const statements =
  /^(assignment_expression|update_expression|method_invocation|object_creation_expression|switch_expression)$/;

export function javaErrors(root: Node, text: string, part?: EditedPart): ParseError[] {
  return [
    ...idleExpressions(root, part),
    ...wrongNodes(root, part),
    ...outOfPlace(root),
    ...keywordsAsNames(root, text, part),
  ].slice(0, most);
}

function idleExpressions(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, "expression_statement", part).flatMap(node => {
    const expression = node.firstNamedChild;
    if (expression === null || node.hasError || statements.test(expression.type)) return [];
    if (node.parent?.type === "switch_rule") return []; // `case A -> "a";` is a value
    return [{ start: node.startIndex, end: node.endIndex }];
  });
}

/** What looks like a constructor has the name of its class. */
function wrongNodes(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, ["constructor_declaration", "string_literal"], part).flatMap(node => {
    const name = node.childForFieldName("name");
    const { startIndex: start } = node;
    if (name === null) {
      const isOpen = node.startPosition.row < node.endPosition.row && !node.text.startsWith('"""');
      return isOpen ? [{ start, end: node.endIndex }] : [];
    }
    const holder = around(node)?.childForFieldName("name");
    const isOther = holder != null && holder.text !== name.text && !node.hasError;
    return isOther ? [{ start: name.startIndex, end: name.endIndex }] : [];
  });
}

function around(node: Node): Node | undefined {
  for (let above = node.parent; above !== null; above = above.parent)
    if (/_declaration$|^object_creation_expression$/.test(above.type)) return above;
  return undefined;
}

/** An `else` without its `if` would be a type. */
function keywordsAsNames(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  const isNear = nearTo(part, text);
  for (const { 0: match, index: start } of text.matchAll(keywords)) {
    const end = start + match.length;
    if (isNear(start) && /^(type_)?identifier$/.test(root.descendantForIndex(start, end - 1)?.type ?? ""))
      found.push({ start, end });
  }
  return found;
}

function outOfPlace(root: Node): ParseError[] {
  let isFirst = true;
  return root.children.flatMap(child => {
    if (child === null || /comment/.test(child.type)) return [];
    const { type, startIndex: start, endIndex: end, hasError } = child;
    const isWrong = type === "package_declaration" ? !isFirst : /_statement$|^block$/.test(type);
    isFirst = false;
    return isWrong && !hasError ? [{ start, end }] : [];
  });
}
