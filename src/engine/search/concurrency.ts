// Searches with ripgrep take turns. Each of them uses every core: a hundred at once would leave this process a
// hundredth of one, and nobody would be answered meanwhile, not even a ping. Nobody waits for ever either, so that
// a search that hangs does not hold up those behind it.
import { availableParallelism } from "node:os";

export const searchesAtATime = Math.max(4, availableParallelism());
const longestWaitMs = 10_000;

let running = 0;
const waiting = new Set<() => void>();

/** Settles when it is the caller's turn, or after `ms` all the same. The turn lasts until it is disposed of. */
export async function turn(ms: number, signal?: AbortSignal): Promise<Disposable> {
  if (running < searchesAtATime || !(await handedOver(ms, signal))) running++;
  return { [Symbol.dispose]: pass };
}

/** Hands the turn to whoever waits longest. */
function pass(): void {
  const [next] = waiting;
  if (next === undefined || running > searchesAtATime) running--;
  else next();
}

/** False where the wait was over before anybody had passed a turn on. */
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
