// What to colour in parts of a text: comments, strings, keywords and names in their roles, from the syntax tree.
import type { Node } from "web-tree-sitter";
import type { SyntaxKind, SyntaxSpan } from "./messages.ts";

const comment = /comment/;
const string = /string|char_literal|character_literal|heredoc|regex|^escape_sequence$|raw_text/;
const number = /number|integer|float|numeric/;
const constants = new Set([
  ...["true", "false", "null", "nil", "none", "None", "True", "False", "undefined"],
  ...["this", "self", "super", "null_literal", "boolean_literal", "boolean"],
]);
const types = /^(type_identifier|predefined_type|primitive_type|sized_type_specifier|void_type|type_name)$/;
const properties =
  /^(property_identifier|field_identifier|property_name|attribute_name|shorthand_property_identifier)$/;
const names = /identifier$|^name$|^word$|^constant$/;
const calls = /call|invocation|^command$|macro_invocation/;
const functions = /function|method|constructor|^(macro_definition|command_name)$/;

/** `parts` are offsets in pairs, in order. The spans do not overlap and are in order. */
export function spansIn(root: Node, parts: readonly number[]): SyntaxSpan[] {
  const spans: SyntaxSpan[] = [];
  const cursor = root.walk();
  let part = 0;
  try {
    for (let inside = true; inside; ) {
      const { startIndex: start, endIndex: end } = cursor;
      while (part < parts.length && (parts[part + 1] ?? 0) <= start) part += 2;
      if (part >= parts.length) break;
      const wanted = end > (parts[part] ?? 0);
      const kind = wanted ? kindOf(cursor.currentNode) : undefined;
      if (kind !== undefined && end > start) spans.push([start, end, kind]);
      if (wanted && kind === undefined && cursor.gotoFirstChild()) continue;
      while (inside && !cursor.gotoNextSibling()) inside = cursor.gotoParent();
    }
  } finally {
    cursor.delete();
  }
  return spans;
}

/** Undefined for what has no colour, or whose parts have their own. */
function kindOf(node: Node): SyntaxKind | undefined {
  const { type } = node;
  if (comment.test(type)) return "comment";
  if (!node.isNamed) return tokenKind(type);
  if (constants.has(type)) return "constant";
  if (string.test(type)) return holdsCode(node) ? undefined : "string";
  if (number.test(type) && node.childCount === 0) return "number";
  if (types.test(type)) return "type";
  if (!names.test(type) || node.childCount > 0) return undefined;
  if (isFunction(node)) return "function";
  return properties.test(type) ? "property" : undefined;
}

function tokenKind(type: string): SyntaxKind | undefined {
  if (constants.has(type)) return "constant";
  if (/^[a-z_]{2,}$/i.test(type)) return "keyword";
  if (/^["'`]+$/.test(type)) return "string";
  return /^[-+*/%=<>!&|^~?:@]+$/.test(type) && type !== ":" ? "operator" : undefined;
}

function holdsCode(node: Node): boolean {
  return node.namedChildren.some(
    child => child !== null && /substitution|interpolation|expansion/.test(child.type),
  );
}

function isFunction(node: Node): boolean {
  const { parent } = node;
  if (parent === null) return false;
  if (calls.test(parent.type)) return node.equals(parent.firstNamedChild ?? parent);
  if (functions.test(parent.type)) {
    const named = parent.childForFieldName("name");
    return named?.equals(node) ?? false;
  }
  // obj.method(): the last name of what is called.
  const above = parent.parent;
  if (above === null || !calls.test(above.type) || !/member|attribute|selector|field/.test(parent.type))
    return false;
  return parent.equals(above.firstNamedChild ?? above) && node.equals(parent.lastNamedChild ?? parent);
}
