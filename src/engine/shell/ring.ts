// The last bytes of a stream, in bounded memory. A byte is addressed by its offset in the whole stream, so a reader
// can continue where it was, and learns how much it missed.
import { Buffer } from "node:buffer";

export class Ring {
  readonly #size: number;
  #bytes: Buffer = Buffer.alloc(0);
  #total = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** How many bytes there were in all. */
  get total(): number {
    return this.#total;
  }

  /** The place of the first byte that is still here. */
  get first(): number {
    return Math.max(0, this.#total - this.#size);
  }

  push(chunk: Buffer): void {
    this.#grow(this.#total + chunk.length);
    const last = chunk.length > this.#size ? chunk.subarray(chunk.length - this.#size) : chunk;
    this.#total += chunk.length;
    if (last.length === 0) return;
    const at = (this.#total - last.length) % this.#size;
    const fits = last.copy(this.#bytes, at);
    last.copy(this.#bytes, 0, fits);
  }

  /** The buffer grows on demand; it wraps around only at full size. */
  #grow(needed: number): void {
    const wanted = Math.min(this.#size, Math.max(needed, 4096));
    if (wanted <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.#size, Math.max(wanted, this.#bytes.length * 2)));
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }

  /** At most `length` bytes from the place `from` on, or from the first that is still here. */
  read(from = 0, length = this.#size): Buffer {
    const start = Math.min(Math.max(from, this.first), this.#total);
    const end = Math.min(this.#total, start + length);
    if (start === end) return Buffer.alloc(0);
    const [at, to] = [start % this.#size, ((end - 1) % this.#size) + 1];
    if (at < to) return Buffer.from(this.#bytes.subarray(at, to));
    return Buffer.concat([this.#bytes.subarray(at, this.#size), this.#bytes.subarray(0, to)]);
  }
}
