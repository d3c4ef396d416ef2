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

/** Beyond what any server reads whole. */
const largeBytes = 100_000_000;

function jobsIn(root: string): Job[] {
  const path = fileIn(root, 1);
  const large = fileIn(root, largeBytes);
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
    ...(large === undefined
      ? []
      : [job("lines", { path: large, first: 1, count: 40 }), job("tail", { path: large, count: 40 })]),
  ];
}

/** The first file of at least so many bytes, in the directory or below it. */
function fileIn(directory: string, least: number): string | undefined {
  const entries = readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) {
    const path = join(directory, entry.name);
    const found = entry.isDirectory() ? fileIn(path, least) : statSync(path).size >= least ? path : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
