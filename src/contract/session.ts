// What lives as long as a caller's connection: a place for the little state that some contracts need (a chosen
// workspace, running jobs). Each caller has its own; nothing in it can reach another's.

import { clock } from "../engine/clock.ts";
import type { Allowed } from "../engine/policy/approval.ts";

/** A connection may last for weeks; what was allowed for a task does not. */
const longestAllowedMs = 8 * 3_600_000;

/** A typed slot in a session. `initial` makes its first value, `end` disposes of the last one. */
export interface Slot<T> {
  readonly initial: () => T;
  end?(value: T): void;
}

/** What tools remember between the calls of one conversation. Dispose of it when the conversation ends. */
export class Session implements Disposable {
  readonly #values = new Map<Slot<unknown>, unknown>();
  /** Whether the session outlives the call. If not, keeping state is pointless. */
  readonly lasting: boolean;
  /** The caller, as the client names itself: for history and audit, never for decisions. */
  client = "unknown";
  /** Tells this connection from others of the same client, and when it began. */
  readonly connection = Math.random().toString(36).slice(2, 8).padEnd(6, "0");
  readonly started = Date.now();
  readonly #began = clock();
  #allowed: readonly { readonly what: Allowed; readonly until: number }[] = [];

  constructor({ lasting = true }: { readonly lasting?: boolean } = {}) {
    this.lasting = lasting;
  }

  /** A time that no change since the start is before, even if the clock was set back meanwhile. */
  get startedByNow(): number {
    return Math.min(this.started, Math.floor(Date.now() - (clock() - this.#began)));
  }

  /** What a person has allowed for as long as the connection lasts. @internal */
  get allowed(): Allowed[] {
    const now = Date.now();
    return this.#allowed.filter(({ until }) => until > now).map(({ what }) => what);
  }

  /** @internal */
  allow(all: readonly Allowed[]): void {
    const until = Date.now() + longestAllowedMs;
    this.#allowed = [...this.#allowed, ...all.map(what => ({ what, until }))];
  }

  get<T>(slot: Slot<T>): T {
    if (!this.#values.has(slot)) this.#values.set(slot, slot.initial());
    return this.#values.get(slot) as T;
  }

  set<T>(slot: Slot<T>, value: T): void {
    this.#values.set(slot, value);
  }

  /** The caller has disconnected, and none of its calls runs. */
  [Symbol.dispose](): void {
    for (const [slot, value] of this.#values) slot.end?.(value);
    this.#values.clear();
  }
}
