// What lives as long as a caller's connection: a place for the little state that some contracts need (a chosen
// workspace, running jobs). Each caller has its own; nothing in it can reach another's.

/** A typed place in a session. `initial` makes its first value. */
export interface Slot<T> {
  readonly initial: () => T;
}

export class Session {
  readonly #values = new Map<Slot<unknown>, unknown>();
  /** Who calls, as the client says it: for history and audit, never for decisions. */
  client = "unknown";

  get<T>(slot: Slot<T>): T {
    if (!this.#values.has(slot)) this.#values.set(slot, slot.initial());
    return this.#values.get(slot) as T;
  }

  set<T>(slot: Slot<T>, value: T): void {
    this.#values.set(slot, value);
  }
}
