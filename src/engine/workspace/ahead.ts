// Processes many items concurrently and yields the results in order: a bounded number is in progress, and the
// consumer takes one result at a time, so it can keep an exact total.

/** Results of `work` in order; at most `limit` are started and not yet taken. The consumer stops by breaking out. */
export async function* inOrder<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const running: Promise<R>[] = [];
  let next = 0;
  try {
    while (next < items.length || running.length > 0) {
      while (next < items.length && running.length < limit) running.push(work(items[next++] as T));
      const first = running.shift();
      if (first !== undefined) yield await first;
    }
  } finally {
    await Promise.allSettled(running);
  }
}
