// Which lines of the original a list of edits has taken already. Edits of the same line overlap even where they
// touch no character in common: an empty line has none.
import type { LineRange } from "./edits.ts";

export class TakenLines {
  readonly #taken: (LineRange & { readonly edit: number })[] = [];

  /** The edit that has one of these lines, and the first line that both want. */
  clash({ from, to }: LineRange): { readonly edit: number; readonly line: number } | undefined {
    const other = this.#taken.find(taken => taken.from <= to && from <= taken.to);
    return other && { edit: other.edit, line: Math.max(from, other.from) };
  }

  take({ from, to }: LineRange, edit: number): void {
    this.#taken.push({ from, to, edit });
  }
}
