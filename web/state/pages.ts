// A list that comes in pages, newest first, and grows at its head while the page is open.
import { signal } from "@preact/signals";
import { type Loadable, messageOf } from "./loadable.ts";
import { RequestError } from "./request.ts";

export interface PageOfItems<T> {
  readonly items: readonly T[];
  readonly next?: string | undefined;
}

export class Pages<T extends { readonly id: string }> {
  readonly current = signal<Loadable<readonly T[]>>({ state: "loading" });
  /** Whether there is more to fetch. */
  readonly more = signal(false);
  readonly #fetch: (before: string | undefined, signal: AbortSignal) => Promise<PageOfItems<T>>;
  #next: string | undefined;
  #running: AbortController | undefined;

  constructor(fetch: (before: string | undefined, signal: AbortSignal) => Promise<PageOfItems<T>>) {
    this.#fetch = fetch;
  }

  get items(): readonly T[] {
    const { value } = this.current;
    return value.state === "ready" ? value.value : [];
  }

  /** From the start. With `keep`, the old content stays until the answer arrives. */
  async reload({ keep = false } = {}): Promise<void> {
    if (!keep) this.current.value = { state: "loading" };
    await this.#take(undefined);
  }

  async fetchMore(): Promise<void> {
    if (this.#next === undefined || this.#running !== undefined) return;
    await this.#take(this.#next);
  }

  /** Puts a new item at its place (ids ascend in time), or the new form of one that is there. */
  put(item: T): void {
    const { value } = this.current;
    if (value.state !== "ready") return;
    const items = value.value;
    const at = items.findIndex(({ id }) => id <= item.id);
    const next =
      at >= 0 && items[at]?.id === item.id
        ? items.with(at, item)
        : items.toSpliced(at < 0 ? items.length : at, 0, item);
    this.current.value = { state: "ready", value: next };
  }

  /** Puts an item at the head, wherever it was. */
  promote(item: T): void {
    const { value } = this.current;
    if (value.state !== "ready") return;
    this.current.value = { state: "ready", value: [item, ...value.value.filter(({ id }) => id !== item.id)] };
  }

  update(change: (item: T) => T): void {
    const { value } = this.current;
    if (value.state === "ready") this.current.value = { state: "ready", value: value.value.map(change) };
  }

  async #take(before: string | undefined): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const { items, next } = await this.#fetch(before, running.signal);
      if (running.signal.aborted) return;
      this.#next = next;
      this.more.value = next !== undefined;
      const known = before === undefined ? [] : this.items;
      this.current.value = { state: "ready", value: [...known, ...items] };
    } catch (error) {
      if (running.signal.aborted) return;
      const code = error instanceof RequestError ? error.code : "failed";
      if (this.items.length === 0) this.current.value = { state: "failed", code, message: messageOf(error) };
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }
}
