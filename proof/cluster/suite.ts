// Agents work through three replicas of one workspace while replicas are killed, replaced by new machines, and cut off
// from the database, and the database crashes, is killed, or runs out of disk. Their clocks are an hour apart. Afterwards
// every answered piece of work must be there, in order, exactly once, on every replica.
//
//   CL1  what was answered is there, once, whatever others undo; what was undone is not
//   CL2  shared files are what their edits add up to: every line comes from an edit, none is lost, doubled or misplaced
//   CL3  every replica, and a new one, holds the same
//   CL4  the store is whole
//   CL5  a read on any replica has what its reader was answered before, or says that it is old
//
// Before that, rounds of two machines in one process, in which something may happen at every moment of a send or a pull
// (rounds.ts). CL6 to CL9 are stated in judge-round.ts.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Suite, Trial } from "../suite.ts";
import { anchor, type ClusterDeed, work } from "./agent.ts";
import { Cluster } from "./cluster.ts";
import { isRounds, tryRounds } from "./rounds.ts";

const shared = ["shared0.txt", "shared1.txt", "shared2.txt"];

export const clusterSuite: Suite = {
  name: "cluster",
  async run(trial) {
    const { tally, long, minutes = long ? 30 : 0.25 } = trial;
    const agents = long ? 200 : 12;
    const tried = Date.now() + (long ? minutes * 15_000 : 12_000);
    if (isRounds(trial)) await tryRounds(trial, () => Date.now() > tried);
    if (!["CL1", "CL2", "CL3", "CL4", "CL5"].some(id => tally.wants(id))) return;
    const start = Array.from({ length: agents }, (_, i) => `${anchor(i)}\n`).join("");
    const files = Object.fromEntries(shared.map(name => [name, start]));
    await using cluster = await Cluster.start(3, files, { apart: true });
    if (cluster.database === undefined)
      tally.skipped("CL0", "PostgreSQL is not installed: the replicas share a directory instead");
    if (!cluster.disk.isOwn)
      tally.skipped("CL0", "no file system can be mounted: the disk of the database never fills");
    if (!cluster.hasNetworks)
      tally.skipped("CL0", "no network namespaces can be made: proxies are cut instead of links");
    if (cluster.hasClocks) await tally.attempt("CL0 clocks", () => cluster.assertClocks());
    else tally.skipped("CL0", "libfaketime is not installed: the clocks agree");
    const end = Date.now() + minutes * 60_000;
    const isOver = () => Date.now() > end;
    const [deeds] = await Promise.all([
      Promise.all(Array.from({ length: agents }, (_, i) => work(cluster, i, shared, trial.chance, isOver))),
      killReplicas(cluster, trial, isOver),
      disturb(cluster, trial, isOver),
      collect(cluster, trial, isOver),
    ]);
    await settle(cluster);
    await cluster.startReplica(cluster.count); // a new machine
    await settle(cluster);
    await untilEqual(cluster);
    await judge(cluster, deeds, trial);
  },
};

/** One replica is killed every few seconds, and comes back. */
async function killReplicas(cluster: Cluster, { chance, long, say }: Trial, isOver: () => boolean) {
  for (let kills = 1; ; kills++) {
    await pause(long ? 5000 : 3000);
    if (isOver()) return say(`replicas were killed ${kills - 1} times`);
    const all = Array.from({ length: cluster.count }, (_, i) => i);
    const victim = chance.pick(all.filter(i => !cluster.isCut(i)));
    const anew = chance.below(3) === 0;
    await cluster.killReplica(victim, anew);
    await pause(chance.below(1000));
    await started(cluster, victim);
  }
}

/** It does not start while the database is down. */
async function started(cluster: Cluster, replica: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await cluster.startReplica(replica);
    } catch (error) {
      if (attempt > 60) throw error;
      await pause(500);
    }
  }
}

/** The database crashes, its disk is full, or a replica is cut off from it. */
async function disturb(cluster: Cluster, { chance, long, say }: Trial, isOver: () => boolean): Promise<void> {
  const { database, disk } = cluster;
  const ways = [
    "cut",
    ...(database?.restart === undefined ? [] : (["SIGQUIT", "SIGKILL"] as const)),
    ...(database !== undefined && disk.isOwn ? (["full"] as const) : []),
  ] as const;
  const counts = new Map<string, number>();
  for (let last: string | undefined; ; ) {
    await pause(long ? 8000 : 2000);
    if (isOver()) break;
    const how = chance.pick(ways.filter(one => one !== last || ways.length === 1));
    last = how;
    counts.set(how, (counts.get(how) ?? 0) + 1);
    if (how === "cut") {
      const victim = chance.below(cluster.count);
      if (!cluster.cut(victim)) continue;
      await pause(1000 + chance.below(long ? 15_000 : 3000));
      cluster.heal(victim);
    } else if (how === "full") {
      disk.fill();
      await pause(1000 + chance.below(long ? 10_000 : 2000));
      disk.free();
      await database?.start?.(); // it may have given up
    } else await database?.restart?.(how);
  }
  const times = (how: string) => counts.get(how) ?? 0;
  say(
    `cut off ${times("cut")} times; the database crashed ${times("SIGQUIT")} times, was killed ${times("SIGKILL")} times, and had a full disk ${times("full")} times`,
  );
}

/** What is no longer needed is collected while agents write, with the shortest grace period there is. */
async function collect(cluster: Cluster, { say }: Trial, isOver: () => boolean): Promise<void> {
  let [times, refused] = [0, 0];
  for (; !isOver(); await pause(3000)) {
    // It is refused while the database is down.
    if (await cluster.tryCommand("store", "gc", "--grace", "10m")) times++;
    else refused++;
  }
  say(`the store was collected ${times} times; ${refused} times it could not be used`);
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

/** Until what waited for the store has reached every replica. It is sent after the answer, without another command. */
async function untilEqual(cluster: Cluster): Promise<void> {
  const all = Array.from({ length: cluster.count }, (_, i) => i);
  for (let attempt = 1; attempt <= 50; attempt++) {
    const trees = all.map(i => treeAt(cluster.root(i)));
    if (trees.every(tree => differences(trees[0], tree).length === 0)) return;
    await pause(200);
    await settle(cluster);
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
  for (const deed of deeds.flat().filter(({ how }) => how === "read"))
    await tally.attempt(`CL5 ${deed.token} read`, () => {
      if (deed.told === "stale") throw new Error(`the read misses it: ${deed.said.slice(0, 200)}`);
    });
  for (const deed of deeds.flat().filter(({ how }) => how !== "read"))
    await tally.attempt(`CL1 ${deed.token} ${deed.how}`, () => {
      const times = found.get(deed.token) ?? 0;
      const isUndone = deed.how === "undo" && deed.told === "done";
      if (isUndone && times > 0) throw new Error(`it was undone, and is there: ${deed.said.slice(0, 200)}`);
      if (isUndone) return;
      const isDenied = /Nothing was changed/.test(deed.said) && !["run", "move", "undo"].includes(deed.how);
      if (times > 1 || (deed.told === "done" && times === 0) || (isDenied && times > 0))
        throw new Error(
          `it is there ${times} times, and the agent was told ${deed.told}: ${deed.said.slice(0, 200)}`,
        );
    });
  for (const name of shared)
    await tally.attempt(`CL2 ${name}`, () => inOrder(tree.get(name) ?? "", deeds.length));
  for (const [i, other] of trees.entries())
    await tally.attempt(`CL3 replica ${i}`, () => {
      const different = differences(tree, other);
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

function differences(one: Tree = new Map(), other: Tree): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter(name => one.get(name) !== other.get(name));
}

type Tree = ReadonlyMap<string, string>;

function treeAt(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" }).sort();
  const text = (name: string) =>
    statSync(join(root, name)).isFile() ? readFileSync(join(root, name), "utf8") : "/";
  return new Map(names.map(name => [name, text(name)]));
}
