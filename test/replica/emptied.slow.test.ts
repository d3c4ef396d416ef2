// A machine with changes that the store lacks finds less in its directory than it left there: the directory was
// emptied, replaced, or restored. The others must not lose what it lacks.
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lostPaths } from "../../src/engine/replica/lost-paths.ts";
import type { RecordedFile } from "../../src/engine/workspace/archive/log.ts";
import { Fixture, type Machine } from "./fixture.ts";

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
  let go = () => {};
  const held = new Promise<void>(resolve => {
    go = resolve;
  });
  a.line.beforeAppend = () => held;
  await a.workspace.commit([{ kind: "remove", path: a.workspace.at("gone") }]);
  await a.workspace.commit([
    { kind: "move", from: a.workspace.at("away/j"), to: a.workspace.at("e/moved"), overwrite: false },
  ]);
  await a.workspace.commit([{ kind: "remove", path: a.workspace.at("away"), recursive: true }]);
  await a.write("unsent", "8\n");
  a.line.isCut = true;
  go();
  await a.replica[Symbol.asyncDispose]();
  await a.workspace.settled();
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
