// polyfs keeps its compiled code at the first start, and again when tools have been used, which it looks for every twenty
// seconds: what is measured is a program that has been used before. So each dialect serves one such session, with a call of
// each kind that reads, before its first sample.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Adapter, Fixture } from "./adapter.ts";
import { Client, type Command } from "./client.ts";
import { callsFor, type Job } from "./jobs.ts";
import { job } from "./scenario.ts";

const sessionMs = 22_000;

export async function warm(
  command: Command,
  { calls, greeting }: Pick<Adapter, "calls" | "greeting">,
  fixture: Fixture,
): Promise<void> {
  const client = new Client(command);
  const over = sleep(sessionMs);
  try {
    await client.start();
    const greet = greeting?.(fixture);
    if (greet !== undefined) await client.call(greet);
    for (const one of jobsIn(fixture.root)) {
      for (const each of callsFor(calls, one) ?? []) await client.call(each).catch(() => undefined);
    }
    await over;
  } finally {
    await client.close();
  }
}

function jobsIn(root: string): Job[] {
  const path = fileIn(root);
  return [
    job("list", { path: root }),
    job("tree", { path: root }),
    job("glob", { path: root, ending: ".none" }),
    job("search", { path: root, pattern: "a word that is nowhere" }),
    ...(path === undefined
      ? []
      : [
          job("read", { path, bytes: 4096 }),
          job("lines", { path, first: 1, count: 40 }),
          job("tail", { path, count: 40 }),
        ]),
  ];
}

/** The first file with something in it, in the directory or below it. */
function fileIn(directory: string): string | undefined {
  const entries = readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const found = entry.isDirectory() ? fileIn(path) : statSync(path).size > 0 ? path : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
