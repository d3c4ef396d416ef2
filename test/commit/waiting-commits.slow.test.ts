// Commits that have to wait because the next server may not write to all of their directories, or because a disk is away.
import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";
import { LoopDisk, mayMount } from "./loop-disk.ts";
import { mountAgain, reboot } from "./reboot.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture({ "a/x": "0", "b/x": "0" });
});
afterEach(() => fixture[Symbol.dispose]());

function run(task: string, given = ""): void {
  const { signal } = spawnSync(process.execPath, [worker.path, task, fixture.base, given]);
  expect(signal).toBe("SIGKILL");
}

function open(...names: string[]): Workspace {
  const roots = names.map(name => ({ path: join(fixture.inside, name), access: "read-write" as const }));
  return Workspace.open(roots, { state: fixture.state });
}

function recover(...names: string[]): void {
  open(...names)[Symbol.dispose]();
}

const locks = () => readdirSync(join(fixture.state, "locks"));
const processes = () => readdirSync(join(fixture.state, "processes"));

describe("a commit in two directories, of which the next server may write to one", () => {
  it("is restored there after a power cut, and with it what a later commit built on it", () => {
    run("patchesAndEdits", "2");
    fixture.put("a/x", "0");
    fixture.put("b/x", "0");
    reboot(fixture);
    recover("a");
    expect(fixture.tree()).toMatchObject({ "a/x": "2", "b/x": "0" });
    recover("a", "b");
    expect(fixture.tree()).toMatchObject({ "a/x": "2", "b/x": "1" });
  });

  it("does not take back a later commit when it is restored in the other one", () => {
    run("patchesAndEdits", "0");
    fixture.put("b/x", "0");
    reboot(fixture);
    recover("a");
    recover("a", "b");
    expect(fixture.tree()).toMatchObject({ "a/x": "0", "b/x": "1" });
    expect(processes()).toHaveLength(1); // that of this process
  });

  it("is restored there once, and not over what a program has written since", () => {
    run("writesTogether", "a/x,b/x");
    fixture.put("a/x", "0");
    fixture.put("b/x", "0");
    reboot(fixture);
    recover("a");
    expect(fixture.text("a/x")).toBe("a/x");
    rmSync(join(fixture.inside, "a/x"));
    fixture.put("a/x", "0");
    recover("a");
    expect(fixture.text("a/x")).toBe("0");
    recover("a", "b");
    expect(fixture.tree()).toMatchObject({ "a/x": "0", "b/x": "b/x" });
  });

  it("is completed if it is a move between them, which neither server could repeat alone", () => {
    for (const lose of [renameSync, linkSync]) {
      fixture.put("a/x", "0");
      rmSync(join(fixture.inside, "b/y"), { force: true });
      run("movesAcross");
      lose(join(fixture.inside, "b/y"), join(fixture.inside, "a/x"));
      reboot(fixture);
      recover("b");
      recover("a");
      recover("a", "b");
      expect(fixture.tree()).toMatchObject({ "b/y": "0" });
      expect(fixture.tree()).not.toHaveProperty("a/x");
      expect(processes()).toHaveLength(1); // that of this process
    }
  });

  it("keeps no locks once nothing is left to do there", async () => {
    run("writesTogether", "a/x,b/x");
    using workspace = open("a");
    expect(locks()).toEqual([]);
    await workspace.commit([{ kind: "write", path: workspace.at("x"), bytes: Buffer.from("later") }]);
    recover("a", "b");
    expect(fixture.tree()).toMatchObject({ "a/x": "later", "b/x": "b/x" });
  });

  it("keeps its locks while half of it is done", () => {
    run("writesTogether", "a/x,b/x:2");
    recover("a");
    expect(fixture.tree()).toMatchObject({ "a/x": "a/x", "b/x": "0" });
    expect(locks()).toHaveLength(2);
    recover("a", "b");
    expect(fixture.tree()).toMatchObject({ "a/x": "a/x", "b/x": "b/x" });
    expect(locks()).toEqual([]);
  });
});

it("half a commit is completed where one workspace of a process may write, and another one only reads", () => {
  for (const path of [fixture.inside, join(fixture.inside, "a")]) {
    fixture.put("a/x", "0");
    fixture.put("b/x", "0");
    run("writesTogether", "a/x,b/x:2");
    using _reader = Workspace.open([{ path, access: "read-only" }], { state: fixture.state });
    recover(".");
    expect(fixture.tree()).toMatchObject({ "a/x": "a/x", "b/x": "b/x" });
  }
});

it("a commit before another server's is not repeated over it after a power cut, whatever the name", () => {
  run("writesTogether", "a/x,b/x");
  const at = join(fixture.inside, "a/x");
  const later = { id: "zzzzzzzzzzz", time: Date.now(), action: "test", client: "", parents: [], kept: false };
  mkdirSync(join(fixture.state, "changes"), { recursive: true });
  const files = [{ at, effect: "modified", kind: "file" }];
  writeFileSync(join(fixture.state, `changes/${later.id}.json`), JSON.stringify({ ...later, files }));
  fixture.put("a/x", "0");
  fixture.put("b/x", "0");
  reboot(fixture);
  recover("a", "b");
  expect(fixture.tree()).toMatchObject({ "a/x": "0", "b/x": "b/x" });
});

it("a commit before another server's is known to have happened, also if its mark is lost and the name is not ASCII", () => {
  fixture.put("a/\u00fc", "0");
  run("writesTogether", "a/\u00fc,b/x");
  const at = join(fixture.inside, "a/\u00fc");
  const later = { id: "zzzzzzzzzzz", time: Date.now(), action: "test", client: "", parents: [], kept: false };
  mkdirSync(join(fixture.state, "changes"), { recursive: true });
  const files = [{ at, effect: "modified", kind: "file" }];
  writeFileSync(join(fixture.state, `changes/${later.id}.json`), JSON.stringify({ ...later, files }));
  rmSync(at);
  writeFileSync(at, "later");
  fixture.put("b/x", "0");
  reboot(fixture, "done");
  recover("a", "b");
  expect(fixture.tree()).toMatchObject({ "a/\u00fc": "later", "b/x": "b/x" });
});

it("a move out of a directory that has been removed since does not stay unsettled after a power cut", () => {
  run("movesAcross");
  rmSync(join(fixture.inside, "a"), { recursive: true });
  reboot(fixture);
  fixture.workspace.at("b/x");
  expect(locks()).toEqual([]);
  expect(processes()).toHaveLength(1); // that of this process
  expect([...fixture.workspace.archive.changes.newest()].map(({ files }) => files[0]?.effect)).toEqual([
    "moved",
  ]);
});

describe.skipIf(!mayMount())("a disk (needs permission to mount loop devices)", () => {
  let disk: LoopDisk;
  beforeEach(() => {
    disk = new LoopDisk(join(fixture.base, "image"), join(fixture.inside, "disk"));
    fixture.put("disk/d/x", "0");
  });
  afterEach(() => disk[Symbol.dispose]());

  it("with another number than before is not waited for where a directory in it was removed", () => {
    run("writesTogether", "disk/d/x");
    rmSync(join(fixture.inside, "disk/d"), { recursive: true });
    reboot(fixture);
    mountAgain(fixture);
    recover(".");
    expect(processes()).toHaveLength(1); // that of this process
  });

  it("that is away keeps half a patch locked that is also in a directory that is there", () => {
    run("writesTogether", "a/x,disk/d/x:2");
    disk.unmount();
    recover(".");
    expect(fixture.text("a/x")).toBe("a/x");
    expect(locks()).toHaveLength(1);
    disk.mount();
    recover(".");
    expect(fixture.tree()).toMatchObject({ "a/x": "a/x", "disk/d/x": "disk/d/x" });
    expect(locks()).toEqual([]);
  });
});
