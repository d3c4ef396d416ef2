// The size of an answer. The contract promises whole files and all matches; strings and memory are finite. What does
// not fit is refused with a suggestion, never cut silently.
import { Fault } from "../../engine/fault.ts";

export const maxAnswerBytes = 64 * 1024 * 1024;

/** The lines of an answer, within that. */
export class CheckedLines {
  readonly #about: string;
  readonly #lines: string[] = [];
  #size = 0;

  /** `about` is the path that a refusal names. */
  constructor(about: string) {
    this.#about = about;
  }

  get count(): number {
    return this.#lines.length;
  }

  add(line: string): void {
    this.#lines.push(line);
    this.#size += line.length + 1;
    if (this.#size > maxAnswerBytes) {
      throw new Fault("too_large", { path: this.#about, size: this.#size, limit: maxAnswerBytes });
    }
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
