// The name of a declaration. Most grammars have a field for it; C's declarators and Go's receivers need a look.
import type { Node } from "web-tree-sitter";
import { declaredName } from "../declared-name.ts";
import type { Grammar } from "../language.ts";
import type { SymbolKind } from "./messages.ts";

export interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly kind?: SymbolKind;
}

/** Undefined if the node declares nothing that has a name. */
export function nameOf(node: Node, grammar: Grammar): Name | undefined {
  switch (grammar) {
    case "javascript":
    case "typescript":
    case "tsx":
      return scriptName(node);
    case "cpp":
      return cppName(node);
    case "python":
    case "ruby":
      return node.type === "assignment" || node.type === "type_alias_statement"
        ? assigned(node, grammar)
        : field(node);
    case "go":
      return goName(node);
    case "rust":
      return node.type === "impl_item" ? plain(node.childForFieldName("type")) : field(node);
    case "php":
      return field(node) ?? named(node.namedChildren[0] ?? null);
    case "powershell":
      return named(node.namedChildren.find(child => /_name$|^variable$/.test(child?.type ?? "")) ?? null);
    case "css":
      return heading(node);
    case "ini":
      return iniName(named(node.namedChildren[0] ?? null));
    default:
      return field(node);
  }
}

function named(node: Node | null): Name | undefined {
  if (node === null || node.isMissing || node.text === "") return undefined;
  return { text: node.text, start: node.startIndex, end: node.endIndex };
}

function field(node: Node): Name | undefined {
  return named(node.childForFieldName("name"));
}

/** A type without its arguments. */
function plain(node: Node | null): Name | undefined {
  const name = named(node);
  return name && { ...name, text: name.text.replace(/<[\s\S]*$/, "").replace(/^[&*\s]+/, "") };
}

const functions = /^(arrow_function|function_expression|generator_function|class)$/;

function scriptName(node: Node): Name | undefined {
  if (node.type === "variable_declarator") {
    const name = node.childForFieldName("name");
    if (name?.type !== "identifier") return undefined;
    const value = node.childForFieldName("value")?.type ?? "";
    const found = named(name);
    return found && functions.test(value)
      ? { ...found, kind: value === "class" ? "class" : "function" }
      : found;
  }
  if (node.type === "assignment_expression") {
    const left = node.childForFieldName("left");
    const right = node.childForFieldName("right");
    if (left?.type !== "member_expression" || !functions.test(right?.type ?? "")) return undefined;
    const written = left.text.replace(/\s+/g, "");
    // What a module exports as a whole is called by its own name.
    const own = written === "module.exports" && right !== null && field(right);
    if (own) return own;
    const text = declaredName(written);
    const last = left.childForFieldName("property") ?? left;
    return { text, start: last.startIndex, end: last.endIndex };
  }
  if (node.type === "pair") {
    const value = node.childForFieldName("value")?.type ?? "";
    if (!functions.test(value)) return undefined;
    const key = named(node.childForFieldName("key"));
    return key && { ...unquoted(key), kind: "method" };
  }
  if (node.type === "export_statement") return defaultName(node);
  const name = field(node) ?? named(node.childForFieldName("property"));
  return name && unquoted(name);
}

/** What is exported by default without a name of its own is called as its importers call it. */
function defaultName(node: Node): Name | undefined {
  const value = node.childForFieldName("value")?.type ?? "";
  const name = functions.test(value) && named(node.children.find(child => child?.type === "default") ?? null);
  return name ? { ...name, kind: value === "class" ? "class" : "function" } : undefined;
}

function unquoted(name: Name): Name {
  return { ...name, text: name.text.replace(/^["'](.*)["']$/s, "$1") };
}

function assigned(node: Node, grammar: Grammar): Name | undefined {
  const left = node.childForFieldName("left");
  const wanted = grammar === "ruby" ? "constant" : /^(identifier|type)$/;
  if (left === null || !(typeof wanted === "string" ? left.type === wanted : wanted.test(left.type)))
    return undefined;
  return named(left);
}

function goName(node: Node): Name | undefined {
  const name = field(node);
  const receiver = node.type === "method_declaration" ? node.childForFieldName("receiver") : null;
  const type = receiver && /([\w]+)(?:\[[^\]]*\])?\s*\)$/.exec(receiver.text)?.[1];
  return name && type ? { ...name, text: `${type}.${name.text}` } : name;
}

function cppName(node: Node): Name | undefined {
  if (/_specifier$/.test(node.type) && node.childForFieldName("body") === null) return undefined;
  const direct = node.childForFieldName("name");
  if (direct !== null) return plain(direct);
  let inner = node.childForFieldName("declarator");
  let isFunction = false;
  while (inner !== null) {
    if (inner.type === "function_declarator") isFunction = true;
    const next = inner.childForFieldName("declarator") ?? declaratorIn(inner);
    if (next === null) break;
    inner = next;
  }
  const name = named(inner);
  if (inner === null || name === undefined || !/identifier|_name$|operator/.test(inner.type))
    return undefined;
  const text = name.text.replace(/<[^<>]*>/g, "").replace(/\s*::\s*/g, ".");
  const value = node.type === "field_declaration" ? "field" : "variable";
  const kind = node.type === "declaration" || node.type === "field_declaration";
  return { ...name, text, ...(kind && !isFunction && { kind: value }) };
}

/** Some declarators have no field for what they are around. */
function declaratorIn(node: Node): Node | null {
  if (!/^(reference|parenthesized|attributed)_declarator$/.test(node.type)) return null;
  return node.namedChildren.find(child => /declarator|identifier/.test(child?.type ?? "")) ?? null;
}

function iniName(name: Name | undefined): Name | undefined {
  return name && { ...name, text: name.text.trim().replace(/^\[(.*)\]$/, "$1") };
}

function heading(node: Node): Name | undefined {
  const block = node.namedChildren.find(child => /block/.test(child?.type ?? ""));
  const text = node.text.slice(0, (block?.startIndex ?? node.endIndex) - node.startIndex).trim();
  return text === ""
    ? undefined
    : { text: text.replace(/\s+/g, " "), start: node.startIndex, end: node.startIndex + text.length };
}
