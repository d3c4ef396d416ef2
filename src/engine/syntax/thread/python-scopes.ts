// The scopes of Python, as far as one name is concerned: a name belongs to the innermost function that binds it, or to
// the module. The names of a class are its members, which its functions do not see.
import type { Node } from "web-tree-sitter";
import { once } from "../../once.ts";
import { isInError } from "./in-error.ts";
import type { NameUse } from "./messages.ts";
import { type ModulePath, moduleOf, pathOfObject, starredModules } from "./python-imports.ts";

interface PythonBinding {
  readonly node: Node;
  readonly scope: Node;
  /** Where it is imported from. */
  readonly from?: ModulePath | undefined;
  /** It is a module, or more than this file shows. */
  readonly unclear?: boolean;
}

interface NameSource {
  readonly isOne: boolean;
  readonly from?: string;
}

const comprehension = /^((list|set|dictionary)_comprehension|generator_expression)$/;
const functionLike = /^(function_definition|lambda)$/;
const outerFields = ["value", "type"];

/** Whether an identifier is bound at its place, by syntax alone. */
export type BindingForm = (node: Node) => NameUse;

export class PythonScopes {
  readonly #nodes: readonly Node[];
  readonly #byForm: BindingForm;
  /** By the id of a scope. */
  readonly #bound = new Map<number, PythonBinding[]>();
  /** Scopes in which a name is declared `global` or `nonlocal`. */
  readonly #elsewhere = new Map<number, "global" | "nonlocal">();
  readonly #sources = new Map<number, NameSource>();
  readonly #root: Node;
  readonly #stars: () => readonly string[];

  constructor(root: Node, nodes: readonly Node[], byForm: BindingForm) {
    this.#root = root;
    this.#stars = once(() => starredModules(root));
    this.#nodes = nodes;
    this.#byForm = byForm;
    for (const node of nodes) {
      const said = /^(global|nonlocal)_statement$/.exec(node.parent?.type ?? "")?.[1];
      if (said === "global" || said === "nonlocal") this.#elsewhere.set(scopesAround(node)[0]?.id ?? 0, said);
    }
    for (const node of nodes) {
      const binding = this.#binding(node);
      if (binding === undefined) continue;
      const { id } = this.#home(binding.scope);
      const group = this.#bound.get(id);
      if (group === undefined) this.#bound.set(id, [binding]);
      else group.push(binding);
    }
  }

  /** `objects` gives the scopes of another name, of what a member belongs to. */
  uses(objects: (name: string) => PythonScopes | undefined): NameUse[] {
    return this.#nodes.flatMap(node => this.#use(node, objects) ?? []);
  }

  /** The module that a name means, if all its bindings are the same module. */
  moduleAt(node: Node): ModulePath | undefined {
    const scope = this.#scopeOf(node);
    const modules = (scope && this.#bound.get(scope.id))?.map(one => moduleOf(one.node));
    const [first] = modules ?? [];
    return first !== undefined && modules?.every(one => one?.path === first.path) ? first : undefined;
  }

  #use(node: Node, objects: (name: string) => PythonScopes | undefined): NameUse | undefined {
    const start = node.startIndex;
    const unclear: NameUse = { start, role: "unclear", binds: false };
    const { parent } = node;
    if (parent === null || isInError(node)) return unclear;
    if (node.type === "string_content") return isListed(node) ? this.#inModule(node) : unclear;
    const form = this.#byForm(node);
    if (isModuleName(node)) return undefined;
    if (isImportedName(node)) {
      const alias = parent.parent?.type === "aliased_import";
      const from = moduleAbove(node);
      if (alias) return from ? { start, role: "outside", binds: false, from } : unclear;
    } else if (/^keyword_(argument|pattern)$/.test(parent.type) && parent.firstNamedChild?.id === node.id)
      return unclear;
    else if (form.role === "member") {
      const path = parent.type === "attribute" ? pathOfObject(parent, name => objects(name)) : undefined;
      return path === undefined
        ? { start, role: "member", binds: false }
        : { start, role: "outside", binds: false, from: path, attribute: true };
    }
    const own = this.#binding(node);
    const scope = own === undefined ? this.#scopeOf(node) : this.#home(own.scope);
    if (scope === undefined) {
      const [star, ...more] = this.#stars();
      if (star === undefined || more.length > 0) return unclear;
      return {
        start,
        role: "variable",
        binds: false,
        scope: this.#root.id,
        top: true,
        from: star,
        starred: true,
      };
    }
    if (scope.type === "class_definition")
      return own === undefined ? unclear : { start, role: "member", binds: true };
    return this.#inScope(node, scope, own);
  }

  #inModule(node: Node): NameUse {
    return this.#bound.has(this.#root.id)
      ? this.#inScope(node, this.#root)
      : { start: node.startIndex, role: "unclear", binds: false };
  }

  #inScope({ startIndex: start }: Node, scope: Node, own?: PythonBinding): NameUse {
    const { isOne, from } = this.#sourceIn(scope);
    if (!isOne) return { start, role: "unclear", binds: own !== undefined && !own.from && !own.unclear };
    const top = scope.id === this.#root.id;
    const binds = own !== undefined;
    return { start, role: "variable", binds, scope: scope.id, top, ...(from !== undefined && { from }) };
  }

  /** Where the name of a scope comes from, and whether that is one place. */
  #sourceIn({ id }: Node): NameSource {
    const known = this.#sources.get(id);
    if (known !== undefined) return known;
    const group = this.#bound.get(id) ?? [];
    const from = group[0]?.from?.path;
    const isOne = group.every(one => !one.unclear && one.from?.path === from);
    const source = { isOne, ...(from !== undefined && { from }) };
    this.#sources.set(id, source);
    return source;
  }

  #binding(node: Node): PythonBinding | undefined {
    const { parent } = node;
    if (parent === null || node.type === "string_content" || isInError(node)) return undefined;
    const around = scopesAround(node);
    const scope = /^named_expression$/.test(parent.type)
      ? around.find(one => !comprehension.test(one.type))
      : around[0];
    if (scope === undefined) return undefined;
    if (isModuleName(node)) return boundByImport(node) ? { node, scope, unclear: true } : undefined;
    if (isImportedName(node)) {
      if (parent.parent?.type === "aliased_import") return undefined;
      const from = moduleAbove(node);
      return { node, scope, ...(from === undefined ? { unclear: true } : { from: { path: from } }) };
    }
    if (parent.type === "aliased_import") {
      const isModule = parent.parent?.type === "import_statement";
      return { node, scope, ...(isModule && { unclear: true }) };
    }
    if (isTypeParameter(node)) return { node, scope, unclear: true };
    if (/^keyword_(argument|pattern)$/.test(parent.type) && parent.firstNamedChild?.id === node.id)
      return undefined;
    const statement = parent.type === "expression_list" ? parent.parent : parent;
    if (statement?.type === "delete_statement" || isAliasedType(node)) return { node, scope };
    const { role, binds } = this.#byForm(node);
    return role !== "member" && binds ? { node, scope } : undefined;
  }

  /** Where a name that a scope binds is kept. */
  #home(scope: Node): Node {
    const said = this.#elsewhere.get(scope.id);
    if (said === "global") return this.#root;
    if (said === undefined) return scope;
    const outer = scopesAround(scope).find(
      one => functionLike.test(one.type) && this.#elsewhere.get(one.id) !== "nonlocal",
    );
    return outer ?? scope;
  }

  /** The scope that binds a name which is used here. */
  #scopeOf(node: Node): Node | undefined {
    for (const [i, scope] of scopesAround(node).entries()) {
      if (scope.type === "class_definition" && i > 0) continue;
      if (this.#elsewhere.get(scope.id) === "global")
        return this.#bound.has(this.#root.id) ? this.#root : undefined;
      if (this.#elsewhere.get(scope.id) === undefined && this.#bound.has(scope.id)) return scope;
    }
    return undefined;
  }
}

/** The scopes around a node, the innermost first. Default values, types and the first list of a comprehension are outside. */
function scopesAround(node: Node): Node[] {
  const scopes: Node[] = [];
  let isOuter = false;
  let child = node;
  for (let above = node.parent; above !== null; child = above, above = above.parent) {
    const { type } = above;
    const is = (field: string) => above?.childForFieldName(field)?.id === child.id;
    if (/^(typed_|default_|typed_default_)parameter$/.test(type)) isOuter ||= outerFields.some(is);
    else if (functionLike.test(type)) {
      if (is("body") || (is("parameters") && !isOuter)) scopes.push(above);
      isOuter = false;
    } else if (type === "class_definition") {
      if (is("body")) scopes.push(above);
    } else if (type === "for_in_clause") {
      const first = above.parent?.namedChildren.find(one => one?.type === "for_in_clause");
      isOuter ||= is("right") && first?.id === above.id;
    } else if (comprehension.test(type)) {
      if (!isOuter) scopes.push(above);
      isOuter = false;
    } else if (type === "module") scopes.push(above);
  }
  return scopes;
}

/** A part of the path of a module in an import. */
function isModuleName({ parent }: Node): boolean {
  if (parent?.type !== "dotted_name") return false;
  const holder = parent.parent;
  if (holder?.type === "relative_import") return true;
  if (holder?.type === "import_from_statement")
    return holder.childForFieldName("module_name")?.id === parent.id;
  const statement = holder?.type === "aliased_import" ? holder.parent : holder;
  return statement?.type === "import_statement" || statement?.type === "future_import_statement";
}

/** `import name.x` binds the name. */
function boundByImport({ id, parent }: Node): boolean {
  return parent?.parent?.type === "import_statement" && parent.firstNamedChild?.id === id;
}

/** `name` in `from m import name` and `from m import name as other`. */
function isImportedName({ parent }: Node): boolean {
  if (parent?.type !== "dotted_name" || parent.namedChildCount > 1) return false;
  const holder = parent.parent;
  const statement = holder?.type === "aliased_import" ? holder.parent : holder;
  return (
    statement?.type === "import_from_statement" &&
    statement.childForFieldName("module_name")?.id !== parent.id
  );
}

function moduleAbove(node: Node): string | undefined {
  for (let above = node.parent; above !== null; above = above.parent)
    if (above.type === "import_from_statement")
      return above.childForFieldName("module_name")?.text.replace(/\s/g, "");
  return undefined;
}

/** `def f[name]()` */
function isTypeParameter(node: Node): boolean {
  for (let above = node.parent; above !== null; above = above.parent)
    if (above.type === "type_parameter")
      return /_definition$|^type_alias_statement$/.test(above.parent?.type ?? "");
  return false;
}

/** `type name = …` */
function isAliasedType({ parent }: Node): boolean {
  const statement = parent?.type === "type" ? parent.parent : null;
  return statement?.type === "type_alias_statement" && statement.childForFieldName("left")?.id === parent?.id;
}

/** In `__all__`, which names what a module exports. */
export function isListed(node: Node): boolean {
  for (let above = node.parent; above !== null; above = above.parent) {
    const left = /assignment$/.test(above.type) ? above.childForFieldName("left") : null;
    if (left !== null) return left.text === "__all__";
    if (above.type === "call")
      return /^__all__\.(append|extend)$/.test(above.childForFieldName("function")?.text ?? "");
  }
  return false;
}
