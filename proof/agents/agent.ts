// One agent: it edits and runs commands at random, and remembers which token it left with which.
import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../chance.ts";
import { call } from "../client/client.ts";
import type { StdioClient } from "../client/stdio-client.ts";

/** Files that all of them work in. */
export const shared = ["s0.txt", "s1.txt", "s2.txt"];

export interface Deed {
  readonly token: string;
  readonly by: string;
  readonly how: "write_file" | "run_command";
  /** What the server answered. */
  readonly said: string;
}

export async function work(
  client: StdioClient,
  name: string,
  steps: number,
  chance: Chance,
): Promise<Deed[]> {
  const deeds: Deed[] = [];
  for (let i = 0; i < steps; i++) {
    const token = `<${name}.${i}>`;
    const own = `${name}-${i}.txt`;
    const path = chance.pick([own, `new/${name}/${own}`, ...shared]);
    const [first, last] = [chance.below(20) / 100, chance.below(20) / 100];
    const [how, args] = chance.pick([
      ["write_file", { path, content: `${token}\n`, mode: "append" }],
      [
        "run_command",
        { command: `sleep ${first}; mkdir -p new/${name}; echo '${token}' >> ${path}; sleep ${last}` },
      ],
      [
        "run_command",
        { command: `sleep ${first}; mkdir -p d/${i}-${name}; echo '${token}' > d/${i}-${name}/f` },
      ],
      ["run_command", { command: `sleep ${last}; cat s0.txt` }],
    ] as const);
    const { text, failed } = await call(client, how, args);
    if (failed) throw new Error(`${name} ${how}: ${text}`);
    if (!("command" in args) || args.command.includes(token))
      deeds.push({ token, by: name, how, said: text });
    await pause(chance.below(100));
  }
  return deeds;
}
