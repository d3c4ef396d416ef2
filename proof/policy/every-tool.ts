// Every tool of a dialect, with every path that a rule concerns, in every spelling and every place for a path.
import { carriersOf } from "../attack/carriers.ts";
import type { Trial } from "../suite.ts";
import { ruled } from "./field.ts";
import { spellings } from "./spellings.ts";
import type { Twins } from "./twins.ts";

export async function tryEveryTool(twins: Twins, { tally, long, chance }: Trial): Promise<void> {
  const { dialect } = twins;
  const root = twins.fields[0]?.root ?? "";
  for (const tool of dialect.tools.filter(({ name }) => name !== "set_workspace")) {
    const carriers = carriersOf(tool, twins.spelling(root));
    for (const [i, { name: carrier, decides }] of carriers.entries()) {
      const share = decides && !carrier.includes(", ") ? 1 : 0.2;
      for (const name of ruled) {
        for (const [j, path] of spellings(root, name).entries()) {
          // Where a path is only text, one that names the tree would tell the trees apart.
          if (!decides && path.includes(root)) continue;
          // The short form draws from the spellings.
          if (chance.next() >= (long ? 1 : j < 2 ? share * 0.4 : share * 0.08)) continue;
          const what = `tool ${dialect.name} ${tool.name} ${carrier} ${path.replace(root, "")}`;
          if (!tally.wants(what)) continue;
          await tally.attempt(what, () =>
            twins.ask(own => {
              const written = spellings(own, name)[j] ?? "";
              const args = carriersOf(tool, twins.spelling(own))[i]?.args(written);
              return { method: "tools/call", params: { name: tool.name, arguments: args } };
            }),
          );
        }
      }
    }
  }
}
