// The start of a line. Code in one line, as minifiers write it, must not be scanned from its start for every symbol.

const farthest = 500;

/** Where the line of an offset begins. In a line that is longer than any reader's, the offset itself. */
export function lineStart(text: string, at: number): number {
  const from = Math.max(0, at - farthest);
  const before = text.slice(from, at);
  const found = before.lastIndexOf("\n");
  if (found < 0 && from > 0) return at;
  return from + found + 1;
}
