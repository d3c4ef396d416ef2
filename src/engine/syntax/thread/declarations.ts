// Finds the declarations in a syntax tree: walks what may hold some, and takes with each the comments, decorators
// and keywords that belong to it.
import type { Node } from "web-tree-sitter";
import type { Grammar } from "../language.ts";
import type { RawDeclaration, SymbolKind } from "./messages.ts";
import { nameOf } from "./names.ts";
import { above, mayHold, tables, wrapper } from "./tables.ts";

const most = 20_000;
const deepest = 200;
const longestHead = 160;

type MutableDeclaration = { -readonly [K in keyof RawDeclaration]: RawDeclaration[K] };

export function declarationsIn(root: Node, text: string, grammar: Grammar): RawDeclaration[] {
  return new DeclarationWalk(text, grammar).run(root);
}

function indentAt(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(at, at + 500))?.[0].length ?? 0;
}

/** What is in the braces of a type that is written out: Go's `type A struct { … }` has it there. */
function bodyOfType(type: Node | null): Node | null | undefined {
  if (!/^(struct|interface)_type$/.test(type?.type ?? "")) return undefined;
  return type?.children.find(child => child?.type === "{" || child?.type === "field_declaration_list");
}

class DeclarationWalk {
  readonly #found: MutableDeclaration[] = [];
  readonly #text: string;
  readonly #grammar: Grammar;
  readonly #table: Readonly<Record<string, SymbolKind>>;

  constructor(text: string, grammar: Grammar) {
    this.#text = text;
    this.#grammar = grammar;
    this.#table = tables[grammar];
  }

  run(root: Node): RawDeclaration[] {
    this.#children(root, -1, 0);
    return this.#found;
  }

  #children(node: Node, parent: number, depth: number): void {
    if (depth > deepest) return;
    let lead: Node | undefined; // the first of the comments and decorators right above the next node
    let last: Node | undefined;
    for (const child of node.namedChildren) {
      if (child === null || this.#found.length >= most) continue;
      if (lead !== undefined && last !== undefined && !this.#touch(last, child)) lead = undefined;
      if (above.test(child.type)) {
        if (lead === undefined && this.#opensLine(child)) lead = child;
      } else {
        this.#visit(child, lead?.startIndex ?? child.startIndex, parent, depth);
        lead = undefined;
      }
      last = child;
    }
  }

  #visit(node: Node, top: number, parent: number, depth: number): void {
    const kind = this.#table[node.type];
    const name = kind && nameOf(node, this.#grammar);
    const index = this.#found.length;
    if (kind !== undefined && name !== undefined) {
      this.#found.push({
        kind: name.kind ?? kind,
        name: name.text,
        parent,
        top,
        start: node.startIndex,
        bare: node.startIndex,
        end: this.#end(node),
        nameStart: name.start,
        nameEnd: name.end,
        head: this.#head(node),
      });
      this.#children(node, index, depth + 1);
    } else if (mayHold(this.#grammar, node.type)) {
      this.#children(node, parent, depth + 1);
      if (wrapper.test(node.type)) this.#wrap(node, top, parent, index);
    }
  }

  /** Gives a wrapper to the one declaration in it. */
  #wrap(node: Node, top: number, parent: number, from: number): void {
    const inside = this.#found.slice(from).filter(one => one.parent === parent);
    const [only] = inside;
    if (only === undefined || inside.length > 1) return;
    const isDirect = node.namedChildren.some(
      child => child !== null && child.startIndex === only.start && this.#end(child) === only.end,
    );
    if (!isDirect) return;
    only.top = Math.min(top, node.startIndex);
    only.start = node.startIndex;
    const line = this.#text.lastIndexOf("\n", only.bare - 1) + 1;
    only.bare = Math.max(node.startIndex, Math.min(only.bare, line + indentAt(this.#text, line)));
    only.end = this.#end(node);
  }

  #end({ endIndex }: Node): number {
    let end = endIndex;
    while (end > 0 && /\s/.test(this.#text[end - 1] ?? "")) end--;
    return this.#text[end] === ";" ? end + 1 : end;
  }

  /** Nothing but one line break between them. */
  #touch(before: Node, after: Node): boolean {
    const end = before.startIndex + before.text.trimEnd().length;
    const between = this.#text.slice(end, after.startIndex);
    return between.trim() === "" && between.split("\n").length <= 2;
  }

  /** Not the line that names the interpreter, either. */
  #opensLine({ startIndex }: Node): boolean {
    if (startIndex === 0 && this.#text.startsWith("#!")) return false;
    const from = this.#text.lastIndexOf("\n", startIndex - 1) + 1;
    return this.#text.slice(from, startIndex).trim() === "";
  }

  /** The text from the start of its line to its body, on one line. */
  #head(node: Node): string {
    const value = node.childForFieldName("value") ?? node.childForFieldName("right");
    const body =
      node.childForFieldName("body") ??
      value?.childForFieldName("body") ??
      value ??
      bodyOfType(node.childForFieldName("type")) ??
      node.namedChildren.findLast(child => /block|(?<!^parameter)_list$|^accessor/.test(child?.type ?? ""));
    const line = this.#text.lastIndexOf("\n", node.startIndex - 1) + 1;
    const from = this.#text.slice(line, node.startIndex);
    const start = /^\s*[\w\s]*$/.test(from) ? line : node.startIndex;
    const end = Math.min(body?.startIndex ?? node.endIndex, start + 4 * longestHead);
    const head = this.#text.slice(start, end).replace(/\s+/g, " ").trim();
    const bare = head.replace(/^(?:@[\w.]+(?:\([^)]*\))? )+/, "").replace(/ ?(?:\{|=>|=|:)$/, "");
    return bare.length > longestHead ? `${bare.slice(0, longestHead)}…` : bare;
  }
}
