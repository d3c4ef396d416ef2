// Each system call of a commit fails in turn, by each of the ways in which such calls fail; and the process is killed
// in each in turn, and in each of the recovery. The change is made completely or not at all, and the next commit works.
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { Fault } from "../../src/engine/fault.ts";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import { stateDirectory } from "../../src/engine/workspace/errno.ts";
import { errno, watching } from "../../test/commit/failing.ts";
import { Fixture } from "../../test/commit/fixture.ts";
import { carryOut, outlook, type Scenario, scenarios } from "../../test/commit/scenarios.ts";
import { bundle } from "../../test/mcp/wire.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";

type Tree = Record<string, string>;

/**
 * R010 to R019: no space, a broken disk, no handles, no permission, a signal, a quota, a size limit, a disk that turned
 * read-only.
 */
const errors = ["ENOSPC", "EIO", "EMFILE", "EACCES", "EINTR", "EDQUOT", "EFBIG", "EROFS"];

export async function failInEachCall({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R010")) return;
  for (const scenario of scenarios) {
    const { before, after } = await outlook(scenario, () => new Fixture(scenario.files));
    let calls = 1;
    for (let at = 1; at <= calls; at++) {
      for (const code of long ? errors : [chance.pick(errors)]) {
        await tally.attempt(`R010 (${code} in call ${at}) ${scenario.name}`, async () => {
          const failed = await failIn(scenario, at, code, before, after);
          if (failed) calls = Math.max(calls, at + 1);
        });
      }
    }
  }
}

/** Whether there was such a call. */
async function failIn(
  scenario: Scenario,
  at: number,
  code: string,
  before: Tree,
  after: Tree,
): Promise<boolean> {
  using fixture = new Fixture(scenario.files);
  scenario.prepare?.(fixture);
  await fixture.commit([fixture.write("warm", "up")]);
  await fixture.commit([{ kind: "remove", path: fixture.at("warm") }]);
  await fixture.workspace.settled();
  let failed = "";
  let side: Side | undefined;
  let outcomes: PromiseSettledResult<unknown>[] = [];
  await watching(
    (count, name, args) => {
      if (count !== at) return;
      failed = name;
      side = sideOf(args, fixture);
      throw errno(code, name);
    },
    async () => {
      outcomes = await carryOut(scenario, fixture);
      await fixture.workspace.settled();
    },
  );
  for (const one of outcomes) {
    if (one.status === "fulfilled") continue;
    if (!(one.reason instanceof Fault)) throw new Error(`${failed}: ${one.reason} is no fault`);
    if (one.reason.code === "internal") throw new Error(`${failed}: ${one.reason.message}`);
    if (one.reason.code === "io" && ["ENOSPC", "EDQUOT", "EFBIG", "EROFS"].includes(code))
      throw new Error(`${failed}: ${code} is reported as ${JSON.stringify(one.reason.data)}`);
    const blamed = (one.reason.data as { path?: string }).path === stateDirectory ? "state" : "tree";
    if (side !== undefined && one.reason.code !== "changed_meanwhile" && blamed !== side)
      throw new Error(`${failed} failed in the ${side}, and the fault blames the ${blamed}`);
  }
  await fixture.commit([fixture.write("next", "works")]);
  await fixture.workspace.settled();
  const allowed = expected(scenario, outcomes, before, after).map(tree => ({ ...tree, next: "works" }));
  same(fixture.tree(), allowed, failed);
  const locks = readdirSync(join(fixture.state, "locks"));
  if (locks.length > 0) throw new Error(`${failed}: locks are left behind`);
  return failed !== "";
}

/** Where a call acts: in the tree that is served, or in the state directory. */
type Side = "tree" | "state";

/** Undefined for a call that acts in both, or elsewhere, and where there is no /proc. */
function sideOf(args: readonly unknown[], fixture: Fixture): Side | undefined {
  const sides = new Set<Side | undefined>();
  for (const arg of args.slice(0, 2)) {
    const isAddress = typeof arg === "string" || Buffer.isBuffer(arg);
    if (!isAddress && (typeof arg !== "number" || arg !== args[0])) continue;
    try {
      const path = isAddress
        ? `${realpathSync(dirname(String(arg)))}/`
        : `${readlinkSync(`/proc/self/fd/${arg}`)}/`;
      if (path.startsWith(`${fixture.state}/`)) sides.add("state");
      else if (path.startsWith(`${fixture.inside}/`)) sides.add("tree");
      else sides.add(undefined);
    } catch {
      sides.add(undefined);
    }
  }
  return sides.size === 1 ? [...sides][0] : undefined;
}

/** A commit happens or does not; of edits that are made together, those happen that were acknowledged. */
function expected(
  { queued }: Scenario,
  outcomes: readonly PromiseSettledResult<unknown>[],
  before: Tree,
  after: Tree,
): Tree[] {
  const isMade = (i: number) => outcomes[i]?.status === "fulfilled";
  if (queued === undefined) return [isMade(0) ? after : before];
  const [first = "", ...others] = queued.filter((_, i) => isMade(i));
  // An edit that starts over does so behind the others.
  const orders = [
    [first, ...others],
    [...others, first],
  ];
  return orders.map(lines => ({ ...before, a: `${before.a}${lines.join("")}` }));
}

/** Starts processes that commit, or recover, and are killed on the way. */
async function workerRuns() {
  const worker = await bundle(join(repository, "test/commit/worker.ts"));
  return (task: string, base: string, argument: string) =>
    spawnSync(process.execPath, [worker, task, base, argument], { encoding: "utf8" });
}

export async function killInEachCall({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R002")) return;
  const run = await workerRuns();
  // Each is a process of its own, and there are hundreds: the short form takes some of them by chance.
  const stride = () => (long ? 1 : 15 + chance.below(30));
  for (const [index, scenario] of scenarios.entries()) {
    const { before, after } = await outlook(scenario, () => new Fixture(scenario.files));
    for (let at = stride(), ended = false; !ended; at += stride()) {
      await tally.attempt(`R002 (killed in call ${at}) ${scenario.name}`, () => {
        using fixture = new Fixture(scenario.files);
        scenario.prepare?.(fixture);
        ended = true; // unless it was killed, this was the last
        const { signal, stderr } = run("scenario", fixture.base, `${index}:${at}`);
        if (stderr !== "") throw new Error(stderr);
        ended = signal === null;
        same(recovered(fixture), [before, after], "");
      });
    }
  }
}

/** Kills a process in the middle of a commit, and then the one that recovers it. */
export async function killInRecovery({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R005")) return;
  const run = await workerRuns();
  const stride = () => (long ? 1 : 5 + chance.below(15));
  for (const [index, call] of [
    [3, "rename"], // the first is of the process's own folder; the others are steps of the commit
    [5, "truncate"], // in a file that is rewritten in place
  ] as const) {
    const scenario = scenarios[index];
    if (scenario === undefined) throw new Error("no such scenario");
    const { before, after } = await outlook(scenario, () => new Fixture(scenario.files));
    for (const first of call === "truncate" ? [1] : long ? [2, 3, 4, 5, 6] : [3]) {
      let killed = 0;
      for (let at = stride(), ended = false; !ended; at += stride()) {
        await tally.attempt(`R005 (killed in ${call} ${first}, then in call ${at} of the recovery)`, () => {
          using fixture = new Fixture(scenario.files);
          scenario.prepare?.(fixture);
          ended = true;
          if (run("scenario", fixture.base, `${index}:${first}:${call}`).signal !== "SIGKILL")
            throw new Error("it was not killed");
          const { signal } = run("recover", fixture.base, String(at));
          ended = signal === null;
          if (!ended) killed++;
          if (ended || readdirSync(join(fixture.state, "locks")).length > 0) {
            same(recovered(fixture), [before, after], "");
            return;
          }
          // Others may change the files from now on, and no recovery may change them again.
          const paths = Object.keys(fixture.tree()).filter(path => !path.split("/").some(isTemporaryName));
          for (const file of paths.map(path => join(fixture.inside, path)))
            if (lstatSync(file).isFile()) appendFileSync(file, "newer");
          const tree = fixture.tree();
          same(recovered(fixture), [Object.fromEntries(paths.map(path => [path, tree[path] ?? ""]))], "");
        });
      }
      if (killed === 0) throw new Error("no recovery was killed");
    }
  }
}

/** The tree after a start, which recovers. */
function recovered(fixture: Fixture): Tree {
  fixture.reopen();
  fixture.workspace.at("x");
  const tree = fixture.tree();
  const left = Object.keys(tree).filter(path => path.split("/").some(isTemporaryName));
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
  const locks = join(fixture.state, "locks");
  if (existsSync(locks) && readdirSync(locks).length > 0) throw new Error("locks are left behind");
  return tree;
}

function same(tree: Tree, allowed: readonly Tree[], where: string): void {
  const text = (one: Tree) => JSON.stringify(Object.entries(one).sort());
  if (!allowed.some(one => text(one) === text(tree)))
    throw new Error(`${where}: the tree is neither before nor after: ${text(tree).slice(0, 400)}`);
}
