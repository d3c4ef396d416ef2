// A value that comes from the server: not here yet, here, or failed. A reload keeps what is shown until the new value
// is there.
import { type Signal, signal } from "@preact/signals";
import { RequestError } from "./request.ts";

export type Loadable<T> =
  | { readonly state: "loading" }
  | { readonly state: "ready"; readonly value: T }
  | { readonly state: "failed"; readonly code: string; readonly message: string };

export class Loaded<T> {
  readonly current: Signal<Loadable<T>> = signal({ state: "loading" });
  #running: AbortController | undefined;

  get value(): T | undefined {
    const { value: now } = this.current;
    return now.state === "ready" ? now.value : undefined;
  }

  set value(value: T) {
    this.current.value = { state: "ready", value };
  }

  /** The latest load wins. A reload that fails leaves the value that is there. */
  async load(fetch: (signal: AbortSignal) => Promise<T>, { keep = false } = {}): Promise<void> {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    if (!keep || this.value === undefined) this.current.value = { state: "loading" };
    try {
      const value = await fetch(running.signal);
      if (!running.signal.aborted) this.value = value;
    } catch (error) {
      if (running.signal.aborted || (keep && this.value !== undefined)) return;
      const code = error instanceof RequestError ? error.code : "failed";
      this.current.value = { state: "failed", code, message: messageOf(error) };
    }
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
