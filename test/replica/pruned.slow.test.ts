// The log of a workspace can be pruned: its first entries go, and a checkpoint takes their place. Replicas that have
// them go on, others begin with the checkpoint, and one that is behind it merges what was pruned as one difference.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { pruneLogs } from "../../src/engine/replica/prune-logs.ts";
import { readOrigin } from "../../src/engine/replica/read-log.ts";
import { copyStore } from "../../src/engine/store/copy-store.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import type { WorkspaceInfo, WorkspaceStore } from "../../src/engine/store/store.ts";
import { Fixture, type Machine } from "./fixture.ts";

const big = "a line of a file that is worth pruning\n".repeat(100);

/** Old contents go, too. */
async function prune(store: WorkspaceStore, changes = 1): Promise<void> {
  const { entries, skipped } = await pruneLogs(store, { changes, ms: 0 });
  expect([entries > 0, skipped]).toEqual([true, []]);
  await store.collect({ graceMs: 0 });
  for await (const damage of store.check()) throw new Error(JSON.stringify(damage));
}

async function edits(machine: Machine, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await machine.write("f", `${i}\n${big}`)).id);
  return ids;
}

async function infoOf(store: WorkspaceStore, name = "w"): Promise<WorkspaceInfo> {
  const info = await store.find(name);
  if (info === undefined) throw new Error(`there is no ${name}`);
  return info;
}

describe("a log that is pruned", () => {
  it("is the beginning of a new replica, and takes the room of what is left", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n", "d/kept": "kept\n" });
    const ids = await edits(a, 30);
    await a.workspace.commit([{ kind: "mkdir", path: a.workspace.at("empty"), mode: 0o750 }]);
    await prune(fixture.store, 3);
    const { revision, bytes } = await infoOf(fixture.store);
    expect(revision).toBe(32);
    expect(bytes).toBeLessThan(5 * big.length);
    const b = await fixture.machine("b");
    expect(b.tree()).toEqual(a.tree());
    // The replica that was there knows its history, the new one what is left of it.
    await expect(undo(b.workspace, { change: ids[5] })).rejects.toMatchObject({ code: "unknown_change" });
    expect((await listChanges(b.workspace, { limit: 100 })).map(({ id }) => id)).toEqual(
      expect.arrayContaining(ids.slice(-2)),
    );
    await undo(b.workspace, { change: ids[29] });
    await a.replica.refresh("reads");
    expect(a.text("f")).toBe(`28\n${big}`);
    await a.write("g", "after\n");
    await prune(fixture.store);
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
    expect((await fixture.machine("c")).tree()).toEqual(a.tree());
  });

  it("keeps as many changes as was said, and those that are younger", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n" });
    await edits(a, 10);
    const first = async () =>
      (await fixture.store.entries((await infoOf(fixture.store)).id, 0, 1))[0]?.revision;
    expect(await pruneLogs(fixture.store, { changes: 1, ms: 3_600_000 })).toMatchObject({ entries: 0 });
    expect(await pruneLogs(fixture.store, { changes: 11, ms: 0 })).toMatchObject({ entries: 0 });
    expect(await pruneLogs(fixture.store, { changes: 4, ms: 0 }, { dryRun: true })).toMatchObject({
      entries: 7,
    });
    expect(await first()).toBe(1);
    await prune(fixture.store, 4);
    expect(await first()).toBe(7);
    // A checkpoint that would free little is not made.
    await a.write("large", big.repeat(20));
    await edits(a, 1);
    await prune(fixture.store);
    await a.write("g", "short\n");
    expect(await pruneLogs(fixture.store, { changes: 1, ms: 0 })).toMatchObject({ entries: 0 });
  });

  it("reaches a replica that was cut off as one difference, merged with what was written there", async () => {
    await using fixture = new Fixture();
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join("");
    const a = await fixture.machine("a", { f: "0\n", g: lines, gone: "x\n", "d/old": "x\n" });
    const b = await fixture.machine("b");
    b.line.isCut = true;
    await edits(a, 20);
    await a.edit("g", text => text.replace("line 1\n", "a's\n"));
    await a.workspace.commit([
      { kind: "remove", path: a.workspace.at("gone") },
      { kind: "move", from: a.workspace.at("d"), to: a.workspace.at("e") },
    ]);
    await a.write("last", "1\n");
    b.put("g", b.text("g").replace("line 18\n", "b's\n"));
    await prune(fixture.store);
    b.line.isCut = false;
    await b.replica.refresh("writes");
    await b.replica.publishChanges({ action: "run", client: "b" });
    await a.replica.refresh("reads");
    expect(b.tree()).toEqual(a.tree());
    expect(a.text("g")).toBe(lines.replace("line 1\n", "a's\n").replace("line 18\n", "b's\n"));
  });

  it("takes over what a replica has answered and not sent", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n" });
    const b = await fixture.machine("b", {}, { durability: "local" });
    b.line.isCut = true;
    await b.write("mine", "b's\n");
    await edits(a, 20);
    await prune(fixture.store);
    b.line.isCut = false;
    await b.replica.refresh("reads");
    await b.replica.sent();
    await a.replica.refresh("reads");
    expect(a.text("mine")).toBe("b's\n");
    expect(b.tree()).toEqual(a.tree());
  });

  it("stops a replica whose last entry is not among those that were pruned, until it starts again", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n" });
    const warned: string[] = [];
    const b = await fixture.machine("b");
    b.line.isCut = true;
    // More than a checkpoint remembers.
    const { id } = await infoOf(fixture.store);
    const operations = [{ do: "mkdir", at: "d", mode: 0o755 }];
    const body = JSON.stringify({ format: 1, time: 0, by: { action: "test", client: "" }, operations });
    for (let revision = 1; revision <= 1005; revision++)
      await fixture.store.append(id, revision, { id: `e${revision}`, body, objects: [], bytes: 1000 });
    await edits(a, 2);
    await prune(fixture.store);
    b.line.isCut = false;
    await expect(b.write("mine", "b's\n")).rejects.toMatchObject({
      code: "store_unavailable",
      data: { reason: "pruned" },
    });
    b.put("mine", "b's\n");
    expect(b.text("f")).toBe("0\n");
    await b.replica[Symbol.asyncDispose]();
    await b.workspace.settled();
    const again = await fixture.machine("b", {}, { warn: message => warned.push(message) });
    expect(again.tree()).toEqual(a.tree());
    // What only it had is in its history.
    expect(warned.join()).toContain("mine");
    const [change] = [...again.workspace.archive.changes.newest()].filter(one => one.action === "set_aside");
    await undo(again.workspace, { change: change?.id, path: again.workspace.at("mine") });
    await a.replica.refresh("reads");
    expect(a.text("mine")).toBe("b's\n");
  });

  it("is read by a replica that was off, also while it is pruned further", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n", g: "0\n" });
    const b = await fixture.machine("b");
    await b.replica[Symbol.asyncDispose]();
    await b.workspace.settled();
    await edits(a, 40);
    await prune(fixture.store, 30);
    let pulls = 0;
    const again = await fixture.machine("b", {}, {}, line => {
      line.afterEntries = async () => {
        if (++pulls % 2 === 0) return;
        await a.write("g", `${pulls}\n${big}`);
        await pruneLogs(fixture.store, { changes: 1, ms: 0 });
      };
    });
    again.line.afterEntries = async () => {};
    await again.replica.refresh("reads");
    expect(pulls).toBeGreaterThan(3);
    expect(again.tree()).toEqual(a.tree());
  });

  it("is pruned between the entries that a replica reads and their contents", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n", g: "0\n" });
    const b = await fixture.machine("b");
    b.line.isCut = true;
    await edits(a, 20);
    const once = (line: Machine["line"]) => {
      line.afterEntries = async () => {
        line.afterEntries = async () => {};
        await prune(fixture.store);
      };
    };
    b.line.isCut = false;
    once(b.line);
    await b.replica.refresh("writes");
    expect(b.tree()).toEqual(a.tree());
    await edits(a, 20);
    for (let call = 1; call <= 6; call++) {
      let calls = 0;
      const fresh = await fixture.machine(`fresh-${call}`, {}, {}, line => {
        line.afterEntries = async () => {
          if (++calls === call) await prune(fixture.store);
        };
      });
      await fresh.replica.refresh("reads");
      expect(fresh.tree()).toEqual(a.tree());
      fresh.line.isCut = true;
      await edits(a, 20);
    }
  });

  it("keeps what forks begin with", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n" });
    await edits(a, 5);
    const { id, revision } = await infoOf(fixture.store);
    const parent = { workspace: id, revision };
    expect(await fixture.store.create({ name: "fork", parent })).toMatchObject({ name: "fork" });
    const before = await readOrigin(fixture.store, parent);
    await edits(a, 5);
    await prune(fixture.store);
    expect((await fixture.store.entries(id, 0, 1))[0]?.revision).toBe(revision);
    expect(await readOrigin(fixture.store, parent)).toEqual(before);
    await fixture.store.drop((await infoOf(fixture.store, "fork")).id);
    expect(await pruneLogs(fixture.store, { changes: 1, ms: 0 })).toMatchObject({ entries: 0 });
    await fixture.store.collect({ graceMs: 0 });
    await prune(fixture.store);
    expect(await fixture.store.create({ name: "late", parent })).toBe("no_parent");
  });

  it("can be exported and imported, with its forks, and read by a program that knows no checkpoints", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "0\n", "d/x": "x\n" });
    await edits(a, 10);
    const { id, revision } = await infoOf(fixture.store);
    await fixture.store.create({ name: "fork", parent: { workspace: id, revision } });
    await a.write("g", "last\n");
    await prune(fixture.store);
    const path = mkdtempSync(join(tmpdir(), "polyfs-copy-"));
    try {
      mkdirSync(join(path, "one"));
      const copy = new DirectoryStore(join(path, "one", "store"));
      await copyStore(fixture.store, copy);
      // Again, with what was added since.
      await a.write("h", "later\n");
      await copyStore(fixture.store, copy);
      const log = await copy.entries((await infoOf(copy)).id, 0, 100);
      expect(log.map(one => one.revision)).toEqual([1, 2, 3]);
      expect(log.some(({ isCheckpoint }) => isCheckpoint)).toBe(false);
      const { parent } = await infoOf(copy, "fork");
      expect(parent?.revision).toBe(1);
      const [tree, copied] = [
        await readOrigin(fixture.store, { workspace: id, revision: revision + 2 }),
        await readOrigin(copy, { workspace: (await infoOf(copy)).id, revision: 3 }),
      ];
      expect(copied).toEqual(tree);
      for await (const damage of copy.check()) throw new Error(JSON.stringify(damage));
      // A copy that was begun before the log was pruned further cannot be continued.
      for (let i = 0; i < 10; i++) await a.write("f", `${i}\n${big}`);
      await fixture.store.drop((await infoOf(fixture.store, "fork")).id);
      await fixture.store.collect({ graceMs: 0 });
      await prune(fixture.store);
      await expect(copyStore(fixture.store, copy)).rejects.toMatchObject({
        data: { detail: expect.stringContaining("was pruned during the copy") },
      });
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});
