// A store can lose changes that were acknowledged: a failover to a standby that was behind, or an older backup that is
// restored while replicas run. Others then write in the place of what was lost. A replica that has the lost changes
// stops until it starts again: applied to its copy, the new ones would make a tree that no other replica has.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture } from "./fixture.ts";

describe("a store that has lost changes", () => {
  it("stops a replica that has them, also when others have written as many, or more", async () => {
    await using fixture = new Fixture();
    const [store, backup] = [join(fixture.path, "store"), join(fixture.path, "backup")];
    const a = await fixture.machine("a", { f: "1\n" });
    a.line.isDeaf = true;
    await a.write("g", "before the backup\n");
    cpSync(store, backup, { recursive: true });
    for (const name of ["lost 1", "lost 2"]) await a.write(name, "acknowledged\n");
    const before = a.tree();
    rmSync(store, { recursive: true });
    cpSync(backup, store, { recursive: true });
    const b = await fixture.machine("b");
    const damaged = { code: "store_unavailable", data: { reason: "damaged" } };

    for (const name of ["new 1", "new 2"]) await b.write(name, "b's\n");
    await expect(a.write("mixed", "a's\n")).rejects.toMatchObject(damaged);
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeDefined();

    await b.write("new 3", "b's\n");
    await expect(a.write("mixed", "a's\n")).rejects.toMatchObject(damaged);
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeDefined();
    expect(a.tree()).toEqual(before);

    await b.replica.refresh("reads");
    await a.replica[Symbol.asyncDispose]();
    expect((await fixture.machine("a")).tree()).toEqual(b.tree());
  });

  it("leaves the only copies of what it lost in the history of the replica, and the next start says so", async () => {
    await using fixture = new Fixture();
    const [store, backup] = [join(fixture.path, "store"), join(fixture.path, "backup")];
    const a = await fixture.machine("a", { f: "1\n", kept: "1\n" });
    cpSync(store, backup, { recursive: true });
    await a.write("lost/new", "acknowledged\n");
    await a.write("f", "acknowledged\n");
    await a.replica[Symbol.asyncDispose]();
    await a.workspace.settled();
    rmSync(store, { recursive: true });
    cpSync(backup, store, { recursive: true });
    const warned: string[] = [];
    const again = await fixture.machine("a", {}, { warn: message => warned.push(message) });
    expect(again.tree()).toMatchObject({ f: "644 1\n", kept: "644 1\n" });
    expect(warned.join()).toContain("2 files of this directory are not in the store");
    expect(warned.join()).toMatch(/lost\/new.*f|f.*lost\/new/);
    const [change] = [...again.workspace.archive.changes.newest()].filter(one => one.action === "set_aside");
    expect(warned.join()).toContain(`undo ${change?.id}`);
    await undo(again.workspace, { change: change?.id });
    const b = await fixture.machine("b");
    expect([b.text("lost/new"), b.text("f")]).toEqual(["acknowledged\n", "acknowledged\n"]);
    expect(b.tree()).toEqual(again.tree());
  });

  it("keeps what others have written under the numbers of lost changes, if a replica starts with unsent ones", async () => {
    await using fixture = new Fixture();
    const [store, backup] = [join(fixture.path, "store"), join(fixture.path, "backup")];
    const a = await fixture.machine("a", { f: "1\n" }, { durability: "local" });
    cpSync(store, backup, { recursive: true });
    for (const name of ["lost 1", "lost 2"]) await a.write(name, "acknowledged\n");
    await a.replica.sent();
    a.line.isCut = true;
    await a.write("unsent", "acknowledged\n");
    await a.replica[Symbol.asyncDispose]();
    await a.workspace.settled();
    rmSync(store, { recursive: true });
    cpSync(backup, store, { recursive: true });
    const b = await fixture.machine("b");
    await b.write("f", "b's\n");
    await b.write("new", "b's\n");
    expect(b.replica.revision).toBe(3);
    const [theirs, warned] = [b.tree(), [] as string[]];

    const again = await fixture.machine("a", {}, { warn: message => warned.push(message) });
    await b.replica.refresh("reads");
    expect(b.tree()).toEqual(theirs);
    expect(again.tree()).toEqual(theirs);
    expect(warned.join()).toMatch(/3 files of this directory are not in the store/);
    const [change] = [...again.workspace.archive.changes.newest()].filter(one => one.action === "set_aside");
    await undo(again.workspace, { change: change?.id });
    await b.replica.refresh("reads");
    const lost = {
      "lost 1": "644 acknowledged\n",
      "lost 2": "644 acknowledged\n",
      unsent: "644 acknowledged\n",
    };
    expect(b.tree()).toEqual({ ...theirs, ...lost });
  });

  it("is not suspected by a replica that was only behind", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n", g: "1\n" });
    const b = await fixture.machine("b");
    await b.replica[Symbol.asyncDispose]();
    await b.workspace.settled();
    await a.write("f", "2\n");
    await a.workspace.commit([{ kind: "remove", path: a.workspace.at("g") }]);
    for (let i = 0; i < 210; i++) await a.write("f", `${i}\n`);
    const warned: string[] = [];
    const again = await fixture.machine("b", {}, { warn: message => warned.push(message) });
    expect(again.tree()).toEqual(a.tree());
    expect(warned).toEqual([]);
  });

  it("is noticed by a replica that reads what others have written since", async () => {
    await using fixture = new Fixture();
    const [store, backup] = [join(fixture.path, "store"), join(fixture.path, "backup")];
    const a = await fixture.machine("a", { f: "1\n" });
    a.line.isDeaf = true;
    cpSync(store, backup, { recursive: true });
    await a.write("lost", "acknowledged\n");
    const before = a.tree();
    rmSync(store, { recursive: true });
    cpSync(backup, store, { recursive: true });
    const b = await fixture.machine("b");
    for (const name of ["new 1", "new 2"]) await b.write(name, "b's\n");
    await a.replica.refresh("reads");
    expect(a.replica.staleMs).toBeDefined();
    expect(a.tree()).toEqual(before);
  });
});
