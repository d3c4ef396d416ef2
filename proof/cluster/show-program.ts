// `npm run cluster`: a throwaway PostgreSQL, three replicas and a load balancer on loopback, and an edit that arrives
// everywhere. With --stay everything runs until Ctrl-C, for trying it by hand.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Balancer } from "./balancer.ts";
import { Cluster } from "./cluster.ts";

const say = (line: string) => process.stdout.write(`${line}\n`);
await using cluster = await Cluster.start(3, { "notes.txt": "first line\n" });
say(
  cluster.database === undefined
    ? "PostgreSQL is not installed: the replicas share a directory"
    : `PostgreSQL   ${cluster.database.url}`,
);
const urls = await Promise.all([0, 1, 2].map(i => cluster.url(i)));
for (const [i, url] of urls.entries()) say(`replica ${i}    ${url}/mcp   ${cluster.root(i)}`);
await using balancer = new Balancer(() => urls);
const address = await balancer.listen();
say(`balancer     ${address}/mcp`);
const edits = [{ old: "first line", new: "first line, edited on replica 0" }];
const began = performance.now();
const { text, failed } = await cluster.call(0, "cluster", "edit_file", { path: "notes.txt", edits });
if (failed) throw new Error(text);
say(`\nedit_file on replica 0: ${text.split("\n")[0]} (${Math.round(performance.now() - began)} ms)`);
for (const i of [1, 2]) {
  const asked = performance.now();
  const answer = await cluster.call(i, "cluster", "read_file", { path: "notes.txt" });
  if (!answer.text.includes("edited on replica 0"))
    throw new Error(`replica ${i} does not have it: ${answer.text}`);
  say(
    `read_file on replica ${i}: ${answer.text.split("\n")[1]} (${Math.round(performance.now() - asked)} ms)`,
  );
  say(`  and on its disk:      ${readFileSync(join(cluster.root(i), "notes.txt"), "utf8").trim()}`);
}
if (process.argv.includes("--stay")) {
  say("\nRuns until Ctrl-C.");
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
} else say("\nWith `npm run cluster -- --stay` it goes on running.");
