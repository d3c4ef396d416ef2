// What a name means in a shell script. Functions and variables have separate namespaces. A plain word is neither: it may
// be an argument that happens to be spelled like the name.
import type { Node } from "web-tree-sitter";
import type { NameUse } from "./messages.ts";

/** The uses of a name by their form; unclear where it is not certain which of the two is meant. */
export function shellUses(nodes: readonly Node[], byForm: (node: Node) => NameUse): NameUse[] {
  const isFunction = nodes.some(({ parent }) => parent?.type === "function_definition");
  return nodes.map(node => {
    const use = byForm(node);
    const isCertain = isFunction
      ? /^(command_name|function_definition)$/.test(node.parent?.type ?? "")
      : node.type === "variable_name";
    return isCertain ? use : { ...use, role: "unclear" };
  });
}
