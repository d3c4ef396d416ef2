// The entries of one directory as lines with names alone, the usual listing. The text of entries that have not changed
// is kept with them, so a directory that is listed again costs no work for each of its names.
import { groupText } from "../../contract/render/group-text.ts";
import type { Group } from "../../engine/search/walker.ts";
import type { AnswerLines } from "./answer.ts";
import { describe } from "./outline.ts";

/** Bytes of UTF-8 for a unit of UTF-16, at most. */
const mostBytesOfUnit = 3;
/** What an outline counts for a line besides the name. */
const bytesBesideName = 12;

export class PlainLevel {
  readonly #limit: number;
  readonly #texts: string[] = [];
  #count = 0;
  #length = 0;

  /** `limit`: of entries. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  add(group: Group): void {
    this.#count += group.entries.length;
    if (this.#count > this.#limit) return;
    const { text } = groupText(group, "plain level", linesOf);
    this.#texts.push(text);
    this.#length += text.length;
  }

  /** Whether all entries are certain to fit; if not, an outline has to choose. */
  fits(room: number): boolean {
    return (
      this.#count <= this.#limit && mostBytesOfUnit * this.#length + bytesBesideName * this.#count <= room
    );
  }

  addTo(lines: AnswerLines): void {
    lines.addAll(this.#texts);
  }
}

function linesOf({ entries }: Group): { text: string; count: number } {
  const lines = entries.map(entry => describe({ entry, depth: 0, below: 0, closed: false }, false));
  return { text: lines.join("\n"), count: entries.length };
}
