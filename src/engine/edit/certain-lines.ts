// Which lines of a text are certainly in another one. Among repeated lines there are several shortest edit scripts; a
// pair of lines is certain if all of them keep it.

/** Cells of the table; two texts of 2,000 lines. */
const mostCells = 4_000_000;

/** For each line of `a` its position in `b`, or -1 if that is uncertain. Undefined for texts that are too long. */
export function certainLines(a: readonly string[], b: readonly string[]): Int32Array | undefined {
  const [n, m] = [a.length, b.length];
  const width = m + 1;
  if ((n + 1) * width > mostCells) return undefined;
  // The longest common subsequence of the lines before, and of those from, each pair of places.
  const before = new Uint16Array((n + 1) * width);
  const from = new Uint16Array((n + 1) * width);
  const at = (table: Uint16Array, i: number, j: number) => table[i * width + j] ?? 0;
  for (let i = 1; i <= n; i++)
    for (let j = 1; j <= m; j++)
      before[i * width + j] =
        a[i - 1] === b[j - 1]
          ? at(before, i - 1, j - 1) + 1
          : Math.max(at(before, i - 1, j), at(before, i, j - 1));
  for (let i = n - 1; i >= 0; i--)
    for (let j = m - 1; j >= 0; j--)
      from[i * width + j] =
        a[i] === b[j] ? at(from, i + 1, j + 1) + 1 : Math.max(at(from, i + 1, j), at(from, i, j + 1));
  const longest = at(before, n, m);
  // Each longest one has exactly one pair of each rank, so the only pair of a rank is in all of them.
  const pairs = new Int32Array(longest);
  const places = new Int32Array(n).fill(-1);
  const eachPair = (visit: (i: number, j: number, rank: number) => void) => {
    for (let i = 0; i < n; i++)
      for (let j = 0; j < m; j++)
        if (a[i] === b[j] && at(before, i, j) + 1 + at(from, i + 1, j + 1) === longest)
          visit(i, j, at(before, i, j));
  };
  eachPair((_i, _j, rank) => {
    pairs[rank] = (pairs[rank] ?? 0) + 1;
  });
  eachPair((i, j, rank) => {
    if (pairs[rank] === 1) places[i] = j;
  });
  return places;
}
