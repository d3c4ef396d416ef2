// One after the other, in the order of asking.
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(action: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(action, action);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Shares one request among all callers that wait for it; a request that began before a caller came is not reused. */
export class SharedQuestion {
  readonly #ask: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(ask: () => Promise<void>) {
    this.#ask = ask;
  }

  answered(): Promise<void> {
    if (this.#running === undefined) return this.#start();
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  #start(): Promise<void> {
    this.#running = this.#ask().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}
