// The scopes of JavaScript and TypeScript, as far as one name is concerned.
import type { Node } from "web-tree-sitter";
import { ClassMembers } from "./class-members.ts";
import { isInError } from "./in-error.ts";
import type { NameUse } from "./messages.ts";

interface Binding {
  readonly node: Node;
  readonly scope: Node;
  readonly space: "type" | "value" | "both";
  readonly from?: string | undefined;
  readonly unclear?: boolean;
}

const patterns =
  /^(object_pattern|array_pattern|pair_pattern|assignment_pattern|object_assignment_pattern|rest_pattern)$/;
const named =
  /^(function_declaration|generator_function_declaration|function_signature|class_declaration|abstract_class_declaration|interface_declaration|type_alias_declaration|enum_declaration|internal_module|module)$/;
const ownScope = /^(function_expression|generator_function|class)$/;
const blocks = /^(program|statement_block|switch_body|for_statement|for_in_statement|class_static_block)$/;
const functions =
  /^(program|function_declaration|generator_function_declaration|function_expression|generator_function|arrow_function|method_definition|class_static_block)$/;

export class ScriptScopes {
  readonly #nodes: readonly Node[];
  /** Bindings by the id of their scope. */
  readonly #scopes = new Map<number, Binding[]>();
  readonly #bindings = new Map<number, Binding>();

  readonly #members: ClassMembers;

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes;
    this.#members = new ClassMembers(nodes);
    for (const node of nodes) {
      const binding = bindingOf(node);
      if (binding === undefined) continue;
      this.#bindings.set(node.id, binding);
      const others = this.#scopes.get(binding.scope.id) ?? [];
      this.#scopes.set(binding.scope.id, [...others, binding]);
    }
  }

  uses(): NameUse[] {
    return this.#nodes.map(node => this.#use(node));
  }

  #use(node: Node): NameUse {
    const start = node.startIndex;
    if (isInError(node)) return { start, role: "unclear", binds: false };
    if (node.type === "string_fragment") return { start, role: "member", binds: false };
    if (/property_identifier$/.test(node.type) && !/^shorthand/.test(node.type))
      return this.#members.use(node);
    if (node.type === "statement_identifier") return { start, role: "unclear", binds: false };
    const outside = outsideName(node);
    if (outside !== undefined) return outside;
    const shorthand = /^shorthand/.test(node.type);
    const own = this.#bindings.get(node.id);
    const scope = own?.scope ?? this.#scopeOf(node);
    if (scope === undefined) return { start, role: "unclear", binds: false };
    const group = this.#scopes.get(scope.id) ?? [];
    const spaces = new Set(group.map(({ space }) => space));
    const mixed = spaces.has("type") && spaces.has("value");
    if (mixed || group.some(({ unclear }) => unclear)) {
      return { start, role: "unclear", binds: own !== undefined };
    }
    const from = group.find(one => one.from !== undefined)?.from;
    return {
      start,
      role: "variable",
      binds: own !== undefined,
      scope: scope.id,
      top: scope.type === "program",
      ...(from !== undefined && { from }),
      ...(shorthand && { shorthand }),
    };
  }

  /** The innermost scope around a reference that binds the name, as a type or as a value. */
  #scopeOf(node: Node): Node | undefined {
    const other = otherSpace(node);
    for (let above = node.parent; above !== null; above = above.parent) {
      if (this.#scopes.get(above.id)?.some(({ space }) => space !== other)) return above;
    }
    return undefined;
  }
}

/** What a reference cannot mean: a value where a type is written, or the other way around. */
function otherSpace({ type, parent }: Node): Binding["space"] | undefined {
  if (type === "type_identifier") return "value";
  return /^(export_specifier|export_statement|nested_type_identifier|nested_identifier|import_alias)$/.test(
    parent?.type ?? "",
  )
    ? undefined
    : "type";
}

/** `name` in `import { name as other } from …` and `export { name } from …`. */
function outsideName(node: Node): NameUse | undefined {
  const { parent, startIndex: start } = node;
  if (parent === null || !/^(import|export)_specifier$/.test(parent.type)) return undefined;
  const alias = parent.childForFieldName("alias");
  const isName = parent.childForFieldName("name")?.id === node.id;
  let statement: Node | null = parent;
  while (statement !== null && !/_statement$/.test(statement.type)) statement = statement.parent;
  const source = statement?.childForFieldName("source")?.text.slice(1, -1);
  if (parent.type === "import_specifier")
    return isName && alias !== null
      ? { start, role: "outside", binds: false, ...(source && { from: source }) }
      : undefined;
  if (!isName) return { start, role: "unclear", binds: false };
  if (source !== undefined)
    return alias === null
      ? { start, role: "outside", binds: true, from: source }
      : { start, role: "outside", binds: false, from: source };
  return undefined;
}

function bindingOf(node: Node): Binding | undefined {
  if (!/identifier/.test(node.type) || /^(property|private_property|statement)_identifier$/.test(node.type))
    return undefined;
  if (node.type === "shorthand_property_identifier") return undefined;
  let child = node;
  let holder = node.parent;
  while (holder !== null && patterns.test(holder.type)) {
    const inner =
      holder.type === "pair_pattern"
        ? holder.childForFieldName("value")
        : /assignment_pattern$/.test(holder.type)
          ? holder.childForFieldName("left")
          : child;
    if (inner?.id !== child.id) return undefined;
    child = holder;
    holder = holder.parent;
  }
  if (holder === null) return undefined;
  const is = (field: string) => holder.childForFieldName(field)?.id === child.id;
  const { type } = holder;
  const at = (scope: Node | null | undefined, space: Binding["space"] = "value", from?: string) =>
    scope ? { node, scope, space, from } : undefined;
  if (type === "variable_declarator" && is("name")) {
    const isVar = holder.parent?.type === "variable_declaration";
    return at(around(holder, isVar ? functions : blocks));
  }
  if (named.test(type) && is("name")) {
    const space = /^(interface|type_alias)/.test(type)
      ? "type"
      : /^function|^generator/.test(type)
        ? "value"
        : "both";
    return at(around(holder, blocks), space);
  }
  if (ownScope.test(type) && is("name")) return at(holder);
  if (/^(required|optional)_parameter$/.test(type) && is("pattern")) {
    const isMember = holder.namedChildren.some(one =>
      /accessibility_modifier|override/.test(one?.type ?? ""),
    );
    const binding = at(holder.parent?.parent);
    const isReadonly = /^\s*readonly\b/.test(holder.text);
    return binding && (isMember || isReadonly) ? { ...binding, unclear: true } : binding;
  }
  if (type === "formal_parameters") return at(holder.parent);
  if (type === "arrow_function" && is("parameter")) return at(holder);
  if (type === "catch_clause" && is("parameter")) return at(holder);
  if (type === "for_in_statement" && is("left") && holder.childForFieldName("kind") !== null)
    return at(holder.childForFieldName("kind")?.text === "var" ? around(holder, functions) : holder);
  if (type === "import_clause" || type === "namespace_import") return at(around(holder, /^program$/), "both");
  if (type === "import_specifier" && (is("alias") || holder.childForFieldName("alias") === null)) {
    const source = around(holder, /^import_statement$/)
      ?.childForFieldName("source")
      ?.text.slice(1, -1);
    return at(around(holder, /^program$/), "both", is("alias") ? undefined : source);
  }
  if (type === "type_parameter" && is("name")) return at(holder.parent?.parent, "type");
  if (/^(index_signature|mapped_type_clause|infer_type|import_alias|import_require_clause)$/.test(type)) {
    const scope = type === "infer_type" ? around(holder, /^conditional_type$/) : holder.parent;
    const binding = at(scope, "both");
    return binding && { ...binding, unclear: true };
  }
  return undefined;
}

function around(node: Node, types: RegExp): Node | undefined {
  for (let above = node.parent; above !== null; above = above.parent)
    if (types.test(above.type)) return above;
  return undefined;
}
