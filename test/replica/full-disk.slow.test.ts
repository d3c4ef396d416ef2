// A replica whose disk is full: the answer names the disk, not the store, reads continue, and the replica goes on by
// itself when there is room.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { fill, mountSmall } from "../commit/small-disk.ts";
import { Fixture } from "./fixture.ts";

const patience = { timeout: 60_000, interval: 50 };

it("reads continue, writes name the disk, and others' changes arrive when there is room", async context => {
  await using fixture = new Fixture();
  await using disk = mountSmall(join(fixture.path, "b"));
  if (!disk.mounted) return context.skip();
  const warned: string[] = [];
  const a = await fixture.machine("a", { "f.txt": "1\n" });
  const b = await fixture.machine("b", {}, { warn: message => warned.push(message) });
  // Without notifications or requests, this replica does not learn what the others append while there is room.
  b.line.isDeaf = true;
  fill(b.root);
  await a.write("g.txt", "x".repeat(300_000));
  await b.replica.refresh("reads");
  expect(b.text("f.txt")).toBe("1\n");
  expect(b.replica.staleMs).toBeDefined();
  expect(b.replica.staleCause).toMatchObject({ code: "no_space" });
  expect(warned.join("\n")).toMatch(/cannot be written here \(the disk is full/);
  expect(warned.join("\n")).not.toContain("store cannot");
  await expect(b.replica.refresh("writes")).rejects.toMatchObject({ code: "no_space" });
  rmSync(join(b.root, "ballast"));
  await vi.waitFor(() => expect(b.text("g.txt")).toBe(a.text("g.txt")), patience);
  expect(b.replica.staleMs).toBeUndefined();
});

it("a store that was out of reach and answers again is not blamed for the disk", async context => {
  await using fixture = new Fixture();
  await using disk = mountSmall(join(fixture.path, "b"));
  if (!disk.mounted) return context.skip();
  const a = await fixture.machine("a", { "f.txt": "1\n" });
  const b = await fixture.machine("b");
  b.line.isCut = true;
  await b.replica.refresh("reads");
  expect(b.replica.staleCause).toMatchObject({ code: "store_unavailable" });
  fill(b.root);
  await a.write("g.txt", "x".repeat(300_000));
  b.line.isCut = false;
  await vi.waitFor(() => expect(b.replica.staleCause).toMatchObject({ code: "no_space" }), patience);
  rmSync(join(b.root, "ballast"));
  await vi.waitFor(() => expect(b.text("g.txt")).toBe(a.text("g.txt")), patience);
});

it("what a command did is published when there is room in the state directory", async context => {
  await using fixture = new Fixture();
  const state = join(fixture.path, "state-b");
  await using disk = mountSmall(state);
  if (!disk.mounted) return context.skip();
  const a = await fixture.machine("a", { "f.txt": "1\n" });
  const b = await fixture.machine("b");
  b.put("made.txt", "y".repeat(100_000));
  fill(state);
  const by = { action: "run_command", client: "test", connection: "c" };
  await expect(b.replica.publishChanges(by)).rejects.toMatchObject({ code: "no_space" });
  rmSync(join(state, "ballast"));
  await vi.waitFor(async () => {
    await a.replica.refresh("reads");
    expect(a.text("made.txt")).toBe(b.text("made.txt"));
  }, patience);
});
