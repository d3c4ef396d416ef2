// The size of an answer. The contract has no limits; models, clients and memory do. The answer itself says what was
// left out, because that is what every client shows.

export const maxAnswerBytes = 1024 * 1024;

/** The lines of an answer, as many as there is room for. */
export class BoundedLines {
  readonly #lines: string[] = [];
  #left = maxAnswerBytes;

  get count(): number {
    return this.#lines.length;
  }

  /** Whether there was room for it. */
  add(line: string): boolean {
    this.#left -= Buffer.byteLength(line) + 1;
    if (this.#left < 0) return false;
    this.#lines.push(line);
    return true;
  }

  /** The note about the rest. */
  note(note: string): void {
    this.#lines.push("", `[${note}]`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
