// Locks on the ledgers, between the clients and the editor from outside. Clients share a file, because the servers order
// their edits. A program that reads a file and saves it whole, as editors do, would lose their edits, so it needs the
// file for itself.
export class FileLocks {
  /** How many clients are at a file; -1 while it is saved from outside. */
  readonly #at = new Map<string, number>();
  #waiting: (() => void)[] = [];

  async share(...files: readonly string[]): Promise<Disposable> {
    while (files.some(file => this.#in(file) < 0)) await this.#change();
    for (const file of files) this.#at.set(file, this.#in(file) + 1);
    return this.#leaving(() => {
      for (const file of files) this.#at.set(file, this.#in(file) - 1);
    });
  }

  /** For one program alone; undefined while others use the file. */
  exclusive(file: string): Disposable | undefined {
    if (this.#in(file) !== 0) return undefined;
    this.#at.set(file, -1);
    return this.#leaving(() => this.#at.set(file, 0));
  }

  #in(file: string): number {
    return this.#at.get(file) ?? 0;
  }

  #change(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  #leaving(leave: () => void): Disposable {
    return {
      [Symbol.dispose]: () => {
        leave();
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
    };
  }
}
