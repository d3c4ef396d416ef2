// Where everything is read-only, no tool changes anything, whatever it is given, and those that only change things
// fail.
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";
import { failed, overStdio } from "./target.ts";

export async function attackReadOnly(
  dialect: Dialect,
  { tally }: Trial,
  runFlags: readonly string[],
): Promise<void> {
  if (!tally.wants("A129")) return;
  // Commands as requested, with the contract's defaults, and without a sandbox.
  const runs = dialect.tools.some(({ effect }) => effect === "runs");
  for (const flags of [runFlags, [], ...(runs ? [["--allow-run=unsandboxed"]] : [])])
    await attackWith(dialect, tally, flags);
}

async function attackWith(dialect: Dialect, tally: Trial["tally"], flags: readonly string[]): Promise<void> {
  await using target = await overStdio(dialect, ["--read-only", ...flags]);
  const { root } = target.arena;
  for (const tool of dialect.tools) {
    const variants = [
      sample(tool, target.spelling),
      sample(tool, target.spelling, everyPath(tool.paths, tool.input.properties, `${root}/fresh.txt`)),
      ...(tool.effect === "runs"
        ? [{ ...sample(tool, target.spelling), command: `echo x > ${root}/pub.txt` }]
        : []),
      ...(tool.name === "apply_patch"
        ? [{ patch: "--- a/pub.txt\n+++ b/pub.txt\n@@ -1 +1 @@\n-PUBLIC\n+CHANGED\n" }]
        : []),
    ];
    for (const [index, args] of variants.entries()) {
      await tally.attempt(
        `A129 (read-only) ${dialect.name} ${tool.name} ${index} ${flags.join(" ")}`,
        async () => {
          const answer = await target.call(tool.name, args);
          if (target.arena.renew()) throw new Error(`something has changed: ${JSON.stringify(args)}`);
          await target.inspect(answer);
          if (tool.effect === "writes" && !failed(answer))
            throw new Error(`was accepted: ${JSON.stringify(answer).slice(0, 300)}`);
        },
      );
    }
  }
}

function everyPath(
  paths: readonly string[] = [],
  properties: Readonly<Record<string, { readonly type?: unknown }>>,
  path: string,
): Record<string, unknown> {
  return Object.fromEntries(paths.map(name => [name, properties[name]?.type === "array" ? [path] : path]));
}
