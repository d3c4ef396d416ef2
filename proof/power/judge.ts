// What must be so after a power cut: every answered call is in the tree, as a whole, and in the history, in order; the
// one under way is there or not; nothing temporary is left; and each change can be undone, newest first.

import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import { type ServerUnderTest, told } from "../fault/server-under-test.ts";
import { changesIn, type Step } from "./session.ts";
import { difference, type Tree } from "./work.ts";

/** How many changes are undone. */
const depth = 8;

/** `answered` is the number of calls that were; one more may have been under way. */
export async function judge(
  wire: ProcessWire,
  server: ServerUnderTest,
  steps: readonly Step[],
  answered: number,
  underWay: (name: string) => boolean,
): Promise<void> {
  await told(wire, "list_directory", {});
  await removeLeftovers(wire, server, underWay);
  const listed = await told(wire, "list_changes", { limit: 200 });
  const ids = changesIn(listed);
  const reached = stepOf(server.tree(), steps, answered, ids);
  const expected = changesUntil(steps, reached);
  const shown = ids.slice(0, expected.length);
  if (shown.join() !== expected.map(({ change }) => change).join())
    throw new Error(
      `history lacks ${expected.filter(({ change }) => !ids.includes(change)).map(({ change, what }) => `${change} ${what}`)}: it shows ${shown.slice(0, 5)}, not ${expected.map(one => one.change).slice(0, 5)}`,
    );
  for (const { change, before, what } of expected.slice(0, depth)) {
    try {
      await told(wire, "undo", { change });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`undo of ${what}: ${message}`);
    }
    const found = difference(server.tree(), before);
    if (found !== undefined) throw new Error(`undo of ${what} led to ${found}`);
  }
}

/**
 * A temporary file may be left only by a call that was under way and had flushed nothing, not even its journal: then
 * it is not hidden.
 */
async function removeLeftovers(
  wire: ProcessWire,
  server: ServerUnderTest,
  underWay: (name: string) => boolean,
): Promise<void> {
  for (const path of Object.keys(server.tree()).filter(one => isTemporaryName(basename(one)))) {
    if (!underWay(basename(path))) throw new Error(`left behind: ${path}`);
    const listed = await told(wire, "list_directory", { path: dirname(path), ignored: true });
    if (!listed.includes(basename(path))) throw new Error(`left behind, and hidden: ${path}`);
    rmSync(join(server.root, path));
  }
}

/** The last step that has happened: the one answered last, the next, or one of those that were sent with the next. */
function stepOf(tree: Tree, steps: readonly Step[], answered: number, ids: readonly string[]): number {
  const next = steps[answered + 1];
  for (let at = next?.until ?? answered + 1; at > answered; at--) {
    const { change, what, tree: wanted } = steps[at] ?? {};
    if (change === undefined || wanted === undefined || !ids.includes(change)) continue;
    const found = difference(tree, wanted);
    if (found !== undefined) throw new Error(`history shows ${what}, which was under way, but ${found}`);
    return at;
  }
  const found = difference(tree, steps[answered]?.tree ?? {});
  if (found !== undefined)
    throw new Error(`after ${steps[answered]?.what}, with ${next?.what} under way: ${found}`);
  return answered;
}

interface Expected {
  readonly change: string;
  readonly what: string;
  readonly before: Tree;
}

/** Newest first. */
function changesUntil(steps: readonly Step[], last: number): Expected[] {
  const found: Expected[] = [];
  for (let i = last; i > 0; i--) {
    const { change, what } = steps[i] ?? {};
    if (change !== undefined && what !== undefined)
      found.push({ change, what, before: steps[i - 1]?.tree ?? {} });
  }
  return found;
}
