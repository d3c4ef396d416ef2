// What the imports of a Python file bring in: modules under a name, and all names of a module.
import type { Node } from "web-tree-sitter";

/** As it is written after `from`: `a.b`, `.a`, `..`. */
export interface ModulePath {
  readonly path: string;
}

/** The scopes of a name, as far as they show which module it means. */
interface ModuleScopes {
  moduleAt(node: Node): ModulePath | undefined;
}

/** The module that an identifier in an import stands for. */
export function moduleOf(node: Node): ModulePath | undefined {
  const { parent } = node;
  if (parent === null) return undefined;
  if (parent.type === "aliased_import") {
    const name = parent.childForFieldName("name")?.text ?? "";
    const statement = parent.parent;
    return statement?.type === "import_statement" ? { path: name } : within(statement, name);
  }
  if (parent.type !== "dotted_name") return undefined;
  const statement = parent.parent;
  if (statement?.type === "import_statement") return { path: node.text };
  const isName =
    statement?.type === "import_from_statement" &&
    statement.childForFieldName("module_name")?.id !== parent.id;
  return isName ? within(statement, parent.text) : undefined;
}

/** `name` of `from m import name`, as a module. */
function within(statement: Node | null, name: string): ModulePath | undefined {
  if (statement?.type !== "import_from_statement") return undefined;
  const module = statement.childForFieldName("module_name")?.text.replace(/\s/g, "") ?? "";
  return { path: module.endsWith(".") ? module + name : `${module}.${name}` };
}

/** The module before the last dot of `a.b.name`, if `a` stands for a module. */
export function pathOfObject(
  attribute: Node,
  scopesOf: (name: string) => ModuleScopes | undefined,
): string | undefined {
  const names: string[] = [];
  let object = attribute.childForFieldName("object");
  for (; object?.type === "attribute"; object = object.childForFieldName("object"))
    names.unshift(object.childForFieldName("attribute")?.text ?? "");
  if (object?.type !== "identifier") return undefined;
  const module = scopesOf(object.text)?.moduleAt(object);
  return module && [module.path, ...names].join(".");
}

/** The modules of `from m import *`. */
export function starredModules(root: Node): string[] {
  return root.descendantsOfType("wildcard_import").flatMap(node => {
    const module = node?.parent?.childForFieldName("module_name")?.text.replace(/\s/g, "");
    return module ?? [];
  });
}

/** Every word in the imports of a file: no other name stands for a module. */
export function importedWords(root: Node): ReadonlySet<string> {
  const imports = root.descendantsOfType(["import_statement", "import_from_statement"]);
  return new Set(imports.flatMap(node => node?.text.match(/[\p{L}\p{N}_]+/gu) ?? []));
}
