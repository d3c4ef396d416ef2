// The part of a text that a change touched: rules that were kept everywhere before are checked again only there.
import type { Node, Point, Range } from "web-tree-sitter";

export interface EditedPart {
  readonly start: number;
  readonly end: number;
  readonly from: Point;
  readonly to: Point;
}

/** The nodes of these types; those that touch the part, the line above it or the one below, where there is a part. */
export function nodesOf(root: Node, types: string | string[], part?: EditedPart): Node[] {
  const found =
    part === undefined
      ? root.descendantsOfType(types)
      : root.descendantsOfType(
          types,
          { row: Math.max(0, part.from.row - 1), column: 0 },
          { row: part.to.row + 2, column: 0 },
        );
  return found.filter(node => node !== null);
}

/** Tells places in the part, or in a line next to it, from others. Without a part, all are in it. */
export function nearTo(part: EditedPart | undefined, text: string): (at: number) => boolean {
  if (part === undefined) return () => true;
  const above = text.lastIndexOf("\n", text.lastIndexOf("\n", part.start - 1) - 1);
  const next = text.indexOf("\n", part.end);
  const below = next < 0 ? -1 : text.indexOf("\n", next + 1);
  return at => at >= above && (below < 0 || at <= below);
}

/** The smallest part that holds all of these. */
export function hull(part: EditedPart, ranges: readonly Range[]): EditedPart {
  let { start, end, from, to } = part;
  for (const range of ranges) {
    if (range.startIndex < start) [start, from] = [range.startIndex, range.startPosition];
    if (range.endIndex > end) [end, to] = [range.endIndex, range.endPosition];
  }
  return { start, end, from, to };
}
