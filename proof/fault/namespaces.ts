// The server is killed at random instants in one process namespace and started in another, as a container is: what it
// left is whole for the first reader, and blocks no caller.
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { Trial } from "../suite.ts";
import { ServerUnderTest, told } from "./server-under-test.ts";

/** The shell is the namespace's first process; when its tracer ends, everything in it ends. */
const elsewhere = ["unshare", "-p", "-f", "--mount-proc", "--kill-child"];
const names = Array.from({ length: 10 }, (_, i) => `f${i}`);
const hunk = (name: string, from: number) =>
  `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${from}\n+${from + 1}\n`;

export async function restartElsewhere({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R130")) return;
  if (spawnSync(elsewhere[0] ?? "", [...elsewhere.slice(1), "true"]).status !== 0)
    return tally.skipped("R130", "needs permission to make process namespaces");
  await using server = new ServerUnderTest(Object.fromEntries(names.map(name => [name, "0\n"])));
  let version = 0;
  for (let round = 0; round < (long ? 200 : 8); round++) {
    const delay = chance.next() * 60;
    await tally.attempt(
      `R130 (killed ${delay.toFixed(1)} ms in, and started in another namespace)`,
      async () => {
        const wire = await server.serve({ before: elsewhere });
        let answered = version;
        const killed = sleep(delay).then(async () => {
          wire.child.kill("SIGKILL");
          await wire.exited();
        });
        try {
          for (;;) {
            await told(wire, "apply_patch", { patch: names.map(name => hunk(name, answered)).join("") });
            answered++;
          }
        } catch (error) {
          await killed;
          if (!/the server has left/.test(String(error))) throw error;
        }
        const next = await server.serve({ before: elsewhere });
        for (const name of names) await told(next, "read_file", { path: name });
        const texts = new Set(Object.values(server.tree()));
        next.child.kill("SIGKILL");
        await next.exited();
        version = Number([...texts][0]);
        if (texts.size !== 1) throw new Error(`half a commit: ${[...texts].join()}`);
        if (version < answered) throw new Error(`version ${answered} was answered, ${version} is there`);
      },
    );
  }
}
