// Which declarations an outline shows: all that fit into its share of the file, the outer ones first.
import type { Declared } from "./declared.ts";

/** Minor symbols, in the order they are dropped from an outline: locals, then fields, then nested ones. */
const ranks: readonly ((one: Declared) => boolean)[] = [
  ({ local, kind }) => local && (kind === "variable" || kind === "field"),
  ({ local }) => local,
  ({ kind, depth }) => depth > 0 && (kind === "field" || kind === "variable" || kind === "constant"),
  ({ depth }) => depth > 2,
  ({ kind, from, to }) => (kind === "variable" || kind === "constant" || kind === "field") && to === from,
  ({ depth }) => depth > 1,
  ({ depth }) => depth > 0,
];

export interface OutlineChoice {
  readonly shown: readonly Declared[];
  /** How many minor ones were dropped between them. */
  readonly smaller: number;
  /** Those that do not fit although nothing is left to drop: all after the shown ones. */
  readonly after: readonly Declared[];
}

/** Locals that are mere variables are never part of an outline, and not counted. */
export function isListed(one: Declared): boolean {
  return !ranks[0]?.(one);
}

export function outlineOf(
  declared: readonly Declared[],
  maxBytes: number,
  lineOf: (one: Declared) => string,
): OutlineChoice {
  const all = declared.filter(isListed);
  const sizeOf = (one: Declared) => Buffer.byteLength(lineOf(one)) + 1;
  const size = (list: readonly Declared[]) => list.reduce((sum, one) => sum + sizeOf(one), 0);
  let shown = all;
  for (const isSmall of ranks.slice(1)) {
    if (size(shown) <= maxBytes) break;
    const larger = shown.filter(one => !isSmall(one));
    // Of the last rank that is dropped, the first ones stay as far as there is room.
    let room = maxBytes - size(larger);
    const fits = (one: Declared) => {
      room -= sizeOf(one);
      return room >= 0;
    };
    shown = room < 0 ? larger : shown.filter(one => !isSmall(one) || fits(one));
  }
  let bytes = 0;
  const excess = shown.findIndex(one => {
    bytes += sizeOf(one);
    return bytes > maxBytes;
  });
  const smaller = all.length - shown.length;
  if (excess < 0) return { shown, smaller, after: [] };
  return { shown: shown.slice(0, excess), smaller, after: shown.slice(excess) };
}
