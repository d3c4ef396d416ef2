// Agents work through three replicas of one workspace while replicas are killed, replaced by new machines, and cut off
// from the database, and the database crashes, is killed, or runs out of disk. Their clocks are an hour apart. Afterwards
// every answered piece of work must be there, in order, exactly once, on every replica.
//
//   CL1  what was answered is there, once
//   CL2  shared files are what their edits add up to: every line comes from an edit, none is lost, doubled or misplaced
//   CL3  every replica, and a new one, holds the same
//   CL4  the store is whole
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Suite, Trial } from "../suite.ts";
import { anchor, type ClusterDeed, work } from "./agent.ts";
import { Cluster } from "./cluster.ts";

const shared = ["shared0.txt", "shared1.txt", "shared2.txt"];

export const clusterSuite: Suite = {
  name: "cluster",
  async run(trial) {
    const { tally, long, minutes = long ? 30 : 0.25 } = trial;
    const agents = long ? 200 : 12;
    const start = Array.from({ length: agents }, (_, i) => `${anchor(i)}\n`).join("");
    await using cluster = await Cluster.start(3, Object.fromEntries(shared.map(name => [name, start])));
    if (cluster.database === undefined)
      tally.skipped("CL0", "PostgreSQL is not installed: the replicas share a directory instead");
    if (!cluster.disk.isOwn)
      tally.skipped("CL0", "no file system can be mounted: the disk of the database never fills");
    if (!cluster.hasClocks) tally.skipped("CL0", "libfaketime is not installed: the clocks agree");
    const end = Date.now() + minutes * 60_000;
    const isOver = () => Date.now() > end;
    const [deeds] = await Promise.all([
      Promise.all(Array.from({ length: agents }, (_, i) => work(cluster, i, shared, trial.chance, isOver))),
      disturb(cluster, trial, isOver),
    ]);
    await settle(cluster);
    await cluster.startReplica(cluster.count); // a machine that was not there
    await settle(cluster);
    await judge(cluster, deeds, trial);
  },
};

/** One replica dies every few seconds, and comes back; in between the database crashes or its disk is full. */
async function disturb(cluster: Cluster, { chance, long, say }: Trial, isOver: () => boolean): Promise<void> {
  for (let round = 1; !isOver(); round++) {
    await pause(long ? 5000 : 3000);
    const { database, disk } = cluster;
    if (round % 3 === 2 && database?.restart !== undefined) {
      const how = chance.pick(
        disk.isOwn ? (["SIGQUIT", "SIGKILL", "full"] as const) : (["SIGQUIT", "SIGKILL"] as const),
      );
      say(how === "full" ? "the disk of the database is full" : `the database crashes (${how})`);
      if (how !== "full") await database.restart(how);
      else {
        disk.fill();
        await pause(1000 + chance.below(long ? 10_000 : 2000));
        disk.free();
        await database.start?.(); // it may have given up
      }
      continue;
    }
    const victim = chance.below(cluster.count);
    if (round % 3 === 0 && cluster.cut(victim)) {
      say(`replica ${victim} is cut off`);
      await pause(1000 + chance.below(long ? 15_000 : 3000));
      cluster.heal(victim);
      continue;
    }
    const anew = chance.below(3) === 0;
    say(`replica ${victim} is killed${anew ? ", and replaced by a new machine" : ""}`);
    await cluster.killReplica(victim, anew);
    await pause(chance.below(1000));
    await cluster.startReplica(victim);
  }
}

/** Until every replica answers and has what the store has. */
async function settle(cluster: Cluster): Promise<void> {
  for (let i = 0; i < cluster.count; i++) {
    for (let attempt = 1; ; attempt++) {
      const answer = await cluster.call(i, "judge", "list_directory", {}).catch(() => undefined);
      if (answer !== undefined && !answer.failed && !answer.text.includes("cannot be reached")) break;
      if (attempt > 100) throw new Error(`replica ${i} does not recover: ${answer?.text ?? cluster.said(i)}`);
      await pause(200);
    }
  }
}

async function judge(
  cluster: Cluster,
  deeds: readonly (readonly ClusterDeed[])[],
  trial: Trial,
): Promise<void> {
  const { tally, say } = trial;
  const trees = Array.from({ length: cluster.count }, (_, i) => treeAt(cluster.root(i)));
  const [tree = new Map<string, string>()] = trees;
  const found = new Map<string, number>();
  for (const [token] of [...tree.values()].join("\n").matchAll(/<\d+\.\d+>/g))
    found.set(token, (found.get(token) ?? 0) + 1);
  for (const deed of deeds.flat())
    await tally.attempt(`CL1 ${deed.token} ${deed.how}`, () => {
      const times = found.get(deed.token) ?? 0;
      if (times > 1 || (deed.told === "done" && times === 0))
        throw new Error(
          `it is there ${times} times, and the agent was told ${deed.told}: ${deed.said.slice(0, 200)}`,
        );
    });
  for (const name of shared)
    await tally.attempt(`CL2 ${name}`, () => inOrder(tree.get(name) ?? "", deeds.length));
  for (const [i, other] of trees.entries())
    await tally.attempt(`CL3 replica ${i}`, () => {
      const names = new Set([...tree.keys(), ...other.keys()]);
      const different = [...names].filter(name => tree.get(name) !== other.get(name));
      if (different.length > 0) throw new Error(`differs in ${different.slice(0, 5).join(", ")}`);
    });
  await tally.attempt("CL4 store check", () => cluster.command("store", "check"));
  const done = deeds.flat().filter(({ told }) => told === "done");
  const refusals = new Map<string, number>();
  for (const { told, how, said } of deeds.flat().filter(({ told }) => told !== "done")) {
    const why = `${told} ${how}: ${said.split("\n")[0]?.slice(0, 120)}`;
    refusals.set(why, (refusals.get(why) ?? 0) + 1);
  }
  for (const [why, count] of refusals) say(`${count} × ${why}`);
  const times = done
    .filter(({ how }) => how === "edit")
    .map(({ ms }) => ms)
    .sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  say(
    `${deeds.flat().length} pieces of work, ${done.length} answered; an edit took ${at(0.5)} ms (95%: ${at(0.95)} ms)`,
  );
}

/** Each agent's tokens, rising, and then its own line. */
function inOrder(text: string, agents: number): void {
  let agent = 0;
  let last = -1;
  for (const line of text.split("\n").filter(one => one !== "")) {
    const [, who, number] = /^<(\d+)\.(\d+)>$/.exec(line) ?? [];
    if (line === anchor(agent)) {
      agent++;
      last = -1;
    } else if (Number(who) === agent && Number(number) > last) last = Number(number);
    else throw new Error(`${JSON.stringify(line)} in the part of agent ${agent}, after ${last}`);
  }
  if (agent !== agents) throw new Error(`it ends after agent ${agent} of ${agents}`);
}

function treeAt(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  const text = (name: string) =>
    statSync(join(root, name)).isFile() ? readFileSync(join(root, name), "utf8") : "/";
  return new Map(names.map(name => [name, text(name)]));
}
