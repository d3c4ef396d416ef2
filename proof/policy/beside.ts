// While a command runs under rules, every tool that writes is called in a server without rules on the same tree and the
// same state directory. It may change what the command sees anyway, and nothing that the command's sandbox covers: a rename
// over a covered file takes the cover off.
import { existsSync, lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Dialect } from "../../src/contract/dialect.ts";
import { start } from "../../test/mcp/wire.ts";
import { carriersOf } from "../attack/carriers.ts";
import { codeCache } from "../places.ts";
import type { Trial } from "../suite.ts";
import { Field } from "./field.ts";

/** What is covered, or would have to be. */
const covered = [
  ".env",
  "config/secrets.json",
  "secrets.yaml",
  "server.pem",
  "vault",
  ".env.local",
  "new.pem",
];
/** What leads there, or holds it. */
const paths = [...covered, "link-env", "sub/link-up/secrets.json", "config", "link-vault"];

const command = `: > begun; until test -e stop; do grep -rah CANARY ${covered.join(" ")}; done > seen 2>/dev/null`;

export async function tryBeside(dialect: Dialect, { tally, long, chance }: Trial): Promise<void> {
  using field = new Field(9);
  const { root } = field;
  const env = { HOME: field.base, POLYFS_CODE_CACHE: codeCache };
  const at = (name: string) => join(root, name);
  const spelled = (name: string) => (dialect.name === "fs" ? name : at(name));
  const spelling = { file: spelled("pub.txt"), fresh: spelled("fresh.txt"), directory: spelled(".") };
  const free = ["--policy", "none", "--state-dir", join(field.base, "state")];
  await using ruled = await start({
    ...{ dialect: "polyfs", roots: [root], args: [...field.options, "--allow-run"], env, cwd: root },
  });
  await using other = await start({ dialect: dialect.name, roots: [root], args: free, env, cwd: root });
  for (const wire of [ruled, other]) await wire.initialize();
  if (dialect.name === "file-editor") await other.call("set_workspace", { path: root });
  const traces = () => covered.map(name => `${name} ${lstatSync(at(name), { throwIfNoEntry: false })?.ino}`);
  for (const tool of dialect.tools.filter(
    ({ effect, name }) => effect === "writes" && name !== "set_workspace",
  )) {
    const what = `beside ${dialect.name} ${tool.name}`;
    if (!tally.wants(what)) continue;
    await tally.attempt(what, async () => {
      const before = traces();
      const running = ruled.call("run_command", { command, timeout_ms: 120_000 });
      while (!existsSync(at("begun"))) await setTimeout(10);
      for (const { name: carrier, args } of carriersOf(tool, spelling))
        for (const path of paths) {
          if (chance.next() >= (long ? 1 : 0.3)) continue;
          await other.request("tools/call", { name: tool.name, arguments: args(spelled(path)) });
          const now = traces().filter((trace, i) => trace !== before[i]);
          if (now.length > 0) throw new Error(`${now} after ${carrier} ${path}`);
        }
      writeFileSync(at("stop"), "");
      await running;
      const seen = readFileSync(at("seen"), "latin1");
      if (field.isIn(seen)) throw new Error(`the command saw ${seen.slice(0, 200)}`);
    });
    writeFileSync(at("stop"), "");
    await ruled.call("run_command", { command: "true" });
    field.renew();
  }
}
