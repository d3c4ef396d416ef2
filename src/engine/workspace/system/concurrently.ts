// Runs an asynchronous action for many items, several at a time. Made for flushes: file systems combine those that wait
// at the same time, so several take little longer than one.

/** Each holds a descriptor. */
const mostRunning = 16;

/** Rejects when one action does; those that have begun go on. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  action: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const work = async () => {
    for (const item of queue) await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(mostRunning, items.length) }, work));
}
