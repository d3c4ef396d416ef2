// Long computations in turns: a generator that yields now and then is run in slices, and other calls are served
// between them.
import { clock } from "../clock.ts";

/** Milliseconds that a slice may take. */
const slice = 12;

export async function inTurns<T>(
  steps: Generator<undefined, T, undefined>,
  signal?: AbortSignal,
): Promise<T> {
  let since = clock();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock() - since < slice) continue;
    await new Promise(resolve => setImmediate(resolve));
    signal?.throwIfAborted();
    since = clock();
  }
}
