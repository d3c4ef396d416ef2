// Spans that have ended wait here and are sent in batches. There is room for a bounded number: what comes while the
// collector is away or slow is dropped, which the log says once.

interface BatchesOptions<T> {
  readonly delayMs: number;
  readonly queue: number;
  readonly size: number;
  send(spans: readonly T[]): Promise<void>;
  warn(problem: string): void;
}

export class Batches<T> {
  readonly #options: BatchesOptions<T>;
  #waiting: T[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isDropping = false;

  constructor(options: BatchesOptions<T>) {
    this.#options = options;
  }

  add(span: T): void {
    const { queue, size, delayMs } = this.#options;
    if (this.#waiting.length >= queue) {
      if (!this.#isDropping)
        this.#options.warn(
          `spans are dropped: ${queue} are waiting, and they come faster than they can be sent (OTEL_BSP_MAX_QUEUE_SIZE). This is logged once`,
        );
      this.#isDropping = true;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= size) void this.#drain();
    else this.#timer ??= setTimeout(() => void this.#drain(), delayMs).unref();
  }

  /** Sends all that is waiting. */
  async flush(): Promise<void> {
    do await this.#drain();
    while (this.#waiting.length > 0);
  }

  #drain(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = batch.splice(this.#options.size);
      await this.#options.send(batch);
      // Half a batch waits for its time.
      if (this.#waiting.length > 0 && this.#waiting.length < this.#options.size) break;
    }
    if (this.#waiting.length > 0)
      this.#timer = setTimeout(() => void this.#drain(), this.#options.delayMs).unref();
  }
}
