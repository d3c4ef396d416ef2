// Which lines differ between two texts. Small differences are found exactly (Myers' greedy algorithm); large ones are
// first cut at lines that occur once in both (patience), and the rest beyond a bound counts as replaced: the result
// is then longer than necessary, never wrong, and never slow.
import { numberLines } from "./numbered-lines.ts";

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

/** The same of a text whose lines end with a carriage return. */
export function linesWithReturns(text: string): string[] {
  return linesWithEndings(text.replaceAll("\r", "\n")).map(line => line.replace("\n", "\r"));
}

/** The lines of two texts that differ. */
export function diffLines(before: string, after: string): LineChange[] {
  const { a, b, kinds } = numberLines(before, after);
  return diffIds(a.ids, b.ids, kinds);
}

/** The same of numbered lines. */
export function diffIds(a: Uint32Array, b: Uint32Array, kinds: number): LineChange[] {
  const changes: LineChange[] = [];
  // Most comparisons are of an edit with its original: a few changes are found without anchors.
  if (!myers(a, b, 0, 0, quick, changes)) compare(a, b, 0, 0, changes, true, new Occurrences(kinds));
  return joined(changes);
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
  occurrences: Occurrences,
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
  const anchors = split ? uniqueLines(left, right, occurrences) : none;
  if (anchors.xs.length === 0) {
    if (!split || !myers(left, right, leftAt, rightAt, thorough, out)) out.push(whole);
    return;
  }
  let [i, j] = [0, 0];
  for (let n = 0; n <= anchors.xs.length; n++) {
    const [x, y] = [anchors.xs[n] ?? left.length, anchors.ys[n] ?? right.length];
    const isPart = x - i < left.length / 2;
    const [one, other] = [left.subarray(i, x), right.subarray(j, y)];
    compare(one, other, leftAt + i, rightAt + j, out, isPart, occurrences);
    [i, j] = [x, y];
  }
}

/** Myers' greedy comparison, with at most this many lines added and removed. False, with no result, beyond that. */
function myers(
  a: Uint32Array,
  b: Uint32Array,
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
  // If all lines are equal, every diagonal is long: after enough of them, the difference is not small.
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
        for (const step of walkBack(trace, a.length, b.length, aAt, bAt)) out.push(step);
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
    // trace[d] holds the positions reached with d - 1 steps, from diagonal -d to d.
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

/** Pairs of places, in the order of both texts. */
interface Anchors {
  readonly xs: Uint32Array;
  readonly ys: Uint32Array;
}

const none: Anchors = { xs: new Uint32Array(0), ys: new Uint32Array(0) };

/** Room to count lines in, by their numbers. Made once for all parts of two texts, and clean between them. */
class Occurrences {
  readonly inA: Uint8Array;
  readonly inB: Uint8Array;
  readonly place: Uint32Array;

  constructor(kinds: number) {
    this.inA = new Uint8Array(kinds);
    this.inB = new Uint8Array(kinds);
    this.place = new Uint32Array(kinds);
  }
}

/** Lines that occur exactly once in both, in the longest order that both share. */
function uniqueLines(a: Uint32Array, b: Uint32Array, { inA, inB, place }: Occurrences): Anchors {
  for (const id of a) inA[id] = Math.min(2, (inA[id] ?? 0) + 1);
  for (let i = 0; i < b.length; i++) {
    const id = b[i] ?? 0;
    inB[id] = Math.min(2, (inB[id] ?? 0) + 1);
    place[id] = i;
  }
  const isAnchor = (id: number) => inA[id] === 1 && inB[id] === 1;
  let count = 0;
  for (const id of a) if (isAnchor(id)) count += 1;
  const [xs, ys] = [new Uint32Array(count), new Uint32Array(count)];
  let at = 0;
  for (let i = 0; i < a.length; i++) {
    const id = a[i] ?? 0;
    if (!isAnchor(id)) continue;
    xs[at] = i;
    ys[at++] = place[id] ?? 0;
  }
  for (const id of a) inA[id] = 0;
  for (const id of b) inB[id] = 0;
  return longestRise(xs, ys);
}

function longestRise(xs: Uint32Array, ys: Uint32Array): Anchors {
  const tops = new Int32Array(ys.length);
  const before = new Int32Array(ys.length);
  let length = 0;
  for (let at = 0; at < ys.length; at++) {
    const y = ys[at] ?? 0;
    let low = 0;
    let high = length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ys[tops[middle] ?? 0] ?? 0) < y) low = middle + 1;
      else high = middle;
    }
    before[at] = low > 0 ? (tops[low - 1] ?? -1) : -1;
    tops[low] = at;
    if (low === length) length += 1;
  }
  const rise = { xs: new Uint32Array(length), ys: new Uint32Array(length) };
  let at = length > 0 ? (tops[length - 1] ?? -1) : -1;
  for (let i = length - 1; i >= 0; i--) {
    rise.xs[i] = xs[at] ?? 0;
    rise.ys[i] = ys[at] ?? 0;
    at = before[at] ?? -1;
  }
  return rise;
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
