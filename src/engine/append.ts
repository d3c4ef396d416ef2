// Adds many elements to a list. `list.push(...items)` passes them as arguments, and fails with "Maximum call stack size
// exceeded" from about 120,000: a large file has more lines than that, and a large directory more entries.

export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
