// Parses a text in slices, so that a short text does not wait for a long one, and within a limit of processor time.
// A parser that is interrupted may recover from errors in another way afterwards, so the slices are counted in steps of
// the parser: with slices of a certain time, the errors of one text would differ from run to run.
import type { Parser, Tree } from "web-tree-sitter";
import { unoptimized } from "./load.ts";

/** About 2 ms where the text parses; where hardly anything does, a step may take a hundred times as long. */
const sliceSteps = 20;
/** Other requests have a turn after this time. */
const turnMs = 10;

export interface SlicedParse {
  readonly text: string;
  readonly maxMs: number;
  /** Called after each slice, with the processor time spent so far. */
  readonly spent?: ((ms: number) => void) | undefined;
}

/** Undefined if it takes more than `maxMs`. */
export async function treeOf(
  parser: Parser,
  { text, maxMs, spent }: SlicedParse,
  base: Tree | null,
): Promise<Tree | undefined> {
  let all = 0;
  let turn = 0;
  for (;;) {
    const elapsed = stopwatch();
    let steps = 0;
    const slice = { progressCallback: () => ++steps > sliceSteps };
    const tree = unoptimized(() => parser.parse(text, base, slice));
    if (tree !== null) return tree;
    const ms = elapsed();
    all += ms;
    turn += ms;
    spent?.(all);
    if (all > maxMs) return undefined;
    if (turn < turnMs) continue;
    turn = 0;
    await new Promise(resolve => setImmediate(resolve));
  }
}

/**
 * Processor time of this thread, in milliseconds, which Node does not tell: at most that of the process, and at most
 * the time on the clock.
 */
function stopwatch(): () => number {
  const start = performance.now();
  const used = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(used);
    return Math.min(performance.now() - start, (user + system) / 1000);
  };
}
