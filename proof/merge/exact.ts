// What a merge of known hunks has to give, by trying everything: each shortest way from the base to the other text says
// which lines were changed there, and each of them gives one outcome. Slow, short and simple.

/** Lines [start, end) of the base became `lines`. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

export const refused = Symbol("refused");
export type Outcome = string | typeof refused;

export interface Possible {
  readonly outcomes: ReadonlySet<Outcome>;
  readonly mayRefuse: boolean;
}

/**
 * All outcomes; there are several where repeated lines leave open what was changed. What may or may not be the same
 * change can be refused, too, and so can a hunk next to a line whose place in the other text is open. Undefined if there
 * are too many ways.
 */
export function outcomes(
  base: readonly string[],
  ours: readonly Hunk[],
  theirs: readonly string[],
): Possible | undefined {
  const found = new Set<Outcome>();
  let ways = 0;
  let same = false;
  const places = base.map(() => new Set<number>());
  for (const way of alignments(base, theirs)) {
    if (++ways > 3000) return undefined;
    const kept = new Map(way);
    places.forEach((seen, line) => void seen.add(kept.get(line) ?? -1));
    const one = outcome(base, ours, theirs, way);
    found.add(one.outcome);
    same ||= one.same;
  }
  const isOpen = (line: number) => (places[line]?.size ?? 1) > 1;
  const isNextToOpen = ours.some(hunk => isOpen(hunk.start - 1) || isOpen(hunk.end));
  return { outcomes: found, mayRefuse: found.size > 1 || (same && ways > 1) || isNextToOpen };
}

type Pair = readonly [number, number];

/** Every longest list of pairs of equal lines. */
function* alignments(a: readonly string[], b: readonly string[]): Generator<Pair[]> {
  const longest = (i: number, j: number): number => {
    const key = i * (b.length + 1) + j;
    const known = table.get(key);
    if (known !== undefined) return known;
    const found =
      i === a.length || j === b.length
        ? 0
        : Math.max(longest(i + 1, j), longest(i, j + 1), a[i] === b[j] ? 1 + longest(i + 1, j + 1) : 0);
    table.set(key, found);
    return found;
  };
  const table = new Map<number, number>();
  function* from(i: number, j: number): Generator<Pair[]> {
    const left = longest(i, j);
    if (left === 0) {
      yield [];
      return;
    }
    for (let x = i; x < a.length; x++)
      for (let y = j; y < b.length; y++)
        if (a[x] === b[y] && 1 + longest(x + 1, y + 1) === left)
          for (const rest of from(x + 1, y + 1)) yield [[x, y], ...rest];
  }
  yield* from(0, 0);
}

function outcome(
  base: readonly string[],
  ours: readonly Hunk[],
  theirs: readonly string[],
  way: readonly Pair[],
): { readonly outcome: Outcome; readonly same: boolean } {
  const changes: Hunk[] = [];
  let [i, j] = [0, 0];
  for (const [x, y] of [...way, [base.length, theirs.length] as const]) {
    if (x > i || y > j) changes.push({ start: i, end: x, lines: theirs.slice(j, y) });
    [i, j] = [x + 1, y + 1];
  }
  const all = [
    ...ours.map(hunk => ({ ...hunk, mine: true })),
    ...changes.map(hunk => ({ ...hunk, mine: false })),
  ];
  all.sort((p, q) => p.start - q.start || p.end - q.end);
  let text = "";
  let at = 0;
  let same = false;
  while (all.length > 0) {
    const group = all.splice(0, 1);
    let end = group[0]?.end ?? 0;
    for (let next = all[0]; next !== undefined && next.start <= end; next = all[0]) {
      group.push(...all.splice(0, 1));
      end = Math.max(end, next.end);
    }
    const start = group[0]?.start ?? 0;
    const sides = [true, false].map(mine =>
      applied(
        base,
        start,
        end,
        group.filter(hunk => hunk.mine === mine),
      ),
    );
    const isMixed = group.some(hunk => hunk.mine) && group.some(hunk => !hunk.mine);
    if (isMixed && sides[0] !== sides[1]) return { outcome: refused, same };
    same ||= isMixed;
    text += base.slice(at, start).join("") + (group[0]?.mine ? sides[0] : sides[1]);
    at = end;
  }
  return { outcome: text + base.slice(at).join(""), same };
}

function applied(base: readonly string[], start: number, end: number, hunks: readonly Hunk[]): string {
  let text = "";
  let at = start;
  for (const hunk of hunks) {
    text += base.slice(at, hunk.start).join("") + hunk.lines.join("");
    at = hunk.end;
  }
  return text + base.slice(at, end).join("");
}
