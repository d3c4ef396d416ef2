// Where a name occurs as an identifier, and what it refers to: a variable of a scope, a member, or a symbol of
// another module. JavaScript, TypeScript and Python are resolved by scope, Rust by its modules. In other languages only
// the form counts, with exceptions for the shell and for Ruby's classes.
import type { Node } from "web-tree-sitter";
import type { Grammar } from "../language.ts";
import type { NameUse } from "./messages.ts";
import { kindAt } from "./node-kind.ts";
import { importedWords } from "./python-imports.ts";
import { isListed, PythonScopes } from "./python-scopes.ts";
import { rustUses } from "./rust-modules.ts";
import { ScriptScopes } from "./script-scopes.ts";
import { shellUses } from "./shell-names.ts";

const most = 20_000;
const scripts: ReadonlySet<Grammar> = new Set(["javascript", "typescript", "tsx"]);

export function usesOf(root: Node, text: string, grammar: Grammar, name: string): NameUse[] {
  const nodes = identifiers(root, text, name, grammar);
  if (grammar === "python") return pythonUses(root, text, name);
  if (grammar === "rust") return rustUses(nodes, byForm);
  if (grammar === "bash") return shellUses(nodes, byForm);
  if (grammar === "ruby") return nodes.map(rubyUse);
  return scripts.has(grammar) ? new ScriptScopes(nodes).uses() : nodes.map(byForm);
}

/** In a class of Ruby, the name may be that of a method which the class inherits or includes. */
function rubyUse(node: Node): NameUse {
  const use = byForm(node);
  if (use.role !== "variable" || use.binds) return use;
  for (let { parent } = node; parent !== null; { parent } = parent)
    if (/^(class|module|singleton_class)$/.test(parent.type)) return { ...use, role: "unclear" };
  return use;
}

function pythonUses(root: Node, text: string, name: string): NameUse[] {
  const scopesOf = (wanted: string) =>
    new PythonScopes(root, identifiers(root, text, wanted, "python"), byForm);
  const imported = importedWords(root);
  const known = new Map<string, PythonScopes>();
  return scopesOf(name).uses(object => {
    if (!imported.has(object)) return undefined;
    const scopes = known.get(object) ?? scopesOf(object);
    known.set(object, scopes);
    return scopes;
  });
}

function identifiers(root: Node, text: string, name: string, grammar: Grammar): Node[] {
  const found: Node[] = [];
  const word = grammar === "bash" ? /[\p{L}\p{N}_]/u : /[\p{L}\p{N}_$]/u; // `$name` of a shell is a use of `name`
  for (
    let at = text.indexOf(name);
    at >= 0 && found.length < most;
    at = text.indexOf(name, at + name.length)
  ) {
    if (word.test(text[at - 1] ?? "") || word.test(text[at + name.length] ?? "")) continue;
    const node = root.descendantForIndex(at, at + name.length - 1);
    if (node === null) continue;
    const isName = kindAt(root, at, name.length) === "identifier";
    if (isName || isKey(node, name) || isShortKey(node) || isQuotedName(node, name)) found.push(node);
  }
  return found;
}

const keyed =
  /^(subscript_expression|literal_type|pair|property_signature|public_field_definition|method_definition|method_signature|field_definition)$/;

/** `x["name"]`, `T["name"]` and `{ "name": … }` of scripts: the name of a member, written as a string. */
function isKey({ type, text, parent }: Node, name: string): boolean {
  return type === "string_fragment" && text === name && keyed.test(parent?.parent?.type ?? "");
}

/** `__all__ = ["name"]` and `x: "name"` of Python. */
function isQuotedName(node: Node, name: string): boolean {
  if (node.type !== "string_content" || node.text !== name || node.tree.language.name !== "python")
    return false;
  return node.parent?.parent?.type === "type" || isListed(node);
}

/** `{name:}` of Ruby stands for `{name: name}`: in a pattern it binds the name, elsewhere it uses it. */
function isShortKey({ id, type, parent }: Node): boolean {
  return type === "hash_key_symbol" && parent?.lastNamedChild?.id === id;
}

const memberOf = /attribute|field|member|selector|scoped|qualified|navigation|call$/;
const binding =
  /parameter|declarator|pattern|_spec$|assignment|let_|^for(_|$)|in_clause|import|alias|named_expression|keyword_argument|lambda|with_item|except|catch|enum/;

/** Fields of a node that binds a name, in which a name is used: a default value, a type, the right side. */
const usedFields = ["value", "type", "right", "return_type", "default_value", "object", "superclass"];
/** Nodes whose `name` is that of something declared elsewhere: `x.name()` of Java, `x->name` of PHP, `x.name` of C#. */
const naming = /invocation|call|access|^base_clause$/;

function isUsed({ id }: Node, parent: Node): boolean {
  // `except Name` and `Name as x` of Python bind nothing but x, which has a node of its own unless it is in a `case`.
  if (parent.type === "as_pattern")
    return parent.lastNamedChild?.id !== id || parent.parent?.type !== "case_pattern";
  if (/^except_(group_)?clause$/.test(parent.type)) return true;
  if (parent.type === "keyword_pattern") return false; // the value is a pattern itself
  return usedFields.some(field => parent.childForFieldName(field)?.id === id);
}

/** Lists of names, which bind their members where a single name would be bound. */
const list = /^(expression_list|tuple|list|dotted_name)$/;

/** `a, name := …` of Go; `with … as (a, name)` and `case name` of Python. */
function isBoundInList(node: Node): boolean {
  let held = node;
  while (held.parent !== null && list.test(held.parent.type)) held = held.parent;
  const { parent } = held;
  if (held === node || parent === null) return false;
  if (held.type !== "expression_list") return /pattern/.test(parent.type) && parent.type !== "class_pattern";
  const isLeft = ["left", "alias"].some(field => parent.childForFieldName(field)?.id === held.id);
  return isLeft && parent.children.some(child => child?.type === ":=");
}

/** The name of a constructor is a use of the name of its class. */
function isConstructor({ text }: Node, parent: Node): boolean {
  if (!/^(compact_)?constructor_declaration$/.test(parent.type)) return false;
  const holder = parent.parent?.parent;
  return holder?.childForFieldName("name")?.text === text;
}

const initializer = /^(shorthand_)?field_(initializer|pattern|designator)$/;

/**
 * `T{name: 1}` of Go, `T { name: 1 }` and `T { name }` of Rust, `{.name = 1}` of C: the name of a field, or in Go a
 * variable as the key of a map, and in the short form both.
 */
function isFieldKey(node: Node): boolean {
  const { parent } = node;
  if (parent === null) return false;
  if (/^shorthand_field/.test(node.type)) return true;
  if (initializer.test(parent.type)) return parent.childForFieldName("value")?.id !== node.id;
  const element = parent.parent;
  return element?.type === "keyed_element" && element.firstNamedChild?.id === parent.id;
}

/** Without scopes: any binding may shadow the symbol. */
function byForm(node: Node): NameUse {
  const start = node.startIndex;
  const { parent } = node;
  if (parent === null) return { start, role: "variable", binds: false };
  // What the tokens of a Rust macro mean is up to the macro.
  if (/^token_(tree|repetition)/.test(parent.type)) return { start, role: "unclear", binds: false };
  const isType = parent.childForFieldName("type")?.id === node.id; // of a field: `pub name: Type`
  if (memberOf.test(parent.type) && parent.startIndex < start && !isType)
    return { start, role: "member", binds: false };
  if (parent.type === "dotted_name" && parent.startIndex < start && !/import/.test(parent.parent?.type ?? ""))
    return { start, role: "member", binds: false };
  if (isShortKey(node)) return { start, role: "unclear", binds: parent.type === "keyword_pattern" };
  if (isFieldKey(node)) return { start, role: "unclear", binds: false };
  const isName = parent.childForFieldName("name")?.id === node.id;
  if (isName && naming.test(parent.type)) {
    const isOfObject = parent.startIndex < start; // `name()` alone may be a method of the class around it
    return { start, role: isOfObject ? "member" : "variable", binds: false };
  }
  if (isName && isConstructor(node, parent)) return { start, role: "variable", binds: false };
  // A method of Go stands at the top of its file, where a function may have the same name.
  if (isName && parent.type === "method_declaration" && parent.childForFieldName("receiver") !== null)
    return { start, role: "member", binds: true };
  if (/import/.test(parent.type) || /import/.test(parent.parent?.type ?? ""))
    return { start, role: "outside", binds: false };
  const isBound = (binding.test(parent.type) && !isUsed(node, parent)) || isBoundInList(node);
  const binds = isName || isBound;
  const top = parent.parent?.parent == null || parent.parent.parent.parent == null;
  return { start, role: "variable", binds, top: isName && top };
}
