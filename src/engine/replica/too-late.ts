// Waiting with a limit.
import { setTimeout } from "node:timers/promises";

/** Resolves with the action, or after this time, upon which `late` is called. The action goes on then. */
export async function orTooLate(action: Promise<void>, ms: number, late: () => void): Promise<void> {
  const done = new AbortController();
  const tooLate = setTimeout(ms, undefined, { signal: done.signal, ref: false }).then(late, () => {});
  try {
    await Promise.race([action, tooLate]);
  } finally {
    done.abort();
  }
}
