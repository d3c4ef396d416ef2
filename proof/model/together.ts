// Several changes at once, from several connections: the result must be that of some order.
import { setTimeout as pause } from "node:timers/promises";
import type { Call } from "./calls.ts";
import { after } from "./expect.ts";
import type { Changing } from "./operation.ts";
import { differences, Refused, type Tree } from "./tree.ts";
import { codeOf, outcome, type World } from "./world.ts";

/** How the calls are sent. */
interface Timing {
  /** The first one is answered before the others are sent: what it wrote is not flushed yet. */
  readonly first: "at once" | "before";
  /** Between one call and the next, in milliseconds. */
  readonly apart: number;
}

export async function together(
  world: World,
  operations: readonly Changing[],
  via: number,
  { first, apart }: Timing = { first: "at once", apart: 0 },
): Promise<void> {
  const before = world.tree;
  const calls = operations.map((operation, i) => world.callFor(operation, via + i));
  const send = async (i: number, ms: number) => {
    if (ms > 0) await pause(ms);
    return world.send(world.client(via + i), calls[i] as Call);
  };
  const lead = first === "before" ? [await send(0, 0)] : [];
  world.log.push("at once:");
  const rest = calls.slice(lead.length).map((_, i) => send(lead.length + i, i * apart));
  const answers = [...lead, ...(await Promise.all(rest))];
  const outcomes = answers.map(answer => (answer.failed ? codeOf(answer) : "done"));
  const orders = permutations(operations.map((_, i) => i)).flatMap(order => {
    const trees = inOrder(before, operations, outcomes, order);
    return trees === undefined ? [] : [{ order, trees }];
  });
  const fitting = await settled(world, orders);
  const now = world.disk();
  const alike = orders.some(
    ({ trees }) => differences(composed(trees.at(-1) ?? before), composed(now)).length === 0,
  );
  if (fitting.length === 0 && !alike)
    throw new Error(
      `no order gives these answers and this tree: ${outcomes}; ${orders.length} orders give the answers` +
        orders
          .map(({ trees }) => `\n  ${differences(trees.at(-1) ?? before, world.disk()).join(", ")}`)
          .join(""),
    );
  const listed = await world.recorded(world.client(via), operations.length);
  const told = listed.toReversed();
  if (fitting.length === 0) {
    // A name that was found in one Unicode form and is made anew in that form: which it is depends on the moment.
    world.tree = now;
    for (const { id } of told) world.changes.push({ id, before, after: now, open: true });
    return;
  }
  const tellings = fitting.flatMap(({ order, trees }) => {
    const effective = order.flatMap((operation, i) => {
      const [from, to] = [trees[i] ?? before, trees[i + 1] ?? before];
      return differences(from, to).length === 0 ? [] : [{ tool: calls[operation]?.tool, from, to }];
    });
    const tools = effective.map(({ tool }) => tool);
    if (`${tools.toSorted()}` !== `${told.map(({ tool }) => tool).toSorted()}`) return [];
    return [{ effective, last: trees.at(-1) ?? before }];
  });
  const listing = told.map(({ text }) => text).join("\n");
  if (tellings.length === 0) throw new Error(`the history tells something else: ${listing}`);
  // Changes that have nothing to do with each other may be made in any order, so theirs fits, too.
  const [telling, ...more] = tellings.filter(({ effective }) =>
    effective.every(({ tool }, k) => tool === told[k]?.tool),
  );
  if (telling === undefined)
    throw new Error(`the history has another order than the changes were made in: ${listing}`);
  world.tree = telling.last;
  // Where several orders fit, the changes cannot be distinguished.
  const open = more.length > 0;
  for (const [i, { from, to }] of telling.effective.entries()) {
    const id = told[i]?.id ?? "";
    world.changes.push(open ? { id, before, after: world.tree, open } : { id, before: from, after: to });
  }
}

function composed(tree: Tree): Tree {
  return new Map([...tree].map(([path, node]) => [path.normalize("NFC"), node]));
}

interface Order {
  readonly order: readonly number[];
  readonly trees: readonly Tree[];
}

/** The orders whose last tree is the one on the disk. */
async function settled(world: World, orders: readonly Order[]): Promise<Order[]> {
  for (let round = 0; ; round++) {
    const now = world.disk();
    const fitting = orders.filter(({ trees }) => differences(trees.at(-1) ?? world.tree, now).length === 0);
    if (fitting.length > 0 || round === 100) return fitting;
    await pause(30);
  }
}

/** The trees on the way, where the operations in this order have these outcomes. */
function inOrder(
  before: Tree,
  operations: readonly Changing[],
  outcomes: readonly string[],
  order: readonly number[],
): Tree[] | undefined {
  const trees = [before];
  for (const i of order) {
    const operation = operations[i];
    const tree = trees.at(-1) ?? before;
    if (operation === undefined) return undefined;
    const result = outcome(() => after(tree, operation, false));
    const got = outcomes[i] ?? "";
    if (result instanceof Refused) {
      if (!result.codes.includes(got)) return undefined;
      trees.push(tree);
    } else if (result instanceof Error || got !== "done") return undefined;
    else trees.push(differences(tree, result).length === 0 ? tree : result);
  }
  return trees;
}

function permutations(list: readonly number[]): number[][] {
  if (list.length <= 1) return [[...list]];
  return list.flatMap(first => permutations(list.filter(one => one !== first)).map(rest => [first, ...rest]));
}
