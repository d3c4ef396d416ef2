// What a name of a Rust file means inside its modules and blocks. A module does not see the names around it, unless it
// imports them: by name, or all with `use super::*`. Any other `use` of the name brings in something else, and in a
// block so may `use other::*`.
import type { Node } from "web-tree-sitter";
import type { NameUse } from "./messages.ts";

/** The uses of a name by their form, corrected by the modules and the imports around them. */
export function rustUses(nodes: readonly Node[], byForm: (node: Node) => NameUse): NameUse[] {
  const uses = nodes.map(byForm);
  const imports = new Map<number, "super" | "other">();
  const declaring = new Set<number>();
  for (const [i, node] of nodes.entries()) {
    const use = importOf(node);
    if (use !== undefined) {
      const scope = use.parent?.id ?? 0;
      if (imports.get(scope) !== "other") imports.set(scope, isOfParent(node, use) ? "super" : "other");
    } else if (uses[i]?.binds) {
      const holder = node.parent?.parent;
      if (holder != null) declaring.add(holder.id);
    }
  }
  /** Whether a name in this scope is the one that the file declares. */
  const isOfFile = (from: Node): boolean => {
    for (let scope: Node | null = from; scope?.parent != null; scope = scope.parent) {
      if (imports.get(scope.id) === "other" || (scope.type === "block" && importsAll(scope, /\*/)))
        return false;
      if (scope.parent.type !== "mod_item") continue;
      if (declaring.has(scope.id)) return true; // its own: the caller counts how many there are
      if (!imports.has(scope.id) && !importsAll(scope, /^use\s+super\s*::\s*\*/)) return false;
    }
    return true;
  };
  return nodes.map((node, i) => {
    const use = uses[i] ?? byForm(node);
    const { start } = use;
    const imported = importOf(node);
    const scope = imported?.parent;
    if (scope?.parent?.type === "mod_item")
      return isOfParent(node, imported) && isOfFile(scope) ? { start, role: "variable", binds: false } : use;
    if (use.role !== "variable" || use.binds || isOfFile(node)) return use;
    return { start, role: "unclear", binds: false };
  });
}

/** The `use` that brings in the name under this name. */
function importOf(node: Node): Node | undefined {
  let at = node;
  for (let { parent } = node; parent !== null; { parent } = parent) {
    if (parent.type === "use_declaration") return parent;
    if (!/^(scoped_identifier|scoped_use_list|use_list)$/.test(parent.type)) return undefined;
    // `name::x` and `name::{x}` name it only on the way.
    if (parent.childForFieldName("path")?.id === at.id) return undefined;
    at = parent;
  }
  return undefined;
}

/** `use super::name` and `use super::{name}`, but not what is passed on with `pub use`. */
function isOfParent(node: Node, use: Node | undefined): boolean {
  const { parent } = node;
  const list = parent?.type === "use_list" ? parent.parent : parent;
  if (use === undefined || use.firstNamedChild?.type === "visibility_modifier") return false;
  return list?.parent?.id === use.id && list.childForFieldName("path")?.text === "super";
}

function importsAll(scope: Node, from: RegExp): boolean {
  return scope.namedChildren.some(child => child?.type === "use_declaration" && from.test(child.text));
}
