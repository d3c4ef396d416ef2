// Programs that are killed while they fork, merge, drop and collect. Afterwards every workspace is complete or absent,
// the base has all of a merge or nothing of it, and no orphans are left.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { collect, tidy } from "../../src/engine/workspaces/collect.ts";
import { repository } from "../../test/cli/program.ts";
import { Fixture, treeOf } from "../../test/workspaces/fixture.ts";
import type { Trial } from "../suite.ts";

const files = 400;

export async function killed(trial: Trial, times: number): Promise<void> {
  const { chance, tally } = trial;
  using fixture = new Fixture();
  const content = Object.fromEntries(
    Array.from({ length: files }, (_, i) => [`d${i % 20}/f${i}.txt`, `file ${i}\n`.repeat(20)]),
  );
  const base = fixture.files("base", content);
  await fixture.workspaces.adopt("main", base, "");
  const slow = await duration(fixture, ["fork", "timed", "--from", "main"]);
  for (let i = 0; i < times; i++) {
    const name = `fork-${i}`;
    const record = await fixture.workspaces.fork(name, "main", "");
    const changed = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [`d1/${name}-${n}.txt`, `new ${n}\n`]),
    );
    fixture.files(record.root, changed);
    const before = treeOf(base);
    const after = { ...before, ...changed };
    const what = chance.pick([
      ["merge", name],
      ["drop", name],
      ["fork", `again-${i}`, "--from", "main"],
      ["collect", "--workspace-keep-dropped", "0s"],
    ]);
    await killedAt(fixture, what, slow * 1.3 * chance.next());
    await tally.attempt(`kill ${what.join(" ")}`, async () => {
      await tidy(fixture.workspaces);
      await wholeOrGone(fixture, base, before, after);
    });
    if ((await fixture.workspaces.list()).some(one => one.name === name)) {
      await tally.attempt(`kill ${what.join(" ")}, then merge`, async () => {
        await fixture.workspaces.merge(record, fixture.opener);
        if (JSON.stringify(sorted(treeOf(base))) !== JSON.stringify(sorted(after)))
          throw new Error("the later merge is not complete");
      });
      await fixture.workspaces.drop(record);
    }
    await collect(fixture.workspaces, 0);
  }
}

function run(fixture: Fixture, args: readonly string[]) {
  const words = [
    join(repository, "dist/polyfs.cjs"),
    "workspace",
    ...args,
    "--workspaces",
    join(fixture.path, "all"),
  ];
  return spawn(process.execPath, words, {
    stdio: "ignore",
    env: { ...process.env, POLYFS_STATE_DIR: join(fixture.path, "state") },
  });
}

async function duration(fixture: Fixture, args: readonly string[]): Promise<number> {
  const began = Date.now();
  await new Promise(resolve => run(fixture, args).once("close", resolve));
  return Date.now() - began;
}

async function killedAt(fixture: Fixture, args: readonly string[], ms: number): Promise<void> {
  const child = run(fixture, args);
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  await new Promise(resolve => child.once("close", resolve));
  clearTimeout(timer);
}

async function wholeOrGone(
  fixture: Fixture,
  base: string,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): Promise<void> {
  const { workspaces } = fixture;
  const main = await workspaces.find("main");
  // Opening it completes an interrupted commit.
  using opened = workspaces.openTree(main, fixture.opener, "read-write");
  opened.directory(opened.at(".")).close();
  const now = JSON.stringify(sorted(treeOf(base)));
  if (now !== JSON.stringify(sorted(before)) && now !== JSON.stringify(sorted(after)))
    throw new Error("the base has a part of a merge");
  const records = [...(await workspaces.list()), ...(await workspaces.list({ dropped: true }))];
  for (const record of records.filter(({ kind }) => kind === "fork")) {
    await workspaces.ready(record);
    const tree = treeOf(record.root);
    const missing = Object.keys(before).filter(
      name => !name.includes("fork-") && tree[name] !== before[name],
    );
    if (missing.length > 0) throw new Error(`${record.name} lacks ${missing.length} files: ${missing[0]}`);
  }
  const known = new Set(records.map(({ tree }) => tree));
  const strays = readdirSync(workspaces.layout.trees).filter(name => !known.has(name));
  if (strays.length > 0) throw new Error(`orphaned trees: ${strays.join(", ")}`);
  const needed = new Set(records.map(({ snapshot }) => snapshot));
  const latest = readdirSync(workspaces.layout.latest).map(name =>
    readFileSync(join(workspaces.layout.latest, name), "utf8"),
  );
  const loose = readdirSync(workspaces.layout.snapshots).filter(
    id => !needed.has(id) && !latest.includes(id),
  );
  if (loose.length > 0) throw new Error(`orphaned snapshots: ${loose.join(", ")}`);
  if (readdirSync(workspaces.layout.removing).length > 0) throw new Error("something waits to be removed");
  if (existsSync("/proc/self/mountinfo")) {
    const mounts = readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter(line => line.includes(workspaces.layout.trees));
    const of = mounts.map(line => line.split(" ")[4]?.split("/").at(-2));
    if (of.some(tree => !known.has(tree)) || new Set(of).size !== of.length)
      throw new Error(`orphaned mounts: ${of.join(", ")}`);
  }
}

function sorted(tree: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(tree).sort(([a], [b]) => (a < b ? -1 : 1));
}
