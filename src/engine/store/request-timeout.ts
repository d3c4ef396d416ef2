// How long a store is waited for. What a request carries takes its time, and a service that does not answer must not
// hold a call for as long as that.

/** A link that carries less is as good as none. */
const leastBytesPerMs = 1000;

/** How long a request may take that carries so many bytes, there and back, where an empty one may take `emptyMs`. */
export function timeoutFor(emptyMs: number, bytes: number): number {
  return emptyMs + bytes / leastBytesPerMs;
}

/** Aborts what takes longer, as more bytes of an answer arrive. */
export class RequestTimeout implements Disposable {
  readonly #emptyMs: number;
  readonly #since = performance.now();
  readonly #abort = new AbortController();
  #bytes: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(emptyMs: number, bytes: number) {
    this.#emptyMs = emptyMs;
    this.#bytes = bytes;
    this.#wait();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  arrived(bytes: number): void {
    this.#bytes += bytes;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    const leftMs = this.#since + timeoutFor(this.#emptyMs, this.#bytes) - performance.now();
    if (leftMs > 0) this.#timer = setTimeout(() => this.#wait(), leftMs);
    else this.#abort.abort(new DOMException("timeout", "TimeoutError"));
  }
}
