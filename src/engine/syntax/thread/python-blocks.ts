// What belongs where in Python that does not parse. The parser may put a definition into the class above it, or end a
// class too early; indentation decides, as it does for Python itself: a block ends at the first statement that is not
// indented more than its head.
import type { Node } from "web-tree-sitter";
import { lineStart } from "./line-start.ts";
import type { RawDeclaration } from "./messages.ts";
import { kindAt } from "./node-kind.ts";

/** A line that may begin a statement, up to its first word. */
const codeLine = /^[ \t\f]*(?=[^\s)\]}#])/gm;
const bracketed =
  /^(argument_list|parameters|tuple|list|dictionary|set|parenthesized_expression|(tuple|list)_pattern|\w+_comprehension|generator_expression|subscript|type_parameter|import_from_statement)$/;
const commentLine = /^([ \t]*)#/;
/** A head that the parser found no end of. */
const reachesDefinition = /:.* (?:def|class) /;
const longestHead = 160;

interface OpenBlock {
  readonly index: number;
  readonly indent: number;
}

/** The declarations in order, each in the block around it. */
export function laidOut(all: readonly RawDeclaration[], root: Node, text: string): RawDeclaration[] {
  const blocks = new PythonBlocks(root, text);
  for (const one of all.toSorted((a, b) => a.bare - b.bare)) blocks.add(one);
  return blocks.end();
}

class PythonBlocks {
  readonly #root: Node;
  readonly #text: string;
  readonly #made: RawDeclaration[] = [];
  /** Each in the one before it. */
  readonly #open: OpenBlock[] = [];
  readonly #lines: Iterator<RegExpExecArray>;
  #line: RegExpExecArray | undefined;

  constructor(root: Node, text: string) {
    this.#root = root;
    this.#text = text;
    this.#lines = text.matchAll(codeLine);
    this.#line = this.#lines.next().value;
  }

  add(one: RawDeclaration): void {
    this.#closeUpTo(one.bare);
    const head = reachesDefinition.test(one.head) ? firstLine(this.#text, one.bare) : one.head;
    const start = decoratorsStart(this.#text, one.start);
    const top = Math.min(one.top, start);
    const index = this.#made.push({ ...one, top, start, head, parent: this.#open.at(-1)?.index ?? -1 }) - 1;
    if (!/^(function|class)$/.test(one.kind)) return;
    const line = lineStart(this.#text, one.bare);
    const isFirst = this.#text.slice(line, one.bare).trim() === "";
    this.#open.push({ index, indent: isFirst ? one.bare - line : Number.POSITIVE_INFINITY });
  }

  end(): RawDeclaration[] {
    this.#closeUpTo(this.#text.length);
    this.#close(this.#text.length, 0);
    return this.#made;
  }

  /** Goes on to the line of an offset, and closes the blocks that end on the way. */
  #closeUpTo(at: number): void {
    for (; this.#line !== undefined && this.#line.index <= at; this.#line = this.#lines.next().value) {
      const [{ length: indent }] = this.#line;
      const { index } = this.#line;
      const mayClose = indent <= (this.#open.at(-1)?.indent ?? -1);
      if (mayClose && this.#beginsStatement(index, index + indent)) this.#close(index, indent);
    }
  }

  #close(line: number, indent: number): void {
    for (
      let last = this.#open.at(-1);
      last !== undefined && last.indent >= indent;
      last = this.#open.at(-1)
    ) {
      const declaration = this.#made[last.index];
      if (declaration !== undefined)
        this.#made[last.index] = this.#endedBefore(line, declaration, last.indent);
      this.#open.pop();
    }
  }

  #endedBefore(line: number, declaration: RawDeclaration, indent: number): RawDeclaration {
    const { bare, end: parsed } = declaration;
    let block = this.#text.slice(bare, line).trimEnd();
    // A comment below that is not indented more belongs to what follows.
    for (let at = block.lastIndexOf("\n"); at >= 0; at = block.lastIndexOf("\n")) {
      const blanks = commentLine.exec(block.slice(at + 1, at + 500))?.[1];
      if (blanks === undefined || blanks.length > indent) break;
      block = block.slice(0, at).trimEnd();
    }
    const end = bare + block.length;
    if (parsed > end) return { ...declaration, end, head: firstLine(this.#text, bare) };
    return this.#text.slice(parsed, end).includes("\n") ? { ...declaration, end } : declaration;
  }

  /** Not if it is in a string, or goes on with the line above in brackets that parse. */
  #beginsStatement(line: number, at: number): boolean {
    if (/\\\r?\n$/.test(this.#text.slice(Math.max(0, line - 3), line))) return false;
    const first = this.#root.descendantForIndex(at, at);
    if (first?.type !== "string_start" && kindAt(this.#root, at) === "string") return false;
    for (let node = first; node !== null; node = node.parent)
      if (node.startIndex < line && bracketed.test(node.type) && !node.hasError) return false;
    return true;
  }
}

/** Where a definition begins whose decorators the parser took for something else: they are on the lines above. */
function decoratorsStart(text: string, found: number): number {
  let start = found;
  let line = lineStart(text, found);
  const indent = text.slice(line, found);
  while (indent.trim() === "" && line > 0) {
    line = lineStart(text, line - 1);
    if (!text.startsWith(`${indent}@`, line)) break;
    start = line + indent.length;
  }
  return start;
}

/** Of a definition that was not parsed, the head is its first line. */
export function firstLine(text: string, bare: number): string {
  const found = text.indexOf("\n", bare);
  const line = text.slice(bare, Math.min(found < 0 ? text.length : found, bare + longestHead));
  return line.replace(/:\s*$/, "").trimEnd();
}
