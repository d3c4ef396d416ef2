// The symbol around a hit in code, as far as finding it out costs little.
import type { Declared, Structure } from "../../engine/syntax/structure.ts";

/** Parsing more than this for one answer would cost more than a caller wants to wait. */
const maxParsed = 1_500_000;
const maxFile = 400_000;

/** How far an answer goes into parsing. */
export class ParseBudget {
  #left = maxParsed;

  takes(characters: number): boolean {
    if (characters > maxFile || characters > this.#left) return false;
    this.#left -= characters;
    return true;
  }
}

/** The symbol that a line is in, without one that begins there. */
export function symbolAround({ declared }: Structure, line: number): Declared | undefined {
  return declared.findLast(({ kind, from, to, local }) => {
    const isSmall = kind === "variable" && (local || from === to);
    return !isSmall && from < line && line <= to;
  });
}
