// Finds the declarations in a syntax tree: walks what may hold some, and takes with each the comments, decorators
// and keywords that belong to it. Every property of a node is a call into the parser, so none is read twice, and only
// what holds a node of a declaration's type is walked: the parser finds those nodes by itself, in a tenth of the time.
import type { Node } from "web-tree-sitter";
import type { Grammar } from "../language.ts";
import { lineStart } from "./line-start.ts";
import type { RawDeclaration } from "./messages.ts";
import { nameOf } from "./names.ts";
import { laidOut } from "./python-blocks.ts";
import { withHidden } from "./python-hidden.ts";
import { type NodeRole, rolesIn, tables } from "./tables.ts";

const most = 20_000;
const deepest = 200;
/** What the grammars call comments. */
const comments = ["comment", "line_comment", "block_comment"];
const longestHead = 160;

type MutableDeclaration = { -readonly [K in keyof RawDeclaration]: RawDeclaration[K] };

export function declarationsIn(root: Node, text: string, grammar: Grammar): RawDeclaration[] {
  const found = new DeclarationWalk(text, grammar).run(root);
  if (grammar !== "python" || !root.hasError) return found;
  return laidOut(withHidden(found, root, text), root, text);
}

function indentAt(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(at, at + 500))?.[0].length ?? 0;
}

/** What a declaration is set to; of a function, its body. */
function valueIn(node: Node): Node | null {
  const value = node.childForFieldName("value") ?? node.childForFieldName("right");
  return value?.childForFieldName("body") ?? value;
}

function bodyWithoutField(node: Node): Node | null | undefined {
  return (
    bodyOfType(node.childForFieldName("type")) ??
    node.namedChildren.findLast(child => /block|(?<!^parameter)_list$|^accessor/.test(child?.type ?? ""))
  );
}

/** What is in the braces of a type that is written out: Go's `type A struct { … }` has it there. */
function bodyOfType(type: Node | null): Node | null | undefined {
  if (!/^(struct|interface)_type$/.test(type?.type ?? "")) return undefined;
  return type?.children.find(child => child?.type === "{" || child?.type === "field_declaration_list");
}

/** The position of a node in the walk: where its comments and decorators begin, the declaration around it, its depth. */
interface WalkPosition {
  readonly top: number;
  readonly parent: number;
  readonly depth: number;
}

class DeclarationWalk {
  readonly #found: MutableDeclaration[] = [];
  readonly #text: string;
  readonly #grammar: Grammar;
  readonly #roleOf: (type: string) => NodeRole;
  /** Where the nodes begin that may be declarations, in order. */
  #starts: readonly number[] = [];

  constructor(text: string, grammar: Grammar) {
    this.#text = text;
    this.#grammar = grammar;
    this.#roleOf = rolesIn(grammar);
  }

  run(root: Node): RawDeclaration[] {
    const types = Object.keys(tables[this.#grammar]);
    const nodes = types.length === 0 ? [] : root.descendantsOfType(types);
    this.#starts = nodes.flatMap(node => node?.startIndex ?? []).sort((a, b) => a - b);
    this.#children(root, -1, 0);
    return this.#found;
  }

  /** How many nodes that may be declarations begin before an offset. */
  #startsBefore(offset: number): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Whether a declaration may be in a node, besides `own` ones that begin with it. */
  #holdsAny(node: Node, own: number): boolean {
    const start = this.#starts[this.#startsBefore(node.startIndex) + own];
    return start !== undefined && start < node.endIndex;
  }

  #children(node: Node, parent: number, depth: number): void {
    if (depth > deepest) return;
    const children = node.namedChildren;
    let next = this.#startsBefore(node.startIndex);
    for (const [i, child] of children.entries()) {
      // Where a node ends is a call, where the next one begins is not: most nodes are passed over without a call.
      const end = children[i + 1]?.startIndex ?? node.endIndex;
      const first = this.#starts[next];
      if (first === undefined || this.#found.length >= most) return;
      if (child === null || first >= end) continue;
      const role = this.#roleOf(child.type);
      const top = this.#lead(children, i)?.startIndex ?? child.startIndex;
      if (!role.isAbove) this.#visit(child, role, { top, parent, depth });
      while ((this.#starts[next] ?? end) < end) next++;
    }
  }

  /** The first of the comments and decorators right above a node. */
  #lead(siblings: readonly (Node | null)[], at: number): Node | undefined {
    let found: Node | undefined;
    for (let i = at; i > 0; i--) {
      const [above, below] = [siblings[i - 1], siblings[i]];
      if (!above || !below || !this.#roleOf(above.type).isAbove || !this.#touch(above, below)) break;
      if (this.#opensLine(above)) found = above;
    }
    return found;
  }

  #visit(node: Node, role: NodeRole, { top, parent, depth }: WalkPosition): void {
    const { kind } = role;
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
      if (this.#holdsAny(node, 1)) this.#children(node, index, depth + 1);
    } else if (role.mayHold && this.#holdsAny(node, kind === undefined ? 0 : 1)) {
      this.#children(node, parent, depth + 1);
      if (role.isWrapper) this.#wrap(node, top, parent, index);
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
    const line = lineStart(this.#text, only.bare);
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
    const from = lineStart(this.#text, startIndex);
    return this.#text.slice(from, startIndex).trim() === "";
  }

  /** The text from the start of its line to its body, on one line. */
  #head(node: Node): string {
    const body = node.childForFieldName("body") ?? valueIn(node) ?? bodyWithoutField(node);
    const line = lineStart(this.#text, node.startIndex);
    const from = this.#text.slice(line, node.startIndex);
    const start = /^\s*[\w\s]*$/.test(from) ? line : node.startIndex;
    const head = this.#code(node, start, body ?? undefined)
      .replace(/\s+/g, " ")
      .trim();
    const bare = head.replace(/^(?:@[\w.]+(?:\([^)]*\))? )+/, "").replace(/ ?(?:\{|=>|=|:)$/, "");
    return bare.length > longestHead ? `${bare.slice(0, longestHead)}…` : bare;
  }

  /** What is in front of the body, without comments, as far as a head can show it. */
  #code(node: Node, start: number, body: Node | undefined): string {
    const end = body?.startIndex ?? node.endIndex;
    const most = 4 * longestHead;
    const first = this.#text.slice(start, Math.min(end, start + most));
    if (!/\/[*/]|#|--/.test(first)) return first;
    let code = "";
    let at = start;
    const until = body?.startPosition ?? node.endPosition;
    for (const comment of node.descendantsOfType(comments, node.startPosition, until)) {
      if (comment === null || comment.startIndex >= end || code.length >= most) break;
      code += `${this.#text.slice(at, comment.startIndex)} `;
      at = comment.endIndex;
    }
    return (code + this.#text.slice(at, Math.min(end, at + most))).slice(0, most);
  }
}
