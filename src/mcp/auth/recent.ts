// A small LRU cache: the most recently used values by name.

export class Recent<T> {
  readonly #values = new Map<string, T>();
  readonly #limit: number;
  readonly #drop: (value: T) => void;

  constructor(limit: number, drop: (value: T) => void = () => {}) {
    this.#limit = limit;
    this.#drop = drop;
  }

  get(key: string): T | undefined {
    const value = this.#values.get(key);
    if (value !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, value);
    }
    return value;
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
    if (this.#values.size <= this.#limit) return;
    for (const [oldest, dropped] of this.#values) {
      this.#values.delete(oldest);
      this.#drop(dropped);
      return;
    }
  }

  clear(): void {
    for (const value of this.#values.values()) this.#drop(value);
    this.#values.clear();
  }
}
