// Callers that ask for the same thing at the same time share one run. A run serves only callers that asked before it
// began, so its result is never older than the question.

export class SharedRuns<T> {
  readonly #running = new Map<string, Promise<T>>();
  readonly #next = new Map<string, Promise<T>>();

  /** Runs `action` now, or once after the run that is under way, together with others that wait for that. */
  of(key: string, action: () => Promise<T>): Promise<T> {
    const waiting = this.#next.get(key);
    if (waiting !== undefined) return waiting;
    const begin = (): Promise<T> => {
      this.#next.delete(key);
      const run = action().finally(() => {
        if (this.#running.get(key) === run) this.#running.delete(key);
      });
      this.#running.set(key, run);
      return run;
    };
    const before = this.#running.get(key);
    if (before === undefined) return begin();
    const next = before.then(begin, begin);
    this.#next.set(key, next);
    return next;
  }
}
