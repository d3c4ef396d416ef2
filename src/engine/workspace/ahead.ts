// Work on many things at a time, given in the order of the things: a bounded number is under way, and the
// consumer, who takes one result after the other, can keep a total exact however the work overlaps.

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
