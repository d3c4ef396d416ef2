// A lock whose holder died while another process is still recovering its commit. No other commit may have the file
// before that is done: the recovered commit would overwrite newer content.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockKey } from "../../src/engine/workspace/commit/lock.ts";
import { start } from "../mcp/wire.ts";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";
import { scenarios } from "./scenarios.ts";

it("the lock of a dead process holds until another process has recovered it, however long that takes", async () => {
  using fixture = new Fixture({ "a.txt": "old\n", "b.txt": "other\n" });
  const write = (name: string, text: string, ms: number) =>
    fixture.workspace.commit([{ kind: "write", path: fixture.at(name), bytes: Buffer.from(text) }], {
      signal: AbortSignal.timeout(ms),
    });
  await write("b.txt", "opens the state\n", 10_000);

  // What another living process (with the identity of this one) looks like while it recovers a dead one.
  const processes = join(fixture.state, "processes");
  const owner = readFileSync(join(processes, readdirSync(processes)[0] ?? "", "owner"), "utf8");
  const living = join(processes, "living");
  const dead = join(living, "dead-1");
  mkdirSync(dead, { recursive: true });
  writeFileSync(join(living, "owner"), owner);
  const identity = JSON.parse(owner);
  const { pid: ended } = spawnSync("true");
  writeFileSync(join(dead, "owner"), JSON.stringify({ ...identity, pid: ended, start: "another" }));
  const { dev, ino } = statSync(fixture.inside);
  const name = createHash("sha256")
    .update(lockKey(dev, ino, "a.txt"))
    .digest("hex")
    .slice(0, 40);
  const lock = join(fixture.state, "locks", name);
  linkSync(join(dead, "owner"), lock);

  await expect(write("a.txt", "too early\n", 3000)).rejects.toThrow();
  expect([fixture.text("a.txt"), existsSync(lock)]).toEqual(["old\n", true]);

  rmSync(dead, { recursive: true });
  await write("a.txt", "now\n", 10_000);
  expect([fixture.text("a.txt"), existsSync(lock)]).toEqual(["now\n", false]);
});

it("once the locks of a dead process are gone, no recovery changes its files again, even if the first one was killed", async () => {
  using worker = await bundle("worker.ts");
  const index = scenarios.findIndex(({ name }) => name.startsWith("a file rewritten in place"));
  const scenario = scenarios[index];
  const run = (base: string, task: string, at: string) =>
    spawnSync(process.execPath, [worker.path, task, base, at], { cwd: tmpdir() }).signal; // our own may be gone
  let killed = 0;
  for (let at = 1; ; at++) {
    using fixture = new Fixture(scenario?.files ?? {});
    scenario?.prepare?.(fixture);
    expect(run(fixture.base, "scenario", `${index}:1:truncate`)).toBe("SIGKILL");
    if (run(fixture.base, "recover", `${at}:unlink`) === null) break;
    killed++;
    if (readdirSync(join(fixture.state, "locks")).length > 0) continue;
    writeFileSync(join(fixture.inside, "a"), "newer"); // into the file itself, as an edit of a linked file goes
    fixture.reopen();
    fixture.workspace.at("a");
    expect(`unlink ${at}: ${fixture.text("a")}`).toBe(`unlink ${at}: newer`);
  }
  expect(killed).toBeGreaterThan(3);
});

it("reads and writes work when a dead process's journal has been replaced by a directory", async () => {
  using fixture = new Fixture({ "a.txt": "old\n" });
  const args = ["--state-dir", fixture.state];
  for (const name of ["journal-0", "journal-1"]) {
    {
      await using wire = await start({ roots: [fixture.inside], args });
      await wire.initialize();
      await wire.call("write_file", { path: "a.txt", content: `${name}\n` });
      wire.child.kill("SIGKILL");
      await wire.exited();
    }
    const processes = join(fixture.state, "processes");
    for (const one of readdirSync(processes)) {
      rmSync(join(processes, one, name), { force: true });
      mkdirSync(join(processes, one, name));
    }
    await using wire = await start({ roots: [fixture.inside], args });
    await wire.initialize();
    const answers = [
      await wire.call("read_file", { path: "a.txt" }),
      await wire.call("write_file", { path: "b.txt", content: "new\n" }),
    ];
    expect(answers.map(({ isError, content }) => (isError ? JSON.stringify(content) : "done"))).toEqual([
      "done",
      "done",
    ]);
  }
});
