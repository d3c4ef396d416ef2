// The events that pages get as they happen. The latest events are kept, so that a page that was disconnected for a moment
// gets what it missed.
import { randomBytes } from "node:crypto";
import type { Events } from "./api.ts";

export type Event = {
  [K in keyof Events]: { readonly name: K; readonly data: Events[K] };
}[keyof Events];

interface KeptEvent {
  readonly number: number;
  readonly event: Event;
}

export type Listener = (id: string, event: Event) => void;

const mostKept = 2000;

export class EventStream {
  /** Tells this process from the one before it, whose numbers began at 1, too. */
  readonly #run = randomBytes(4).toString("hex");
  readonly #listeners = new Set<Listener>();
  #kept: KeptEvent[] = [];
  #last = 0;

  get listeners(): number {
    return this.#listeners.size;
  }

  send(event: Event): void {
    this.#last++;
    this.#kept.push({ number: this.#last, event });
    if (this.#kept.length > mostKept * 1.5) this.#kept = this.#kept.slice(-mostKept);
    const id = `${this.#run}-${this.#last}`;
    for (const listener of this.#listeners) listener(id, event);
  }

  /** Tells `listener` what came after the event `since`, and all that comes. Returns how to stop it. */
  listen(listener: Listener, since: string | undefined): () => void {
    if (since !== undefined) this.#catchUp(listener, since);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #catchUp(listener: Listener, since: string): void {
    const [, run, number] = /^([0-9a-f]+)-(\d{1,15})$/.exec(since) ?? [];
    const missed = this.#kept.filter(one => one.number > Number(number));
    const isWhole = run === this.#run && Number(number) + missed.length === this.#last;
    if (!isWhole) return void listener(`${this.#run}-${this.#last}`, { name: "resync", data: {} });
    for (const { number: at, event } of missed) listener(`${this.#run}-${at}`, event);
  }
}
