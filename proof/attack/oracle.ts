// No tool may reveal whether something outside exists: existing and missing paths get the same answer.
import type { Trial } from "../suite.ts";
import { carriersOf } from "./carriers.ts";
import type { Target } from "./target.ts";

/** Pairs of the same length, so that nothing else differs. */
const pairs: readonly (readonly [there: string, missing: string])[] = [
  ["OUT/secret.txt", "OUT/secret.tx0"],
  ["OUT/sub", "OUT/su0"],
  ["../outside/secret.txt", "../outside/secret.tx0"],
  ["ROOT/directory-link/secret.txt", "ROOT/directory-link/secret.tx0"],
  ["ROOT/directory-link/sub/secret.txt", "ROOT/directory-link/su0/secret.txt"],
  ["/etc/passwd", "/etc/passw0"],
];

export async function attackByGuessing(target: Target, { tally }: Trial): Promise<void> {
  if (!tally.wants("A127")) return;
  const { root, outside } = target.arena;
  for (const tool of target.dialect.tools) {
    for (const carrier of carriersOf(tool, target.spelling).filter(({ decides }) => decides)) {
      for (const pair of pairs) {
        const what = `A127 (existence shows) ${target.dialect.name} ${tool.name} ${carrier.name} ${pair[0]}`;
        await tally.attempt(what, async () => {
          const answers: string[] = [];
          for (const written of pair) {
            const path = written.replace("OUT", outside).replace("ROOT", root);
            const answer = await target.call(tool.name, carrier.args(path));
            await target.inspect(answer);
            const { id: _, ...told } = answer;
            // The answer repeats the requested path, in one spelling or another.
            answers.push(
              JSON.stringify(told)
                .replaceAll(/tx0|txt/g, "TXT")
                .replaceAll(/su0|sub/g, "SUB")
                .replaceAll(/passw[d0]/g, "PASSWD"),
            );
          }
          if (answers[0] !== answers[1]) throw new Error(`${answers[0]} is not ${answers[1]}`.slice(0, 600));
        });
      }
    }
  }
}
