// The race: another process puts a public file and a denied or masked one under one name by turns while every tool is
// called with that name. No answer may tell the secret, and nothing protected may change.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../../src/contract/dialect.ts";
import { type Message, start } from "../../test/mcp/wire.ts";
import { carriersOf } from "../attack/carriers.ts";
import { failed } from "../attack/target.ts";
import { codeCache, repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { Field } from "./field.ts";

/** What a link under the public name leads to by turns. */
const targets = ["vault/key.txt", ".env", "vault", "locked/001.sql"] as const;
const inFlight = 4;

export async function race(dialect: Dialect, { tally, chance, long, say }: Trial): Promise<void> {
  for (const target of targets) {
    const what = `swap ${dialect.name} ${target}`;
    if (tally.wants(what))
      await tally.attempt(what, async () => {
        using field = new Field(8);
        const met = await raceIn(field, dialect, target, long ? 1500 : 200, list => chance.shuffled(list));
        say(`${what}: ${met.answered} answered, ${met.refused} refused, ${met.swaps} swaps`);
        if (met.swaps < 20) throw new Error(`only ${met.swaps} swaps`);
      });
  }
}

async function raceIn(
  field: Field,
  dialect: Dialect,
  target: string,
  calls: number,
  shuffled: <T>(list: readonly T[]) => T[],
) {
  const name = target === "vault" ? "race/d" : "race/f.txt";
  mkdirSync(join(field.root, "race"));
  if (target === "vault") mkdirSync(join(field.root, name));
  else writeFileSync(join(field.root, name), "PUBLIC\nSECRET\n");
  await using wire = await start({
    dialect: dialect.name,
    roots: [field.root],
    args: field.options,
    env: { HOME: field.base, POLYFS_CODE_CACHE: codeCache },
    cwd: field.root,
  });
  await wire.initialize();
  if (dialect.name === "file-editor") await wire.call("set_workspace", { path: field.root });
  const at = (path: string) => (dialect.name === "fs" ? path : join(field.root, path));
  const spelling = { file: at("pub.txt"), fresh: at("fresh.txt"), directory: at(".") };
  const paths = target === "vault" ? [name, `${name}/key.txt`, "race"] : [name, "race"];
  const all = dialect.tools
    .filter(({ effect, name: tool }) => effect !== "runs" && tool !== "set_workspace")
    .flatMap(tool =>
      carriersOf(tool, spelling)
        .filter(({ decides }) => decides)
        .flatMap(carrier =>
          paths
            .filter(path => path !== "race" || !/delete|move/.test(tool.name))
            .map(
              path => (): Promise<Message> =>
                wire.request("tools/call", { name: tool.name, arguments: carrier.args(at(path)) }),
            ),
        ),
    );
  const order = shuffled(all);
  const script = join(repository, "proof/attack/swapper-program.mjs");
  const place = join(field.root, name);
  const swapper = spawn(process.execPath, [script, place, `${place}-link`, join(field.root, target)], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  let said = "";
  const begun = new Promise<void>(resolve => swapper.stdout.once("data", () => resolve()));
  swapper.stdout.on("data", chunk => {
    said += chunk;
  });
  const ended = new Promise(resolve => swapper.once("close", resolve));
  const met = { answered: 0, refused: 0, swaps: 0 };
  try {
    await begun;
    let next = 0;
    const caller = async () => {
      while (next < Math.max(calls, order.length)) {
        const answer = await order[next++ % order.length]?.();
        if (answer === undefined) throw new Error("there is nothing to call");
        const text = JSON.stringify(answer);
        if (field.isIn(text)) throw new Error(`the secret is told: ${text.slice(0, 400)}`);
        met[failed(answer) ? "refused" : "answered"]++;
        const damage = field.damage("race/");
        if (damage !== undefined) throw new Error(`${damage} after ${text.slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
  } finally {
    swapper.stdin.end();
    await ended;
    met.swaps = Number(said.replace("ready", ""));
  }
  const damage = field.damage();
  if (damage !== undefined) throw new Error(damage);
  return met;
}
