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
  /** Where the token was put. */
  readonly path: string;
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
    const directory = `d/${i}-${name}`;
    const [how, args, target] = chance.pick([
      ["write_file", { path, content: `${token}\n`, mode: "append" }, path],
      [
        "run_command",
        { command: `sleep ${first}; mkdir -p new/${name}; echo '${token}' >> ${path}; sleep ${last}` },
        path,
      ],
      [
        "run_command",
        { command: `sleep ${first}; mkdir -p ${directory}; echo '${token}' > ${directory}/f` },
        `${directory}/f`,
      ],
      ["run_command", { command: `sleep ${last}; cat s0.txt` }, undefined],
    ] as const);
    const { text, failed } = await call(client, how, args);
    if (failed) throw new Error(`${name} ${how}: ${text}`);
    if (target !== undefined) deeds.push({ token, by: name, how, path: target, said: text });
    await pause(chance.below(100));
  }
  return deeds;
}
