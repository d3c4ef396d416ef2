// The trees of the texts parsed last. A text that is parsed again costs nothing, and a text that differs from one of
// them in a part is parsed from its tree, which takes a tenth of the time.
import { Edit, type Tree } from "web-tree-sitter";
import { commonPrefix, commonSuffix } from "../../text/shared-ends.ts";
import type { Grammar } from "../language.ts";
import type { EditedPart } from "./edited-part.ts";
import type { ParseError } from "./messages.ts";

/** A tree takes about 30 bytes for each character of its text. */
const mostTrees = 6;
const mostLength = 300_000;

interface RecentTree {
  readonly grammar: Grammar;
  readonly text: string;
  readonly tree: Tree;
  /** Absent until they are asked for. */
  readonly errors?: readonly ParseError[];
}

/** A tree to parse a similar text from, and what differs. The receiver deletes the tree. */
interface SimilarTree {
  readonly tree: Tree;
  readonly changed: EditedPart;
  readonly errors: readonly ParseError[] | undefined;
}

export class RecentTrees {
  /** The oldest first. */
  #kept: RecentTree[] = [];

  same(grammar: Grammar, text: string): RecentTree | undefined {
    return this.#kept.findLast(one => one.grammar === grammar && one.text === text);
  }

  /** The tree of the most similar text that shares at least half of this one. */
  similar(grammar: Grammar, text: string): SimilarTree | undefined {
    let best: RecentTree | undefined;
    let [head, tail] = [0, 0];
    for (const one of this.#kept) {
      if (one.grammar !== grammar) continue;
      const start = commonPrefix(one.text, text);
      const end = commonSuffix(one.text, text, start);
      if (best === undefined || start + end > head + tail) [best, head, tail] = [one, start, end];
    }
    if (best === undefined || 2 * (head + tail) < Math.max(text.length, best.text.length)) return undefined;
    const tree = best.tree.copy();
    const [old, made] = [partOf(best.text, head, tail), partOf(text, head, tail)];
    const change = new Edit({
      startIndex: head,
      oldEndIndex: old.end,
      newEndIndex: made.end,
      startPosition: made.from,
      oldEndPosition: old.to,
      newEndPosition: made.to,
    });
    tree.edit(change);
    return { tree, changed: made, errors: best.errors };
  }

  /** Takes the tree over. One that is kept already becomes the newest. */
  keep(made: RecentTree): void {
    const old = this.same(made.grammar, made.text);
    if (old !== undefined && old.tree !== made.tree) old.tree.delete();
    this.#kept = [...this.#kept.filter(one => one !== old), made];
    let length = this.#kept.reduce((sum, { text }) => sum + text.length, 0);
    while (this.#kept.length > mostTrees || (length > mostLength && this.#kept.length > 1)) {
      const oldest = this.#kept.shift();
      length -= oldest?.text.length ?? 0;
      oldest?.tree.delete();
    }
  }
}

function partOf(text: string, head: number, tail: number): EditedPart {
  const end = text.length - tail;
  const from = pointAt(text, head, 0, { row: 0, column: 0 });
  return { start: head, end, from, to: pointAt(text, end, head, from) };
}

/** Counts on from a known place. */
function pointAt(text: string, at: number, known: number, point: EditedPart["from"]): EditedPart["from"] {
  let { row } = point;
  let line = known - point.column;
  for (let next = text.indexOf("\n", known); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) {
    row++;
    line = next + 1;
  }
  return { row, column: at - line };
}
