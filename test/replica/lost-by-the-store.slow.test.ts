// A store can lose changes that were acknowledged: a failover to a standby that was behind, or an older backup that is
// restored while replicas run. Others then write in the place of what was lost. A replica that has the lost changes
// stops until it starts again: applied to its copy, the new ones would make a tree that no other replica has.
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
