// Members of JavaScript and TypeScript classes: which class declares the member that `this.name` means. A class and
// the classes it extends in the same file are one family: an override and what it overrides are the same symbol.

import type { Node } from "web-tree-sitter";
import { append } from "../../append.ts";
import type { NameUse } from "./messages.ts";

const memberNames =
  /^(method_definition|public_field_definition|field_definition|method_signature|abstract_method_signature|property_signature|pair|enum_body|enum_assignment)$/;
const classes = ["class_declaration", "abstract_class_declaration", "class"];
/** No program has more classes above one; a cycle would. */
const mostAbove = 50;

export class ClassMembers {
  /** The ids of the classes that declare the name themselves; negative ones for static members. */
  readonly #declaring: ReadonlySet<number>;
  readonly #root: Node | undefined;
  #named: Map<string, Node[]> | undefined;

  constructor(nodes: readonly Node[]) {
    this.#declaring = new Set(
      nodes.flatMap(node => {
        const holder = declaresMember(node) ? classOfMember(node) : undefined;
        return holder === undefined ? [] : [sideOf(holder, isStaticAt(node))];
      }),
    );
    this.#root = nodes[0]?.tree.rootNode;
  }

  use(node: Node): NameUse {
    const start = node.startIndex;
    const { parent } = node;
    const binds = declaresMember(node);
    const object = parent?.type === "member_expression" ? parent.childForFieldName("object") : null;
    const isSelf = /^(this|super)$/.test(object?.type ?? "");
    const holder = binds ? classOfMember(node) : isSelf ? classAround(node) : undefined;
    const from = object?.type === "super" ? this.#extended(holder) : holder;
    const isStatic = isStaticAt(node);
    const top = from && this.#topmost(from, isStatic);
    if (top === undefined) return { start, role: "member", binds };
    const bases = binds && holder !== undefined ? this.#unknownBases(holder) : [];
    const name = holder?.childForFieldName("name")?.text ?? "class";
    return {
      start,
      role: "member",
      binds,
      scope: sideOf(top, isStatic),
      own: true,
      ...(bases.length > 0 && { heir: { name, bases } }),
    };
  }

  /** The topmost class, from this one upwards, that declares the name. */
  #topmost(holder: Node, isStatic: boolean): Node | undefined {
    let found: Node | undefined;
    let above: Node | undefined = holder;
    for (let step = 0; above !== undefined && step < mostAbove; step++) {
      if (this.#declaring.has(sideOf(above, isStatic))) found = above;
      above = this.#extended(above);
    }
    return found;
  }

  /** The class that a class extends, if it is certain to be one of this file. */
  #extended(holder: Node | undefined): Node | undefined {
    const base = holder && basesOf(holder).extended;
    if (base?.type !== "identifier") return undefined;
    const found = this.#classes().get(base.text) ?? [];
    return found.length === 1 && found[0]?.id !== holder?.id ? found[0] : undefined;
  }

  /** What the class, or one above it in this file, extends or implements elsewhere. */
  #unknownBases(holder: Node): string[] {
    const names: string[] = [];
    let above: Node | undefined = holder;
    for (let step = 0; above !== undefined && step < mostAbove; step++) {
      const { extended, implemented } = basesOf(above);
      const next = this.#extended(above);
      if (extended !== undefined && next === undefined) names.push(extended.text);
      append(names, implemented);
      above = next;
    }
    return [...new Set(names)].map(name => name.slice(0, 80));
  }

  #classes(): Map<string, Node[]> {
    if (this.#named !== undefined) return this.#named;
    this.#named = new Map();
    for (const node of this.#root?.descendantsOfType(classes) ?? []) {
      const name = node?.childForFieldName("name")?.text;
      if (node === null || name === undefined) continue;
      this.#named.set(name, [...(this.#named.get(name) ?? []), node]);
    }
    return this.#named;
  }
}

function declaresMember(node: Node): boolean {
  const { parent } = node;
  return (
    parent !== null &&
    memberNames.test(parent.type) &&
    parent.childForFieldName("value")?.id !== node.id &&
    /property_identifier$/.test(node.type) &&
    (parent.parent?.type !== "object" || hasOwnType(parent.parent))
  );
}

/** Whether an object has the type of its own keys. An argument or a value of a stated type has the keys of that type. */
function hasOwnType({ parent }: Node): boolean {
  if (parent?.type === "variable_declarator") return parent.childForFieldName("type") === null;
  return parent?.type === "pair" && parent.parent !== null && hasOwnType(parent.parent);
}

/** The class in whose body a member is declared. */
function classOfMember(node: Node): Node | undefined {
  const body = node.parent?.parent;
  return body?.type === "class_body" ? (body.parent ?? undefined) : undefined;
}

/** The static members of a class are apart from the others. */
function sideOf({ id }: Node, isStatic: boolean): number {
  return isStatic ? -id : id;
}

/** Whether the member of a class that is declared here, or that this place is in, is static. */
function isStaticAt(node: Node): boolean {
  for (let above: Node | null = node; above !== null; above = above.parent)
    if (above.parent?.type === "class_body")
      return above.type === "class_static_block" || above.children.some(child => child?.type === "static");
  return false;
}

/** The class whose `this` holds here. */
function classAround(node: Node): Node | undefined {
  for (let above = node.parent; above !== null; above = above.parent) {
    if (above.type === "class_body") return above.parent ?? undefined;
    if (/^(function_declaration|function_expression|generator_function.*|object|program)$/.test(above.type))
      return undefined;
  }
  return undefined;
}

function basesOf(holder: Node): { extended?: Node; implemented: readonly string[] } {
  const heritage = holder.namedChildren.find(child => child?.type === "class_heritage");
  let extended: Node | undefined;
  const implemented: string[] = [];
  for (const child of heritage?.namedChildren ?? []) {
    if (child === null) continue;
    if (child.type === "extends_clause") extended = child.childForFieldName("value") ?? child;
    else if (child.type === "implements_clause")
      append(
        implemented,
        child.namedChildren.flatMap(one => (one === null ? [] : [one.text])),
      );
    else if (child.type !== "comment") extended = child; // JavaScript has the expression itself
  }
  return { ...(extended && { extended }), implemented };
}
