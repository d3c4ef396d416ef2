// Runs ripgrep searches one at a time. Each uses every core: a hundred at once would starve this process, and not
// even a ping would be answered. The wait is bounded, so a hanging search does not block those behind it.
import { availableParallelism } from "node:os";

export const searchesAtATime = Math.max(4, availableParallelism());
const longestWaitMs = 10_000;

let running = 0;
const waiting = new Set<() => void>();

/** Resolves when it is the caller's turn, or after `ms`. The turn lasts until it is disposed of. */
export async function turn(ms: number, signal?: AbortSignal): Promise<Disposable> {
  if (running < searchesAtATime || !(await handedOver(ms, signal))) running++;
  return { [Symbol.dispose]: pass };
}

/** Hands the turn to the caller that has waited longest. */
function pass(): void {
  const [next] = waiting;
  if (next === undefined || running > searchesAtATime) running--;
  else next();
}

/** False if the wait ended before a turn was passed on. */
function handedOver(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
  return new Promise(resolve => {
    const end = (handed: boolean): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
      waiting.delete(take);
      resolve(handed);
    };
    const take = (): void => end(true);
    const giveUp = (): void => end(false);
    const timer = setTimeout(giveUp, Math.max(0, Math.min(ms, longestWaitMs)));
    signal?.addEventListener("abort", giveUp, { once: true });
    waiting.add(take);
    if (signal?.aborted) giveUp();
  });
}
