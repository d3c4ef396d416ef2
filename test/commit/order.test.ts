// The order of the records in history is the order in which changes took effect, for one path and for paths of which one
// holds the other. Otherwise undo, newest change first, finds something else than the change left there.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { bundle } from "./bundle.ts";
import { Fixture, faultOf } from "./fixture.ts";

let worker: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  worker = await bundle("worker.ts");
});
afterAll(() => worker[Symbol.dispose]());

/** Another process, once it is held in the middle of its commit. */
async function held(task: string, fixture: Fixture, argument = "") {
  const child = spawn(process.execPath, [worker.path, task, fixture.base, argument], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise(resolve => child.once("close", resolve));
  await new Promise(resolve => child.stdout.once("data", resolve));
  return async () => {
    writeFileSync(join(fixture.base, "go"), "");
    await ended;
  };
}

/** Undoes the whole history, newest change first. */
async function undoAll({ workspace }: Fixture): Promise<void> {
  await workspace.othersRecorded();
  for (const id of workspace.archive.changes.ids().reverse()) await undo(workspace, { change: id });
}

const files = { "d/f": "old", "d/e/g": "deep" };
/** How a change ends in a directory that leaves meanwhile: made, or refused for want of the directory or the file. */
const outcomes = ["none", "parent_not_found", "not_found"];

describe("another process moves or removes a directory", () => {
  for (const how of ["move", "remove"])
    it(`a change in it while that goes on (${how}) is in history before it, or is not made`, async () => {
      using fixture = new Fixture(files);
      const before = fixture.tree();
      const release = await held("leavesSlowly", fixture, how);
      const writing = faultOf(fixture.commit([fixture.write("d/f", "mine")]));
      const creating = faultOf(fixture.commit([fixture.write("d/e/new", "mine")]));
      await Promise.race([Promise.all([writing, creating]), pause(1000)]);
      await release();
      expect(outcomes).toContain(await writing);
      expect(outcomes).toContain(await creating);
      await undoAll(fixture);
      expect(fixture.tree()).toEqual(before);
    });

  it("a change that had found the directory before does not follow it", async () => {
    using fixture = new Fixture(files);
    const before = fixture.tree();
    const release = await held("createsSlowly", fixture);
    await fixture.commit([{ kind: "move", from: fixture.at("d"), to: fixture.at("x") }]);
    await release();
    expect(Object.keys(fixture.tree())).not.toContain("x/new");
    await undoAll(fixture);
    expect(fixture.tree()).toEqual(before);
  });
});

describe("in one process", () => {
  it("directories that leave, and changes in them at the same time, are undone newest first", async () => {
    for (let round = 0; round < 10; round++) {
      using fixture = new Fixture({ ...files, "a/b/c/h": "deeper" });
      const before = fixture.tree();
      const { workspace } = fixture;
      const move = (from: string, to: string) =>
        ({ kind: "move", from: fixture.at(from), to: fixture.at(to) }) as const;
      await Promise.allSettled([
        fixture.commit([fixture.write("d/f", "mine")]),
        fixture.commit([move("d", "a/b/d")], { parents: true }),
        fixture.commit([fixture.write("d/e/new", "mine")]),
        fixture.commit([fixture.write("a/b/c/h", "mine")]),
        fixture.commit([move("a/b", "b")]),
        fixture.commit([{ kind: "remove", path: fixture.at("a/b/c"), recursive: true }]),
        workspace.edit(fixture.at("d/e/g"), bytes => Buffer.concat([bytes, bytes])),
      ]);
      await undoAll(fixture);
      await workspace.settled();
      expect(fixture.tree()).toEqual(before);
    }
  });

  it("two moves into each other's directories: one is made, and the other one's destination is gone", async () => {
    using fixture = new Fixture({ "a/f": "a", "b/g": "b" });
    const { workspace } = fixture;
    const move = (from: string, to: string) =>
      faultOf(fixture.commit([{ kind: "move", from: fixture.at(from), to: fixture.at(to) }]));
    const told = await Promise.all([move("a", "b/a"), move("b", "a/b")]);
    expect(told.sort()).toEqual(["none", "parent_not_found"]);
    await undoAll(fixture);
    await workspace.settled();
    expect(fixture.tree()).toEqual({ "a/": "/", "a/f": "a", "b/": "/", "b/g": "b" });
  });
});
