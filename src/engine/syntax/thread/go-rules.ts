// What Go refuses and its grammar accepts: anything but declarations at the top, a package clause that is missing or not
// the first, import paths and escapes that there are not, and parameter lists of two kinds.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;
const declarations =
  /^(package_clause|import_declaration|function_declaration|method_declaration|const_declaration|type_declaration|var_declaration|comment|ERROR)$/;
const escapes = /\\(?:[abfnrtv\\"]|[0-7]{3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})/g;

export function goErrors(root: Node, part?: EditedPart): ParseError[] {
  return [
    ...outOfPlace(root),
    ...wrongStrings(root, part),
    ...wrongParameters(root, part),
    ...constantsWithoutValue(root, part),
  ].slice(0, most);
}

function outOfPlace(root: Node): ParseError[] {
  const found: ParseError[] = [];
  let hasPackage = false;
  for (const child of root.namedChildren) {
    if (child === null || child.type === "comment") continue;
    const isPackage = child.type === "package_clause";
    if (!declarations.test(child.type) || isPackage === hasPackage) found.push(place(child));
    if (isPackage === hasPackage && !isPackage) return found;
    hasPackage ||= isPackage;
  }
  return found;
}

function wrongStrings(root: Node, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const node of nodesOf(root, "interpreted_string_literal", part)) {
    const isImport = node.parent?.type === "import_spec";
    const { text } = node;
    if (text.replace(escapes, "").includes("\\") || (isImport && !isImportPath(text.slice(1, -1))))
      found.push(place(node));
  }
  return found;
}

function isImportPath(path: string): boolean {
  return path !== "" && !/[!"#$%&'()*,:;<=>?[\\\]^`{|}\s\ufffd]/.test(path);
}

/** Either all parameters have names, or none has; a method has one receiver. */
function wrongParameters(root: Node, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const list of nodesOf(root, "parameter_list", part)) {
    if (list.hasError) continue;
    const all = list.namedChildren.filter(child => child?.type.endsWith("parameter_declaration"));
    const named = all.filter(child => child?.childForFieldName("name") != null);
    const isReceiver =
      list.parent?.type === "method_declaration" && list.parent.childForFieldName("receiver")?.id === list.id;
    if ((named.length > 0 && named.length < all.length) || (isReceiver && all.length !== 1))
      found.push(place(list));
  }
  return found;
}

/** The first constant of a list needs a value, and so does one with a type. */
function constantsWithoutValue(root: Node, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const list of nodesOf(root, "const_declaration", part)) {
    const specs = list.namedChildren.filter(child => child?.type === "const_spec");
    for (const [i, spec] of specs.entries()) {
      if (spec == null || spec.hasError || spec.childForFieldName("value") !== null) continue;
      if (i === 0 || spec.childForFieldName("type") !== null) found.push(place(spec));
    }
  }
  return found;
}

function place({ startIndex: start, endIndex: end }: Node): ParseError {
  return { start, end };
}
