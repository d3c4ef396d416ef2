// Which lines differ between two texts. Small differences are found exactly (Myers' greedy algorithm); large ones
// are first cut at lines that stand once in both (patience), and what is left beyond a bound counts as replaced:
// the answer is then longer than it could be, never wrong, and never slow.

/** Lines [aStart, aEnd) of the first text became [bStart, bEnd) of the second. Counted from 0. */
export interface LineChange {
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
}

/** Lines with their endings; a text without a final break ends in a line without one. */
export function linesWithEndings(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", start)) {
    lines.push(text.slice(start, at + 1));
    start = at + 1;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

export function diffLines(a: readonly string[], b: readonly string[]): LineChange[] {
  const few = fewChanges(a, b);
  if (few !== undefined) return joined(few);
  const numbers = new Map<string, number>();
  const number = (line: string) => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const changes: LineChange[] = [];
  compare(Uint32Array.from(a, number), Uint32Array.from(b, number), 0, 0, changes, true);
  return joined(changes);
}

/** Most comparisons are of an edit with what it was: a few changes are found without looking at every line twice. */
function fewChanges(a: readonly string[], b: readonly string[]): LineChange[] | undefined {
  const changes: LineChange[] = [];
  return myers(a, b, 0, 0, quick, changes) ? changes : undefined;
}

const quick = 300;
const thorough = 800;

function compare(
  a: Uint32Array,
  b: Uint32Array,
  aAt: number,
  bAt: number,
  out: LineChange[],
  split: boolean,
): void {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const left = a.subarray(head, a.length - tail);
  const right = b.subarray(head, b.length - tail);
  const [leftAt, rightAt] = [aAt + head, bAt + head];
  if (left.length === 0 && right.length === 0) return;
  const whole = { aStart: leftAt, aEnd: leftAt + left.length, bStart: rightAt, bEnd: rightAt + right.length };
  if (left.length === 0 || right.length === 0) {
    out.push(whole);
    return;
  }
  if (myers(left, right, leftAt, rightAt, split ? quick : thorough, out)) return;
  const anchors = split ? uniqueLines(left, right) : [];
  if (anchors.length === 0) {
    if (!split || !myers(left, right, leftAt, rightAt, thorough, out)) out.push(whole);
    return;
  }
  let [i, j] = [0, 0];
  for (const [x, y] of [...anchors, [left.length, right.length] as const]) {
    compare(left.subarray(i, x), right.subarray(j, y), leftAt + i, rightAt + j, out, x - i < left.length / 2);
    [i, j] = [x, y];
  }
}

/** Myers' greedy comparison, with at most so many lines added and removed. False, and nothing found, beyond that. */
function myers(
  a: ArrayLike<string | number>,
  b: ArrayLike<string | number>,
  aAt: number,
  bAt: number,
  most: number,
  out: LineChange[],
): boolean {
  const limit = Math.min(most, a.length + b.length);
  if (Math.abs(a.length - b.length) > limit) return false;
  const offset = limit + 1;
  const reach = new Int32Array(2 * offset + 1);
  const trace: Int32Array[] = [];
  // Where everything is alike, every diagonal is long: enough of them, and it is no small difference.
  let work = 4 * (a.length + b.length) + 100_000;
  for (let d = 0; d <= limit; d++) {
    trace.push(reach.slice(offset - d, offset + d + 1));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && (reach[offset + k - 1] ?? 0) < (reach[offset + k + 1] ?? 0));
      let x = down ? (reach[offset + k + 1] ?? 0) : (reach[offset + k - 1] ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x += 1;
        y += 1;
        work -= 1;
      }
      if (work < 0) return false;
      reach[offset + k] = x;
      if (x >= a.length && y >= b.length) {
        out.push(...walkBack(trace, a.length, b.length, aAt, bAt));
        return true;
      }
    }
  }
  return false;
}

function walkBack(
  trace: readonly Int32Array[],
  x: number,
  y: number,
  aAt: number,
  bAt: number,
): LineChange[] {
  const steps: LineChange[] = [];
  for (let d = trace.length - 1; d > 0; d--) {
    // trace[d] holds what was reached with d - 1 steps, from diagonal -d to d.
    const reach = (k: number) => trace[d]?.[k + d] ?? 0;
    const k = x - y;
    const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const fromX = down ? reach(k + 1) : reach(k - 1);
    const fromY = fromX - (down ? k + 1 : k - 1);
    const [toX, toY] = down ? [fromX, fromY + 1] : [fromX + 1, fromY];
    steps.push({ aStart: aAt + fromX, aEnd: aAt + toX, bStart: bAt + fromY, bEnd: bAt + toY });
    [x, y] = [fromX, fromY];
  }
  return steps.reverse();
}

/** Lines that stand exactly once in both, in the longest order that both share. */
function uniqueLines(a: Uint32Array, b: Uint32Array): (readonly [number, number])[] {
  const once = (lines: Uint32Array) => {
    const places = new Map<number, number>();
    lines.forEach((line, at) => {
      places.set(line, places.has(line) ? -1 : at);
    });
    return places;
  };
  const inB = once(b);
  const pairs: (readonly [number, number])[] = [];
  for (const [line, x] of once(a)) {
    const y = inB.get(line);
    if (x >= 0 && y !== undefined && y >= 0) pairs.push([x, y]);
  }
  pairs.sort((p, q) => p[0] - q[0]);
  return longestRise(pairs);
}

function longestRise(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const tops: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, y], at) => {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[tops[middle] ?? 0]?.[1] ?? 0) < y) low = middle + 1;
      else high = middle;
    }
    before[at] = low > 0 ? (tops[low - 1] ?? -1) : -1;
    tops[low] = at;
  });
  const rise: (readonly [number, number])[] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) rise.push(pair);
  }
  return rise.reverse();
}

/** Changes that touch, as one. */
function joined(changes: readonly LineChange[]): LineChange[] {
  const result: LineChange[] = [];
  for (const change of changes) {
    const last = result.at(-1);
    if (last !== undefined && last.aEnd === change.aStart && last.bEnd === change.bStart) {
      result[result.length - 1] = { ...last, aEnd: change.aEnd, bEnd: change.bEnd };
    } else result.push(change);
  }
  return result;
}
