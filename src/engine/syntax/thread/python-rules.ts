// What Python refuses and its grammar accepts, besides layout: `try` without a handler, a parameter without a default
// after one with a default, a positional argument after one with a name, prefixes that no string has, keywords as
// names, and a line break after a dot.
import type { Node } from "web-tree-sitter";
import { type EditedPart, nearTo, nodesOf } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

const most = 1000;
const handlers = ["except_clause", "except_group_clause", "finally_clause"];
const brackets =
  /^(parenthesized_expression|argument_list|list|tuple|dictionary|set|subscript|parameters|generator_expression|\w+_comprehension|interpolation)$/;

export function pythonErrors(root: Node, text: string, part?: EditedPart): ParseError[] {
  return [
    ...triesWithoutHandler(root, text, part),
    ...defaultsBeforeOthers(root, text, part),
    ...positionalsBehindNamed(root, text, part),
    ...wrongPrefixes(root, text, part),
    ...keywordsAsNames(root, text, part),
    ...brokenLines(root, text, part),
  ].slice(0, most);
}

function triesWithoutHandler(root: Node, text: string, part?: EditedPart): ParseError[] {
  const tries = /\btry\b/.test(text) ? nodesOf(root, "try_statement", part) : [];
  return tries.flatMap(node => {
    if (node.hasError) return [];
    const hasHandler = node.children.some(child => handlers.includes(child?.type ?? ""));
    return hasHandler ? [] : [{ start: node.startIndex, end: node.startIndex + 3, missing: "except" }];
  });
}

function defaultsBeforeOthers(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  const lists = text.includes("=") ? nodesOf(root, ["parameters", "lambda_parameters"], part) : [];
  for (const list of lists) {
    let hasDefault = false;
    for (const parameter of list.namedChildren) {
      if (parameter === null) continue;
      const { type, startIndex: start, endIndex: end } = parameter;
      // After a star, parameters are given by name, in any order.
      if (/splat|keyword_separator/.test(type) || /^\*/.test(text.slice(start, start + 1))) break;
      if (/default_parameter$/.test(type)) hasDefault = true;
      else if (hasDefault && (type === "identifier" || type === "typed_parameter"))
        found.push({ start, end });
    }
  }
  return found;
}

function positionalsBehindNamed(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  for (const list of text.includes("=") ? nodesOf(root, "argument_list", part) : []) {
    let hasNamed = false;
    for (const argument of list.namedChildren) {
      if (argument === null || argument.hasError || argument.type === "comment") continue;
      const { type, startIndex: start, endIndex: end } = argument;
      if (type === "keyword_argument" || type === "dictionary_splat") hasNamed = true;
      else if (hasNamed && type !== "list_splat") found.push({ start, end });
    }
  }
  return found;
}

function wrongPrefixes(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  const isNear = nearTo(part, text);
  for (const { 0: match, index: start } of text.matchAll(/(?<!\w)[A-Za-z]{2,}(?=["'])/g)) {
    if (!isNear(start) || /^(?:br|rb|fr|rf|tr|rt)$/i.test(match)) continue;
    const end = start + match.length;
    if (root.descendantForIndex(start, end)?.type === "string_start") found.push({ start, end });
  }
  return found;
}

function keywordsAsNames(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  const isNear = nearTo(part, text);
  for (const { 0: match, index: start } of text.matchAll(/\b(?:await|async)\b/g)) {
    if (!isNear(start)) continue;
    const end = start + match.length;
    if (root.descendantForIndex(start, end - 1)?.type === "identifier") found.push({ start, end });
  }
  return found;
}

/** Outside of brackets a statement goes on in the next line only after a backslash. */
function brokenLines(root: Node, text: string, part?: EditedPart): ParseError[] {
  const found: ParseError[] = [];
  const isNear = nearTo(part, text);
  for (const { index: start } of text.matchAll(/\.[ \t]*(?:#.*)?\r?\n/g)) {
    if (!isNear(start)) continue;
    const dot = root.descendantForIndex(start, start);
    if (dot?.type !== "." || dot.parent?.type !== "attribute") continue;
    let above: Node | null = dot.parent;
    while (above !== null && !brackets.test(above.type) && !/_statement$/.test(above.type))
      above = above.parent;
    if (above === null || !brackets.test(above.type)) found.push({ start, end: start + 1 });
  }
  return found;
}
