// A machine with changes that the store lacks finds less in its directory than it left there: the directory was
// emptied, replaced, or restored. The others must not lose what it lacks.
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { lostPaths } from "../../src/engine/replica/lost-paths.ts";
import type { RecordedFile } from "../../src/engine/workspace/archive/log.ts";
import { Fixture, type Machine, stopWith } from "./fixture.ts";

const files = {
  f: "1\n",
  "d/g": "2\n",
  "d/h": "3\n",
  "e/i": "4\n",
  gone: "5\n",
  "away/j": "6\n",
  "away/k": "7\n",
};

/** Changes that are answered and not sent, and then the machine is stopped. */
async function stoppedUnsent(fixture: Fixture): Promise<{ a: Machine; b: Machine; warned: string[] }> {
  const a = await fixture.machine("a", files, { durability: "local" });
  const b = await fixture.machine("b");
  await stopWith(a, async () => {
    await a.workspace.commit([{ kind: "remove", path: a.workspace.at("gone") }]);
    await a.workspace.commit([
      { kind: "move", from: a.workspace.at("away/j"), to: a.workspace.at("e/moved"), overwrite: false },
    ]);
    await a.workspace.commit([{ kind: "remove", path: a.workspace.at("away"), recursive: true }]);
    await a.write("unsent", "8\n");
  });
  return { a, b, warned: [] };
}

const ways: Record<string, (root: string) => void> = {
  emptied: root => {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  },
  "replaced by an empty one": root => {
    renameSync(root, `${root} before`);
    mkdirSync(root);
  },
};

for (const [how, spoil] of Object.entries(ways))
  it(`a directory that was ${how} gets the files from the store again, without what was removed here`, async () => {
    await using fixture = new Fixture();
    const { a, b, warned } = await stoppedUnsent(fixture);
    spoil(a.root);
    const again = await fixture.machine("a", {}, { warn: message => warned.push(message) });
    await b.replica.refresh("reads");
    const { f, "d/g": g, "d/h": h, "e/i": i } = b.tree();
    expect([f, g, h, i]).toEqual(["644 1\n", "644 2\n", "644 3\n", "644 4\n"]);
    expect(Object.keys(b.tree()).filter(name => /gone|away/.test(name))).toEqual([]);
    expect(again.tree()).toEqual(b.tree());
    expect(warned.join()).toMatch(/^\d paths are gone .* d, e, f/);
  });

it("what is left in a directory that lost a part is sent, and so is what was removed here", async () => {
  await using fixture = new Fixture();
  const { a, b } = await stoppedUnsent(fixture);
  rmSync(join(a.root, "d"), { recursive: true });
  await b.write("d/new", "b's\n");
  const again = await fixture.machine("a");
  await b.replica.refresh("reads");
  expect(b.tree()).toEqual({
    ...{ d: "755/", "d/g": "644 2\n", "d/h": "644 3\n", "d/new": "644 b's\n" },
    ...{ e: "755/", "e/i": "644 4\n", "e/moved": "644 6\n", f: "644 1\n", unsent: "644 8\n" },
  });
  expect(again.tree()).toEqual(b.tree());
});

it("a directory that was restored from an old copy takes back nothing that others did, only what was taken back here", async () => {
  await using fixture = new Fixture();
  const warned: string[] = [];
  const local = { durability: "local", warn: (message: string) => warned.push(message) } as const;
  const lines = "1\n2\n3\n4\n5\n";
  const a = await fixture.machine("a", { ...files, f: lines, "was/x": "8\n", taken: lines }, local);
  const b = await fixture.machine("b");
  cpSync(a.root, `${a.root} before`, { recursive: true });
  const path = (name: string) => b.workspace.at(name);
  await b.edit("f", text => text.replace("1", "one"));
  await b.workspace.commit([{ kind: "remove", path: path("d"), recursive: true }]);
  await b.workspace.commit([{ kind: "move", from: path("was"), to: path("is"), overwrite: false }]);
  const { id } = await b.edit("taken", text => text.replace("2", "two"));
  await a.replica.refresh("writes");
  await a.edit("f", text => text.replace("2", "two"));
  await a.replica.sent();
  await stopWith(a, async () => {
    await undo(a.workspace, { change: id });
    await a.write("unsent", "8\n");
  });
  await b.edit("f", text => text.replace("5", "five"));
  rmSync(a.root, { recursive: true });
  renameSync(`${a.root} before`, a.root);
  mkdirSync(join(a.root, "new"));
  writeFileSync(join(a.root, "new/program"), "9\n");
  const again = await fixture.machine("a", {}, local);
  await b.replica.refresh("reads");
  expect(b.tree()).toEqual({
    ...{ away: "755/", "away/j": "644 6\n", "away/k": "644 7\n", e: "755/", "e/i": "644 4\n" },
    ...{ f: "644 one\ntwo\n3\n4\nfive\n", gone: "644 5\n", is: "755/", "is/x": "644 8\n" },
    ...{ new: "755/", "new/program": "644 9\n", taken: `644 ${lines}` },
  });
  expect(again.tree()).toEqual(b.tree());
  expect(warned.filter(one => one.includes("hold what they held earlier")).join()).toMatch(
    /^6 paths .*: d, d\/g, d\/h, f, was, was\/x\./,
  );
});

it("what is new in a restored directory is sent, and what was restored beside it is not, whatever its permissions", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", files, { durability: "local" });
  const b = await fixture.machine("b");
  await b.workspace.commit([{ kind: "remove", path: b.workspace.at("d"), recursive: true }]);
  await a.replica.refresh("writes");
  await stopWith(a, () => a.write("unsent", "8\n"));
  mkdirSync(join(a.root, "d"));
  writeFileSync(join(a.root, "d/g"), files["d/g"], { mode: 0o600 });
  writeFileSync(join(a.root, "d/new"), "9\n");
  const again = await fixture.machine("a");
  await b.replica.refresh("reads");
  expect(Object.keys(b.tree()).filter(name => /^(d|unsent)/.test(name))).toEqual(["d", "d/new", "unsent"]);
  expect(again.tree()).toEqual(b.tree());
});

it("what was restored is fetched although what is new does not fit into the store, and takes back nothing later", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", files, { durability: "local" });
  const b = await fixture.machine("b");
  cpSync(a.root, `${a.root} before`, { recursive: true });
  await b.edit("f", () => "theirs\n");
  await b.workspace.commit([{ kind: "remove", path: b.workspace.at("d"), recursive: true }]);
  await a.replica.refresh("writes");
  await stopWith(a, () => a.write("unsent", "8\n".repeat(10_000)));
  cpSync(join(a.root, "unsent"), `${a.root} before/unsent`);
  rmSync(a.root, { recursive: true });
  renameSync(`${a.root} before`, a.root);
  const again = await fixture.machine("a", {}, { maxBytes: 10_000 });
  expect(again.text("f")).toBe("theirs\n");
  expect(again.text("unsent")).toHaveLength(20_000);
  rmSync(join(again.root, "unsent"));
  await again.replica.publishChanges({ action: "run_command", client: "test" });
  await b.replica.refresh("reads");
  expect([b.text("f"), Object.keys(b.tree()).includes("d")]).toEqual(["theirs\n", false]);
  expect(again.tree()).toEqual(b.tree());
  // Nothing here was answered any more: what others do wins, as ever.
  again.put("x/made", "by a program\n");
  await b.write("x", "theirs\n");
  await again.replica.publishChanges({ action: "run_command", client: "test" });
  await b.replica.refresh("reads");
  expect(b.text("x")).toBe("theirs\n");
  expect(again.tree()).toEqual(b.tree());
});

it("the latest change that concerns a path says whether it was removed", async () => {
  const lost = async (paths: string[], ...history: Partial<RecordedFile>[][]) => {
    const changes = {
      async *newestInTurns() {
        for (const one of history.toReversed()) yield { files: one } as never;
      },
    };
    return [...(await lostPaths(paths, changes))].sort();
  };
  const removed = { at: "/r/d", effect: "removed" } as const;
  expect(await lost(["/r/d", "/r/d/x", "/r/dx"], [removed])).toEqual(["/r/dx"]);
  expect(await lost(["/r/d"], [removed], [{ at: "/r/d/x", effect: "created" }])).toEqual(["/r/d"]);
  expect(await lost(["/r/d/x"], [removed], [{ at: "/r/d", effect: "copied" }])).toEqual(["/r/d/x"]);
  expect(await lost(["/r/d/x"], [removed], [{ at: "/r/d", effect: "modified" }])).toEqual([]);
  expect(await lost(["/r/d/x"], [{ at: "/r/e", from: "/r/d", effect: "moved" }])).toEqual([]);
  expect(await lost(["/r/e/x"], [{ at: "/r/e", from: "/r/d", effect: "moved" }])).toEqual(["/r/e/x"]);
  expect(await lost(["/r/d"], [{ at: "/r/d/x", effect: "removed" }])).toEqual(["/r/d"]);
});
