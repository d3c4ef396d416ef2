// The latest contents that a read-only workspace has read, in memory and bounded: enough to tell what changed in a file
// since it was read.

const maxBytes = 16 * 1024 * 1024;

export class RecentContents {
  readonly #contents = new Map<string, Uint8Array>();
  #total = 0;

  /** Keeps the content of the file at `at`; evicts the oldest first. */
  keep(at: string, bytes: Uint8Array, hash: string): void {
    const key = `${hash.slice(0, 12)} ${at}`;
    if (bytes.length > maxBytes || this.#contents.has(key)) return;
    this.#contents.set(key, bytes);
    this.#total += bytes.length;
    for (const [oldest, { length }] of this.#contents) {
      if (this.#total <= maxBytes) return;
      this.#contents.delete(oldest);
      this.#total -= length;
    }
  }

  has(at: string, hash: string): boolean {
    return this.#contents.has(`${hash.slice(0, 12)} ${at}`);
  }

  /** A past content of the file at `at`, by the first 12 digits of its hash. */
  find(at: string, beginning: string): Buffer | undefined {
    const bytes = this.#contents.get(`${beginning} ${at}`);
    return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }
}
