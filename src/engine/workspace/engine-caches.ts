// What one engine remembers between calls about the files in its roots. The roots of an engine and all views of them
// share one object; two engines in a process share nothing. The folders above this one keep their caches here, too.

export class EngineCaches {
  readonly #caches = new Map<new () => object, object>();

  /** The engine's cache of this class, made when it is first asked for. */
  of<T extends object>(cache: new () => T): T {
    const known = this.#caches.get(cache);
    if (known instanceof cache) return known;
    const made = new cache();
    this.#caches.set(cache, made);
    return made;
  }
}
