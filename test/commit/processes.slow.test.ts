import { spawn, spawnSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";
import { scenarios } from "./scenarios.ts";

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

describe("several processes", () => {
  it("edit the same two files fifty times each: every acknowledged edit is there once, and no other", async () => {
    using fixture = new Fixture({ shared: "", second: "" });
    const workers = [0, 1, 2, 3].map(
      number => start(worker.path, "edits", fixture.base, String(number)).ended,
    );
    const told = (await Promise.all(workers)).join("").trim().split("\n");
    const acknowledged = told.filter(line => line.endsWith(" ok")).map(line => line.split(" ")[0]);
    const refused = told.filter(line => !line.endsWith(" ok"));
    expect(refused).toEqual([]);
    expect(fixture.text("shared").trim().split("\n").sort()).toEqual(acknowledged.sort());
    expect(fixture.text("second")).toBe(fixture.text("shared"));
  });

  it("the lock of a dead process is broken after its half-done commit was recovered", async () => {
    using fixture = new Fixture(scenarios[2]?.files);
    expect(run("scenario", fixture.base, "2:4:rename").signal).toBe("SIGKILL");
    const torn = new Set(Object.values(fixture.tree()).map(text => text.slice(0, 3)));
    expect(torn).toEqual(new Set(["old", "new"]));
    fixture.reopen();
    await fixture.commit([fixture.write("f0", "mine")]);
    await fixture.workspace.settled();
    const others = Object.entries(fixture.tree()).filter(([path]) => path !== "f0");
    expect(new Set(others.map(([, text]) => text.slice(0, 3))).size).toBe(1);
    expect(fixture.text("f0")).toBe("mine");
  });
});

describe("a process that has run out of descriptors", () => {
  it("does not take a living process for dead, which would roll back what it is writing", async () => {
    using fixture = new Fixture({ a: "old" });
    const { child, ended } = start(worker.path, "writesAndPauses", fixture.base);
    await new Promise(resolve => child.stdout.once("data", resolve));
    const limited = `ulimit -n 64; exec "$0" "$@"`;
    const args = ["-c", limited, process.execPath, worker.path, "judges", fixture.base];
    const { stdout, stderr } = spawnSync("sh", args, { encoding: "utf8" });
    writeFileSync(join(fixture.base, "go"), "");
    await ended;
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ asked: 1, dead: 0 });
  });

  it("closes each connection at once, and others do not connect again and again", async () => {
    using fixture = new Fixture({ a: "old" });
    const limited = `ulimit -n 96; exec "$0" "$@"`;
    const args = ["-c", limited, process.execPath, worker.path, "writesAndStays", fixture.base];
    const child = spawn("sh", args, { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise(resolve => child.on("close", resolve));
    await new Promise(resolve => child.stdout.once("data", resolve));
    let connections = 0;
    const count = () => {
      connections++;
    };
    subscribe("net.client.socket", count);
    try {
      using _directory = fixture.workspace.directory(fixture.at("."));
      await expect.poll(() => connections).toBeGreaterThan(0);
      for (let i = 0; i < 100 && connections <= 10; i++) await pause(10);
    } finally {
      unsubscribe("net.client.socket", count);
      child.kill("SIGKILL");
      await ended;
    }
    expect(connections).toBeLessThanOrEqual(10);
  });
});

describe("a file that another process wrote and has not flushed yet", () => {
  it("is moved and removed only when that process has flushed it", async () => {
    using fixture = new Fixture({ a: "old" });
    const { child, ended } = start(worker.path, "writesAndPauses", fixture.base);
    await new Promise(resolve => child.stdout.once("data", resolve));
    const moving = fixture.commit([{ kind: "move", from: fixture.at("a"), to: fixture.at("b") }]);
    await pause(300); // time enough to move it
    expect(fixture.tree()).toEqual({ a: "theirs" });
    writeFileSync(join(fixture.base, "go"), "");
    await moving;
    await ended;
    expect(fixture.tree()).toEqual({ b: "theirs" });
  });
});

describe("while another process swaps a directory for a link that leads outside", () => {
  it("nothing outside is written, made, moved or deleted", async () => {
    using fixture = new Fixture({
      "swap/target": "inside",
      "swap/victim": "inside",
      "swap/tree/x": "inside",
    });
    mkdirSync(join(fixture.outside, "tree/sub"), { recursive: true });
    for (const name of ["target", "victim", "tree/x", "tree/sub/y"]) {
      writeFileSync(join(fixture.outside, name), "outside");
    }
    const before = fixture.tree(fixture.outside);
    const attack = start(swapper.path, fixture.base);
    const work = start(worker.path, "work", fixture.base);
    await pause(Number(process.env.POLYFS_TEST_ATTACK_MS ?? 4000));
    for (let i = 0; i < 300 && !existsSync(join(fixture.base, "enough")); i++) await pause(100); // a busy machine
    writeFileSync(join(fixture.base, "stop"), "");
    const [swaps, done] = await Promise.all([attack.ended, work.ended]);
    expect(Number(swaps)).toBeGreaterThan(100);
    expect(Number(done)).toBeGreaterThan(10);
    expect(fixture.tree(fixture.outside)).toEqual(before);
  });
});

describe("as a user without root's rights", () => {
  const needsRoot = process.geteuid?.() === 0 ? undefined : "only root can start processes of other users";

  it("a file whose directory is closed is written in place, a new one there is refused", async context => {
    if (needsRoot !== undefined) return context.skip(needsRoot);
    using fixture = new Fixture({ "closed/a": "old", "closed/b": "old", "closed/linked": "old" });
    const closed = join(fixture.inside, "closed");
    linkSync(join(closed, "linked"), join(fixture.outside, "other name"));
    for (const path of [fixture.base, fixture.inside, join(closed, "a"), join(closed, "linked")])
      chownSync(path, 4321, 4321);
    chmodSync(closed, 0o555);
    chmodSync(join(closed, "a"), 0o664);
    chmodSync(fixture.base, 0o777);
    chmodSync(join(worker.path, ".."), 0o755);
    const { stdout } = run("refusals", fixture.base, 0, { uid: 4321, gid: 4321 });
    expect(JSON.parse(stdout)).toEqual({
      "closed/a": "modified",
      "closed/b": "permission_denied",
      "closed/new": "permission_denied",
      "closed/linked": "permission_denied",
      own: "created",
    });
    expect(fixture.tree(fixture.outside)).toEqual({ "other name": "old" });
  });
});
