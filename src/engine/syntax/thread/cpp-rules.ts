// What C++ refuses and its grammar accepts: statements outside of functions, and references to references. Only for texts
// that parse: around errors, the grammar takes the inside of functions for the outside.
import type { Node } from "web-tree-sitter";
import { append } from "../../append.ts";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const scope = /^(translation_unit|namespace_definition|declaration_list|linkage_specification|preproc_\w+)$/;
const statement =
  /^(compound|if|for|for_range|while|do|switch|return|break|continue|goto|throw|try)_statement$/;
/** A macro may stand for the head of a function; after one of these there is none. */
const declaration =
  /^(function_definition|declaration|(class|struct|union|enum)_specifier|(template|using|alias|static_assert)_declaration|type_definition|namespace_definition)$/;
const reference = /^(abstract_)?reference_declarator$/;

export function cppErrors(root: Node, part?: EditedPart): ParseError[] {
  return [...outsideFunctions(root), ...doubleReferences(root, part)];
}

function outsideFunctions(node: Node): ParseError[] {
  const found: ParseError[] = [];
  let before: Node | null = null;
  for (const child of node.namedChildren) {
    if (child === null || child.type === "comment") continue;
    if (scope.test(child.type)) append(found, outsideFunctions(child));
    else if (statement.test(child.type) && before !== null && declaration.test(before.type))
      found.push(place(child));
    before = child;
  }
  return found;
}

function doubleReferences(root: Node, part?: EditedPart): ParseError[] {
  const nodes = ["reference_declarator", "abstract_reference_declarator"].flatMap(type => [
    ...nodesOf(root, type, part),
  ]);
  return nodes.filter(({ parent }) => reference.test(parent?.type ?? "")).map(place);
}

function place({ startIndex: start, endIndex: end }: Node): ParseError {
  return { start, end };
}
