// Work for the end of the process. All of it shares one listener: a server with many workspaces would otherwise add one
// for each, and Node takes more than ten for a leak.
import { once } from "./once.ts";

const actions = new Set<() => void>();
const listen = once(() => {
  process.once("exit", () => {
    for (const action of actions) {
      try {
        action();
      } catch {
        // The others still have to run.
      }
    }
  });
});

/** Calls `action` when the process exits, unless `cancelAtExit` is called first. */
export function atExit(action: () => void): void {
  listen();
  actions.add(action);
}

export function cancelAtExit(action: () => void): void {
  actions.delete(action);
}
