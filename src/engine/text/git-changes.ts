// Which lines differ between two texts, decided as git decides: Myers' algorithm in linear space, after lines that
// cannot be part of a match are set aside, and then every change is moved as far down as it can go, or to where the
// other side has one. A merge needs exactly this choice: among repeated lines several are minimal, and people compare
// the outcome with git's. Costs are bounded; beyond the bound a split is good instead of the best.
import type { LineChange } from "./line-diff.ts";

/** How many steps to search for the best split; git starts to look for a good one there, too. */
const mostCost = 256;
/** How many lines to compare for one split. */
const mostCompared = 4_000_000;

/** One of the two texts: its lines as numbers, and which of them are changed. */
interface Side {
  readonly ids: Int32Array;
  readonly changed: Uint8Array;
}

export function gitChanges(a: readonly string[], b: readonly string[]): LineChange[] {
  const [left, right, kinds] = numbered(a, b);
  const [head, tail] = commonEnds(left.ids, right.ids);
  const counts = [occurrences(left.ids, kinds), occurrences(right.ids, kinds)] as const;
  const [ours, theirs] = [setAside(left, head, tail, counts[1]), setAside(right, head, tail, counts[0])];
  new GitComparison(left, right, ours, theirs).run();
  slide(left, right);
  slide(right, left);
  return script(left, right);
}

function numbered(a: readonly string[], b: readonly string[]): [Side, Side, number] {
  const numbers = new Map<string, number>();
  const sides: Side[] = [];
  for (const lines of [a, b]) {
    const ids = new Int32Array(lines.length);
    for (let i = 0; i < lines.length; i++) {
      const line = lines[i] ?? "";
      let id = numbers.get(line);
      if (id === undefined) {
        id = numbers.size;
        numbers.set(line, id);
      }
      ids[i] = id;
    }
    // One place more than there are lines, never changed: the end.
    sides.push({ ids, changed: new Uint8Array(lines.length + 1) });
  }
  const [left, right] = sides as [Side, Side];
  return [left, right, numbers.size];
}

function occurrences(ids: Int32Array, kinds: number): Int32Array {
  const counts = new Int32Array(kinds);
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

/** How many lines both begin with, and how many of the others both end with. */
function commonEnds(a: Int32Array, b: Int32Array): [number, number] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return [head, tail];
}

/** Git's quick root: a power of two near it. */
function roughRoot(count: number): number {
  let root = 1;
  for (let left = count; left > 0; left = Math.floor(left / 4)) root *= 2;
  return root;
}

const [unmatched, single, frequent] = [0, 1, 2];

/**
 * The lines that are compared at all. Lines that the other side lacks are changed in any case; so are, among many of
 * those, lines that the other side has very often, since such a match would only split a change.
 */
function setAside({ ids, changed }: Side, head: number, tail: number, inOther: Int32Array): Int32Array {
  const end = ids.length - tail;
  const often = Math.min(roughRoot(ids.length), 1024);
  const kind = Uint8Array.from(ids, id => {
    const count = inOther[id] ?? 0;
    return count === 0 ? unmatched : count >= often ? frequent : single;
  });
  const places: number[] = [];
  for (let i = head; i < end; i++) {
    if (kind[i] === single || (kind[i] === frequent && !isLost(kind, i, head, end - 1))) places.push(i);
    else changed[i] = 1;
  }
  return Int32Array.from(places);
}

/** Whether a frequent line is in a run of mostly unmatched lines. */
function isLost(kind: Uint8Array, at: number, first: number, last: number): boolean {
  const run = (step: number, limit: number) => {
    let [without, often] = [0, 1];
    for (let i = at + step; (limit - i) * step >= 0; i += step) {
      if (kind[i] === unmatched) without += 1;
      else if (kind[i] === frequent) often += 1;
      else break;
    }
    return { without, often };
  };
  const before = run(-1, Math.max(first, at - 100));
  if (before.without === 0) return false;
  const after = run(1, Math.min(last, at + 100));
  if (after.without === 0) return false;
  const often = before.often + after.often;
  return often * 4 < often + before.without + after.without;
}

class GitComparison {
  readonly #a: Int32Array;
  readonly #b: Int32Array;
  readonly #mark: (inA: boolean, from: number, to: number) => void;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** What makes an index of a diagonal, which may be negative. */
  readonly #zero: number;

  constructor(left: Side, right: Side, inLeft: Int32Array, inRight: Int32Array) {
    this.#a = inLeft.map(place => left.ids[place] ?? 0);
    this.#b = inRight.map(place => right.ids[place] ?? 0);
    this.#mark = (inA, from, to) => {
      const [{ changed }, places] = inA ? [left, inLeft] : [right, inRight];
      for (let i = from; i < to; i++) changed[places[i] ?? 0] = 1;
    };
    const size = this.#a.length + this.#b.length + 3;
    this.#forward = new Int32Array(size);
    this.#backward = new Int32Array(size);
    this.#zero = this.#b.length + 1;
  }

  run(): void {
    const boxes: [number, number, number, number][] = [[0, this.#a.length, 0, this.#b.length]];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let [a0, a1, b0, b1] = box;
      while (a0 < a1 && b0 < b1 && this.#a[a0] === this.#b[b0]) [a0, b0] = [a0 + 1, b0 + 1];
      while (a0 < a1 && b0 < b1 && this.#a[a1 - 1] === this.#b[b1 - 1]) [a1, b1] = [a1 - 1, b1 - 1];
      if (a0 === a1) this.#mark(false, b0, b1);
      else if (b0 === b1) this.#mark(true, a0, a1);
      else {
        const [x, y] = this.#split(a0, a1, b0, b1);
        boxes.push([x, a1, y, b1], [a0, x, b0, y]);
      }
    }
  }

  /** Where an optimal way through the box crosses its middle: found from both of its corners at once. */
  #split(a0: number, a1: number, b0: number, b1: number): [number, number] {
    const [a, b, zero] = [this.#a, this.#b, this.#zero];
    const [forward, backward] = [this.#forward, this.#backward];
    const [lowest, highest] = [a0 - b1, a1 - b0];
    const [start, end] = [a0 - b0, a1 - b1];
    const isOdd = ((start - end) & 1) !== 0;
    let [f0, f1, g0, g1] = [start, start, end, end];
    forward[zero + start] = a0;
    backward[zero + end] = a1;
    let compared = 0;
    for (let cost = 1; ; cost++) {
      if (f0 > lowest) forward[zero + --f0 - 1] = -1;
      else f0 += 1;
      if (f1 < highest) forward[zero + ++f1 + 1] = -1;
      else f1 -= 1;
      for (let d = f1; d >= f0; d -= 2) {
        const [below, above] = [forward[zero + d - 1] ?? 0, forward[zero + d + 1] ?? 0];
        let x = below >= above ? below + 1 : above;
        const from = x;
        while (x < a1 && x - d < b1 && a[x] === b[x - d]) x += 1;
        compared += x - from + 1;
        forward[zero + d] = x;
        if (isOdd && g0 <= d && d <= g1 && (backward[zero + d] ?? 0) <= x) return [x, x - d];
      }
      if (g0 > lowest) backward[zero + --g0 - 1] = 0x7fffffff;
      else g0 += 1;
      if (g1 < highest) backward[zero + ++g1 + 1] = 0x7fffffff;
      else g1 -= 1;
      for (let d = g1; d >= g0; d -= 2) {
        const [below, above] = [backward[zero + d - 1] ?? 0, backward[zero + d + 1] ?? 0];
        let x = below < above ? below : above - 1;
        const from = x;
        while (x > a0 && x - d > b0 && a[x - 1] === b[x - d - 1]) x -= 1;
        compared += from - x + 1;
        backward[zero + d] = x;
        if (!isOdd && f0 <= d && d <= f1 && x <= (forward[zero + d] ?? 0)) return [x, x - d];
      }
      if (cost >= mostCost || compared > mostCompared)
        return furthest(
          { a0, a1, b0, b1 },
          d => forward[zero + d] ?? 0,
          d => backward[zero + d] ?? 0,
          [f0, f1],
          [g0, g1],
        );
    }
  }
}

/** The end of the path that got furthest so far, from either corner. */
function furthest(
  { a0, a1, b0, b1 }: { a0: number; a1: number; b0: number; b1: number },
  forward: (d: number) => number,
  backward: (d: number) => number,
  [f0, f1]: readonly [number, number],
  [g0, g1]: readonly [number, number],
): [number, number] {
  let [best, bestX] = [-1, a0];
  for (let d = f1; d >= f0; d -= 2) {
    const x = Math.min(forward(d), a1, b1 + d);
    if (2 * x - d > best) [best, bestX] = [2 * x - d, x];
  }
  let [least, leastX] = [Number.POSITIVE_INFINITY, a1];
  for (let d = g1; d >= g0; d -= 2) {
    const x = Math.max(backward(d), a0, b0 + d);
    if (2 * x - d < least) [least, leastX] = [2 * x - d, x];
  }
  return a1 + b1 - least < best - (a0 + b0) ? [bestX, best - bestX] : [leastX, least - leastX];
}

/** A run of changed lines, or the empty one in front of an unchanged line. */
interface ChangedRun {
  start: number;
  end: number;
}

/**
 * Shifts the changes of one side along repeated lines: joins those that meet, then moves as far down as possible, or
 * up again to the last place where the other side changes at the same point.
 */
function slide(side: Side, otherSide: Side): void {
  const run = firstRun(side);
  const other = firstRun(otherSide);
  do {
    if (run.end > run.start) slideRun(side, run, otherSide, other);
  } while (nextRun(side, run) && nextRun(otherSide, other));
}

function slideRun(side: Side, run: ChangedRun, otherSide: Side, other: ChangedRun): void {
  let size: number;
  let highest: number;
  let meets: boolean;
  do {
    size = run.end - run.start;
    while (moveUp(side, run)) previousRun(otherSide, other);
    highest = run.end;
    meets = other.end > other.start;
    while (moveDown(side, run)) {
      nextRun(otherSide, other);
      meets ||= other.end > other.start;
    }
  } while (size !== run.end - run.start);
  if (run.end === highest || !meets) return;
  while (other.end === other.start) {
    moveUp(side, run);
    previousRun(otherSide, other);
  }
}

function firstRun({ changed }: Side): ChangedRun {
  const run = { start: 0, end: 0 };
  while (changed[run.end]) run.end += 1;
  return run;
}

function nextRun({ ids, changed }: Side, run: ChangedRun): boolean {
  if (run.end === ids.length) return false;
  run.start = run.end + 1;
  run.end = run.start;
  while (changed[run.end]) run.end += 1;
  return true;
}

function previousRun({ changed }: Side, run: ChangedRun): void {
  run.end = run.start - 1;
  run.start = run.end;
  while (changed[run.start - 1]) run.start -= 1;
}

function moveUp({ ids, changed }: Side, run: ChangedRun): boolean {
  if (run.start === 0 || ids[run.start - 1] !== ids[run.end - 1]) return false;
  changed[--run.start] = 1;
  changed[--run.end] = 0;
  while (changed[run.start - 1]) run.start -= 1;
  return true;
}

function moveDown({ ids, changed }: Side, run: ChangedRun): boolean {
  if (run.end >= ids.length || ids[run.start] !== ids[run.end]) return false;
  changed[run.start++] = 0;
  changed[run.end++] = 1;
  while (changed[run.end]) run.end += 1;
  return true;
}

function script(left: Side, right: Side): LineChange[] {
  const changes: LineChange[] = [];
  let [i, j] = [0, 0];
  while (i < left.ids.length || j < right.ids.length) {
    const [aStart, bStart] = [i, j];
    while (left.changed[i]) i += 1;
    while (right.changed[j]) j += 1;
    if (i > aStart || j > bStart) changes.push({ aStart, aEnd: i, bStart, bEnd: j });
    i += 1;
    j += 1;
  }
  return changes;
}
