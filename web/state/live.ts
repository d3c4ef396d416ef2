// Server-sent events: the server reports to the page what happens. A browser reconnects by itself and gets what it
// missed; where it gave up, the page tries again.
import { signal } from "@preact/signals";
import type { Events } from "../../src/review/api.ts";

export type LiveState = "connecting" | "live" | "lost";

export const live = signal<LiveState>("connecting");

type Handlers = { readonly [name in keyof Events]: (data: Events[name]) => void };

const retryMs = 3_000;

export function listen(handlers: Handlers): void {
  const source = new EventSource("api/events");
  source.onopen = () => {
    live.value = "live";
  };
  source.onerror = () => {
    live.value = "lost";
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => listenAgain(handlers), retryMs);
  };
  for (const name of Object.keys(handlers) as (keyof Events)[]) {
    const handle = handlers[name] as (data: unknown) => void;
    source.addEventListener(name, ({ data }: MessageEvent<string>) => handle(JSON.parse(data)));
  }
}

function listenAgain(handlers: Handlers): void {
  handlers.resync({});
  listen(handlers);
}
