// A long text put together from many short ones. They are joined a few hundred at a time, so that only the blocks
// live on: a hundred thousand lines that all wait for the end cost several times the memory of the text.

const perBlock = 512;

export class Blocks {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  /** Of all of it, in units of UTF-16. */
  get length(): number {
    return this.#length;
  }

  add(piece: string): void {
    this.#length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length === perBlock) this.#close();
  }

  toString(): string {
    this.#close();
    return this.#blocks.join("");
  }

  #close(): void {
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces = [];
  }
}
