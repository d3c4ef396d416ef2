// Replicas that answer a change before the store has it, and new replicas that answer before they have every file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

const local = { durability: "local" } as const;

describe("with durability local", () => {
  it("a change is answered while the store hangs, and is in the store afterwards, with its id", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" }, local);
    const b = await fixture.machine("b");
    let go = () => {};
    a.line.holds = new Promise<void>(resolve => {
      go = resolve;
    });
    const { id } = await a.write("g", "here\n");
    await b.replica.refresh("reads");
    expect(existsSync(join(b.root, "g"))).toBe(false);
    go();
    await until(async () => {
      await b.replica.refresh("reads");
      return existsSync(join(b.root, "g"));
    });
    expect(b.tree()).toEqual(a.tree());
    expect(b.workspace.archive.changes.get(id)?.id).toBe(id);
  });

  it("concurrent changes of another machine are merged, and both machines end up with the same files", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n2\n3\n", gone: "x\n" }, local);
    const b = await fixture.machine("b", {}, local);
    let go = () => {};
    const held = new Promise<void>(resolve => {
      go = resolve;
    });
    for (const machine of [a, b]) machine.line.holds = held;
    await a.edit("f", text => text.replace("1", "one"));
    await a.workspace.commit([{ kind: "remove", path: a.workspace.at("gone") }]);
    await b.edit("f", text => text.replace("3", "three"));
    await b.workspace.commit([{ kind: "remove", path: b.workspace.at("gone") }]);
    go();
    await until(async () => {
      for (const machine of [a, b]) await machine.replica.refresh("reads");
      return a.text("f") === "one\n2\nthree\n" && b.text("f") === a.text("f");
    });
    await until(async () => (await fixture.store.find("w"))?.revision === a.replica.revision);
    const c = await fixture.machine("c");
    expect(c.tree()).toEqual({ f: "644 one\n2\nthree\n" });
  });

  it("a change that is found in the log, because its answer was lost, is not sent again", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n", "moved 0": "x\n" }, local);
    const made: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      a.line.losesNext = true;
      const [from, to] = [a.workspace.at(`moved ${turn}`), a.workspace.at(`moved ${turn + 1}`)];
      made.push((await a.workspace.commit([{ kind: "move", from, to }])).id);
      await until(async () => !a.line.losesNext && a.replica.staleMs !== undefined);
      await until(async () => a.replica.staleMs === undefined);
      await a.replica.sent();
    }
    const { id = "" } = (await fixture.store.find("w")) ?? {};
    const entries = await fixture.store.entries(id, 0, 100);
    expect(entries.map(entry => entry.id).filter(one => made.includes(one))).toEqual(made);
    const b = await fixture.machine("b");
    expect(b.tree()).toEqual(a.tree());
  });

  it("while the store is known to be unreachable, writes are refused", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" }, local);
    a.line.isCut = true;
    await a.write("f", "2\n");
    await until(() => a.replica.staleMs !== undefined);
    await expect(a.replica.refresh("writes")).rejects.toMatchObject({ code: "store_unavailable" });
    a.line.isCut = false;
    await until(() => a.replica.staleMs === undefined);
    const b = await fixture.machine("b");
    await until(async () => {
      await b.replica.refresh("reads");
      return b.text("f") === "2\n";
    });
  });

  it("a new machine starts also if it takes long to apply what others have done", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" });
    await a.write("f", "2\n");
    const b = await fixture.machine("b", {}, local, line => {
      line.slowGets = 2000; // longer than a read waits for the store
    });
    expect(b.text("f")).toBe("2\n");
  });

  it("an exhausted quota stops the next change, and loses nothing that was answered here", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" }, { ...local, maxBytes: 3000 });
    await a.write("big", "x".repeat(4000));
    await until(async () => {
      const again = await a.write("f", "2\n").catch((error: unknown) => error);
      return again instanceof Error;
    });
    await expect(a.write("f", "2\n")).rejects.toMatchObject({
      code: "history_full",
      data: { limit: 3000 },
    });
    expect(a.text("big")).toHaveLength(4000);
  });
});

describe("a new replica of many files", () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i % 4}/f${i}`, `${i}\n`]));

  it("can read one file before the others have arrived, and then has all", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", files);
    await a.edit("d0/f0", text => `${text}edited\n`);
    const b = await fixture.machine("b", {}, { waitForFiles: 5 }, line => {
      line.slowGets = 20;
    });
    await b.replica.refresh("reads", [["d3/f39"]]);
    expect(b.text("d3/f39")).toBe("39\n");
    expect(Object.keys(b.tree()).length).toBeLessThan(40);
    // A later change touches this one: it waits for everything.
    await b.replica.refresh("reads", [["d0/f0"]]);
    expect(b.text("d0/f0")).toBe("0\nedited\n");
    expect(b.tree()).toEqual(a.tree());
    await b.write("d3/f39", "by b\n");
    await a.replica.refresh("reads");
    expect(a.text("d3/f39")).toBe("by b\n");
  });

  it("a change made elsewhere while files are fetched is seen by the next read", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", files);
    const b = await fixture.machine("b", {}, { waitForFiles: 5 }, line => {
      line.slowGets = 20;
    });
    await b.replica.refresh("reads", [["d3/f39:1-2", "d3/f39"]]);
    await a.write("d3/f39", "newer\n");
    await b.replica.refresh("reads", [["d3/f39:1-2", "d3/f39"]]);
    expect(b.text("d3/f39")).toBe("newer\n");
    expect(b.tree()).toEqual(a.tree());
  });
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(resolve => setTimeout(resolve, 20));
}

it("where an answered change overlaps with one of others, only its lines give way, not those of other callers", async () => {
  await using fixture = new Fixture();
  const warned: string[] = [];
  const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
  const local = { durability: "local", warn: (message: string) => warned.push(message) } as const;
  const a = await fixture.machine("a", { "f.txt": lines }, local);
  const b = await fixture.machine("b");
  let go = () => {};
  a.line.holds = new Promise<void>(resolve => {
    go = resolve;
  });
  for (const [old, text] of Object.entries({ 1: "one", 5: "five", 9: "nine" }))
    await a.edit("f.txt", all => all.replace(old, text));
  await b.edit("f.txt", all => all.replace("5", "FIVE").replace("7", "SEVEN"));
  go();
  await a.replica.sent();
  await b.replica.refresh("writes");
  expect(b.text("f.txt")).toBe("one\n2\n3\n4\nFIVE\n6\nSEVEN\n8\nnine\n");
  expect(a.tree()).toEqual(b.tree());
  expect(warned.join()).toMatch(/f\.txt was changed here and by revision 2 in the same place/);
});
