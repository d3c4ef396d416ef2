// How long to wait for a store. A request that carries many bytes may take longer; a service that does not answer must
// not block a call for that long.

/** A slower connection counts as dead. */
const leastBytesPerMs = 1000;

/** How long a request may take if an empty one may take `emptyMs`. `bytes`: those it sends and receives. */
export function timeoutFor(emptyMs: number, bytes: number): number {
  return emptyMs + bytes / leastBytesPerMs;
}

/** Aborts a request that takes longer. Each byte of the answer that arrives adds to its time. */
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
