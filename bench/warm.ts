// polyfs keeps its compiled code at the first start, a second after it: what is measured is every start after that
// one. So each dialect is started once, until its code is there.
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Command } from "./client.ts";

const patienceMs = 10_000;

export async function warm(command: Command, codeCache: string): Promise<void> {
  const before = forms(codeCache);
  const client = new Client(command);
  try {
    await client.start();
    const until = performance.now() + patienceMs;
    while (forms(codeCache) === before && performance.now() < until) await sleep(50);
  } finally {
    await client.close();
  }
}

function forms(codeCache: string): number {
  try {
    return readdirSync(codeCache).filter(name => name.endsWith(".code")).length;
  } catch {
    return 0;
  }
}
