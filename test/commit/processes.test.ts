import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isTemporaryName } from "../../src/engine/workspace/commit/temporary.ts";
import { bundle } from "./bundle.ts";
import { Ground } from "./ground.ts";
import { outlook, scenarios } from "./scenarios.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
let swapper: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  worker = await bundle("worker.ts");
  swapper = await bundle("swapper.ts");
});

afterAll(() => {
  worker[Symbol.dispose]();
  swapper[Symbol.dispose]();
});

function run(task: string, base: string, argument: string | number, more: object = {}) {
  const args = [worker.path, task, base, String(argument)];
  return spawnSync(process.execPath, args, { encoding: "utf8", ...more });
}

/** Starts a process to its end; what it wrote. */
function start(script: string, ...args: string[]) {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", data => {
    output += data;
  });
  const ended = new Promise<string>(resolve => child.on("close", () => resolve(output)));
  return { child, ended, output: () => output };
}

/** Opens the workspace anew, which recovers. Nothing temporary may be left, nor anything in the state. */
function restart(ground: Ground): void {
  ground.reopen();
  ground.workspace.at("x");
  const left = Object.keys(ground.tree()).filter(path => path.split("/").some(isTemporaryName));
  expect(left).toEqual([]);
  if (existsSync(join(ground.state, "locks"))) expect(readdirSync(join(ground.state, "locks"))).toEqual([]);
}

describe("killed at any moment", () => {
  /** Of the system calls to be killed in, every how many-th is tried: all of them take minutes. */
  const every = Number(process.env.POLYFS_TEST_EVERY ?? 23);
  const kills = Number(process.env.POLYFS_TEST_KILLS ?? 60);
  it(`a process that patches in a loop leaves whole patches, ${kills} times`, {
    timeout: 3_600_000,
  }, async () => {
    let torn = 0;
    let unacknowledged = 0;
    using ground = new Ground();
    for (let i = 0; i < kills; i++) {
      for (const name of readdirSync(ground.inside)) {
        await ground.commit([{ kind: "remove", path: ground.at(name), recursive: true }]);
      }
      await ground.workspace.settled();
      const { child, ended, output } = start(worker.path, "patches", ground.base);
      while (output() === "") await pause(2);
      await pause(Math.random() * 40);
      child.kill("SIGKILL");
      const told = Number((await ended).trim().split("\n").at(-1));
      restart(ground);
      const tree = ground.tree();
      const versions = new Set(
        Object.entries(tree)
          .filter(([path]) => !path.endsWith("/"))
          .map(([, text]) => text.slice(0, text.indexOf(" "))),
      );
      const version = Number([...versions][0]);
      const text = `${version} `.repeat(500 + 300 * (version % 3));
      const whole: Record<string, string> = { [`d${version}/`]: "/", [`d${version}/new`]: text };
      for (let file = 0; file < 8; file++) whole[`f${file}`] = text;
      expect(tree).toEqual(whole);
      if (versions.size !== 1) torn++;
      expect(version).toBeGreaterThanOrEqual(told);
      if (version > told) unacknowledged++;
    }
    if (kills > 100) console.log(`${kills} kills: ${torn} torn, ${unacknowledged} done but not yet told`);
  });

  it("in each system call of a commit, it is all there or not at all", { timeout: 600_000 }, async () => {
    for (const [index, scenario] of scenarios.entries()) {
      const make = () => new Ground(scenario.files);
      const { before, after } = await outlook(scenario, make);
      for (let at = 1 + (index % every); ; at += every) {
        using ground = make();
        scenario.prepare?.(ground);
        const { signal, stderr } = run("scenario", ground.base, `${index}:${at}`);
        expect(stderr).toBe("");
        restart(ground);
        const tree = ground.tree();
        const told = `${scenario.name}, call ${at}`;
        expect([before, after], told).toContainEqual(tree);
        if (signal === null) break;
      }
    }
  });

  it("and again in each system call of the recovery, it still is", { timeout: 600_000 }, async () => {
    const index = 3;
    const scenario = scenarios[index];
    if (scenario === undefined) throw new Error("no such scenario");
    const make = () => new Ground(scenario.files);
    const { before, after } = await outlook(scenario, make);
    // The first rename is of the process's own folder; the others are steps of the commit.
    for (const first of every === 1 ? [2, 3, 4, 5, 6] : [3, 5]) {
      for (let at = 1; ; at += every) {
        using ground = make();
        scenario.prepare?.(ground);
        expect(run("scenario", ground.base, `${index}:${first}:rename`).signal).toBe("SIGKILL");
        expect([before, after]).not.toContainEqual(ground.tree());
        const { signal } = run("recover", ground.base, at);
        restart(ground);
        expect([before, after], `rename ${first}, then call ${at}`).toContainEqual(ground.tree());
        if (signal === null) break;
      }
    }
  });
});

describe("several processes", () => {
  it("edit the same two files fifty times each: what was acknowledged is there, nothing else, once", async () => {
    using ground = new Ground({ shared: "", second: "" });
    const workers = [0, 1, 2, 3].map(
      number => start(worker.path, "edits", ground.base, String(number)).ended,
    );
    const told = (await Promise.all(workers)).join("").trim().split("\n");
    const acknowledged = told.filter(line => line.endsWith(" ok")).map(line => line.split(" ")[0]);
    const refused = told.filter(line => !line.endsWith(" ok"));
    expect(refused).toEqual([]);
    expect(ground.text("shared").trim().split("\n").sort()).toEqual(acknowledged.sort());
    expect(ground.text("second")).toBe(ground.text("shared"));
  });

  it("a lock of a dead process is broken, and its half-done commit settled first", async () => {
    using ground = new Ground(scenarios[2]?.files);
    expect(run("scenario", ground.base, "2:4:rename").signal).toBe("SIGKILL");
    const torn = new Set(Object.values(ground.tree()).map(text => text.slice(0, 3)));
    expect(torn).toEqual(new Set(["old", "new"]));
    ground.reopen();
    await ground.commit([ground.write("f0", "mine")]);
    await ground.workspace.settled();
    const others = Object.entries(ground.tree()).filter(([path]) => path !== "f0");
    expect(new Set(others.map(([, text]) => text.slice(0, 3))).size).toBe(1);
    expect(ground.text("f0")).toBe("mine");
  });
});

describe("while another process swaps a directory for a link that leads out", () => {
  it("nothing outside is written, made, moved or deleted", async () => {
    using ground = new Ground({ "swap/target": "inside", "swap/victim": "inside", "swap/tree/x": "inside" });
    mkdirSync(join(ground.outside, "tree/sub"), { recursive: true });
    for (const name of ["target", "victim", "tree/x", "tree/sub/y"]) {
      writeFileSync(join(ground.outside, name), "outside");
    }
    const before = ground.tree(ground.outside);
    const attack = start(swapper.path, ground.base);
    const work = start(worker.path, "work", ground.base);
    await pause(Number(process.env.POLYFS_TEST_ATTACK_MS ?? 4000));
    writeFileSync(join(ground.base, "stop"), "");
    const [swaps, done] = await Promise.all([attack.ended, work.ended]);
    expect(Number(swaps)).toBeGreaterThan(100);
    expect(Number(done)).toBeGreaterThan(10);
    expect(ground.tree(ground.outside)).toEqual(before);
  });
});

describe("as somebody who may not do everything", () => {
  const needsRoot = process.geteuid?.() === 0 ? undefined : "only root can start processes of other users";

  it("a file whose directory is closed is written in place, a new one there is refused", async context => {
    if (needsRoot !== undefined) return context.skip(needsRoot);
    using ground = new Ground({ "closed/a": "old", "closed/b": "old" });
    const closed = join(ground.inside, "closed");
    for (const path of [ground.base, ground.inside, join(closed, "a")]) chownSync(path, 4321, 4321);
    chmodSync(closed, 0o555);
    chmodSync(join(closed, "a"), 0o664);
    chmodSync(ground.base, 0o777);
    chmodSync(join(worker.path, ".."), 0o755);
    const { stdout } = run("refusals", ground.base, 0, { uid: 4321, gid: 4321 });
    expect(JSON.parse(stdout)).toEqual({
      "closed/a": "modified",
      "closed/b": "permission_denied",
      "closed/new": "permission_denied",
      own: "created",
    });
  });
});
