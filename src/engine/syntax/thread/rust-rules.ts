// What Rust refuses and its grammar accepts: statements among items, parameters without a type, `self` that is not the
// first one, a macro call in parentheses without a semicolon before another statement, a second `else`, and brackets
// where a macro's repetition has its separator.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";
import { attributeErrors } from "./rust-attributes.ts";

const most = 1000;
const parameter = /^((self_|variadic_)?parameter|attribute_item|line_comment|block_comment)$/;

export function rustErrors(root: Node, part?: EditedPart): ParseError[] {
  return [
    ...strayStatements(root, part),
    ...wrongParameters(root, part),
    ...openCalls(root, part),
    ...wrongSeparators(root, part),
    ...secondElses(root, part),
    ...attributeErrors(root, part),
  ].slice(0, most);
}

function strayStatements(root: Node, part?: EditedPart): ParseError[] {
  return [root, ...nodesOf(root, "declaration_list", part)].flatMap(list =>
    list.namedChildren.flatMap(child => {
      if (child === null || child.hasError) return [];
      const isStray =
        child.type === "let_declaration" ||
        (child.type === "empty_statement" && child.previousNamedSibling?.type !== "macro_invocation") ||
        (child.type === "expression_statement" && child.firstNamedChild?.type !== "macro_invocation");
      return isStray ? [place(child)] : [];
    }),
  );
}

function wrongParameters(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, "parameters", part).flatMap(list => {
    if (list.hasError || !/^function_(item|signature_item)$/.test(list.parent?.type ?? "")) return [];
    let isFirst = true;
    return list.namedChildren.flatMap(child => {
      if (child === null || /comment|attribute/.test(child.type)) return [];
      const isWrong = !parameter.test(child.type) || (child.type === "self_parameter" && !isFirst);
      isFirst = false;
      return isWrong ? [place(child)] : [];
    });
  });
}

function openCalls(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, "macro_invocation", part).flatMap(call => {
    if (call.hasError || call.parent?.type !== "block" || call.lastChild?.lastChild?.type === "}") return [];
    const next = call.nextNamedSibling;
    return next === null || /comment/.test(next.type)
      ? []
      : [{ start: call.endIndex, end: call.endIndex, missing: ";" }];
  });
}

/** `let x = if a { b } else { c } else { d };`: the grammar takes the second `else` as that of the `let`. */
function secondElses(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, "let_declaration", part).flatMap(declaration => {
    const otherwise = declaration.childForFieldName("alternative");
    const isBlock = /(^|_)(if|match|block|loop)_?/.test(declaration.childForFieldName("value")?.type ?? "");
    return otherwise !== null && isBlock ? [place(otherwise)] : [];
  });
}

/** `$(…)),*`: the grammar takes the second parenthesis as a part of the separator. */
function wrongSeparators(root: Node, part?: EditedPart): ParseError[] {
  return nodesOf(root, ["token_repetition", "token_repetition_pattern"], part).flatMap(repetition => {
    const closing = repetition.children.findLast(child => child?.type === ")");
    if (closing == null) return [];
    const separator = repetition.text.slice(closing.endIndex - repetition.startIndex);
    return /[()[\]{}]/.test(separator) ? [{ start: closing.endIndex, end: repetition.endIndex }] : [];
  });
}

function place({ startIndex: start, endIndex: end }: Node): ParseError {
  return { start, end };
}
