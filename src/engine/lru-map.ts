// A map that forgets the least recently used entries beyond a limit.

export class LruMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;
  readonly #drop: (value: V) => void;

  /** `drop` is called with each value that is forgotten. */
  constructor(limit: number, drop: (value: V) => void = () => {}) {
    this.#limit = limit;
    this.#drop = drop;
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const [oldest, dropped] of this.#entries) {
      this.#entries.delete(oldest);
      this.#drop(dropped);
      return;
    }
  }

  clear(): void {
    for (const value of this.#entries.values()) this.#drop(value);
    this.#entries.clear();
  }
}
