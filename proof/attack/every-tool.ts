// Every path of the table, in every place of every tool of a dialect.
import type { Tool } from "../../src/contract/tool.ts";
import type { Trial } from "../suite.ts";
import { type Carrier, carriersOf } from "./carriers.ts";
import { type PathCase, pathCases } from "./paths.ts";
import { failed, type Target } from "./target.ts";

interface Extent {
  /** How the calls travel, for the names of failures. */
  readonly by?: string;
  /** The share of the deciding calls that is made. */
  readonly part?: number;
  readonly cases?: readonly PathCase[];
}

export async function attackEveryTool(
  target: Target,
  { tally, long, chance }: Trial,
  { by = "stdio", part = 1, cases: all = pathCases }: Extent = {},
): Promise<void> {
  const { dialect, arena } = target;
  const cases = all.filter(({ id }) => tally.wants(id));
  for (const tool of dialect.tools) {
    for (const carrier of carriersOf(tool, target.spelling)) {
      if (part < 1 && !carrier.decides) continue;
      for (const one of cases) {
        const spellings = [one.path(arena)].flat();
        // The short form tries everything where a path is expected, and chooses where none is.
        const share = long || isPlain(carrier) ? part : 0.1;
        for (const path of spellings) {
          if (chance.next() >= share) continue;
          const way = `${by} ${dialect.name} ${tool.name} ${carrier.name} ${JSON.stringify(path).slice(0, 120)}`;
          await tally.attempt(`${one.id} (${one.story}) ${way}`, () =>
            attempt(target, tool, carrier, one, path),
          );
        }
      }
    }
  }
}

/** A path where one is expected, without further options. */
function isPlain({ decides, name }: Carrier): boolean {
  return decides && !name.includes(", ");
}

async function attempt(
  target: Target,
  tool: Tool,
  carrier: Carrier,
  one: PathCase,
  path: string,
): Promise<void> {
  const answer = await target.call(tool.name, carrier.args(path));
  await target.inspect(answer);
  if (tool.name === "set_workspace") await target.prepare();
  const strict = one.refused === "everywhere" && !asTheOriginal(target, one);
  // History knows names that are gone, so asking it for one is not a mistake.
  const reading = one.refused !== "never" && tool.effect === "reads" && tool.name !== "list_changes";
  // A dry run does not check the length of a path.
  const rehearsed = carrier.name.endsWith("dry_run") && one.id === "A023";
  if ((strict || reading) && !rehearsed && carrier.decides && !failed(answer))
    throw new Error(`was accepted: ${JSON.stringify(answer).slice(0, 300)}`);
}

/** One dialect behaves like the server that it replaces: there, a URI is a name like any other. */
function asTheOriginal({ dialect }: Target, { id }: PathCase): boolean {
  return dialect.name === "reference" && /^A01[23]/.test(id);
}
