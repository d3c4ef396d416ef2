// How much one answer may hold. The contract has no limits; models and clients do, and memory does. What is left
// out is said in the answer itself, because there is nowhere else that every client shows.

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

  /** What is said about the rest. */
  note(note: string): void {
    this.#lines.push("", `[${note}]`);
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}
