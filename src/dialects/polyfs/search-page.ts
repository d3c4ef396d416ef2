// One page of results. Those before `offset` are counted and not printed; the page ends at `limit` results, or when
// the answer is full, and the last line says how to continue.
import type { GrepReport } from "../../engine/search/grep-terms.ts";
import { AnswerLines, counted, number } from "./answer.ts";

export interface SearchPageOptions {
  readonly offset: number;
  readonly limit: number;
  /** Bytes of the answer. */
  readonly room: number;
}

const footing = 250;

export class SearchPage {
  readonly #lines: AnswerLines;
  readonly #offset: number;
  readonly #limit: number;
  /** Results that were met, and those of them that belong to the page. */
  #met = 0;
  #taken = 0;
  /** Whether there are results after the page. */
  full = false;

  constructor({ offset, limit, room }: SearchPageOptions) {
    this.#lines = new AnswerLines(room - footing);
    this.#offset = offset;
    this.#limit = limit;
  }

  /** Takes the next result: true if it belongs to the page. */
  takes(): boolean {
    const reached = this.#met++ >= this.#offset;
    if (!reached || this.full) return false;
    this.full = this.#taken === this.#limit;
    if (this.full) return false;
    this.#taken++;
    return true;
  }

  /** Prints; false if the answer is full. The `results` counted for it then belong to the next page. */
  print(part: string, results: number): boolean {
    if (this.#lines.add(part)) return true;
    this.full = true;
    this.#taken -= results;
    return false;
  }

  /** Prints even if there is no room: a page without any result could not be followed by another. */
  printFirst(part: string): void {
    this.#lines.note(part);
  }

  get room(): number {
    return this.#lines.room;
  }

  /** The index of the next part; `extend` appends to a printed one. */
  get next(): number {
    return this.#lines.count;
  }

  extend(index: number, text: string): boolean {
    return this.#lines.extend(index, text);
  }

  get shown(): number {
    return this.#taken;
  }

  /** The whole answer; `total` comes first in the last line. */
  end(total: string, { stopped, inaccessible }: GrepReport): string {
    const lines = this.#lines;
    const next = this.#offset + this.#taken;
    if (this.#met === 0) lines.note("[no matches]");
    else if (this.#met <= this.#offset)
      lines.note(`[nothing at offset ${this.#offset}; ${number(this.#met)} found]`);
    else lines.note(this.full ? `[${total} shown; there are more: offset=${next}]` : `[${total}]`);
    if (stopped === "time")
      lines.note("[the search took too long and was stopped: narrow path, glob or pattern]");
    if (stopped === "output") lines.note("[too many matches to hold: narrow path, glob or pattern]");
    if (stopped === "memory")
      lines.note(
        "[incomplete: a line in a large file is too long to search; files over 16 MB were left out]",
      );
    if (stopped === "killed") lines.note("[incomplete: the search process was killed; try again]");
    if (inaccessible > 0) lines.note(`[${counted(inaccessible, "file")} could not be read]`);
    return lines.toString();
  }
}
