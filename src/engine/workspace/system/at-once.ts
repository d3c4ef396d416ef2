// Flushes wait for the disk. File systems combine those that wait at the same time, so several at once take little
// longer than one.

/** Each holds a descriptor. */
const mostAtOnce = 16;

/** Runs an action for each item, several at a time. Rejects when one does; those that have begun go on. */
export async function eachAtOnce<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const work = async () => {
    for (const item of queue) await action(item);
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, items.length) }, work));
}
