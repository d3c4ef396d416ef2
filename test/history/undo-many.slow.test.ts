// An undo of several changes that stops halfway: all are undone or none, or the error names those that stay undone.
import { expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undoMany } from "../../src/engine/history/undo-many.ts";
import { errno, watching } from "../commit/failing.ts";
import { Fixture } from "../commit/fixture.ts";

const names = ["a.txt", "b.txt", "c.txt"];
const before = Object.fromEntries(names.map(name => [name, "old\n"]));

/** Undoes three changes while something interferes. What it threw, and the names of the files that are undone. */
async function undoing(interfere: (count: number, name: string, stop: AbortController) => void) {
  using fixture = new Fixture(before);
  for (const name of names) await fixture.commit([fixture.write(name, "new\n")]);
  const changes = await listChanges(fixture.workspace, { limit: 3 });
  const stop = new AbortController();
  let calls = 0;
  const error: unknown = await watching(
    (count, name) => {
      calls = count;
      interfere(count, name, stop);
    },
    () => undoMany(fixture.workspace, changes, { signal: stop.signal }),
  ).then(
    () => undefined,
    thrown => thrown,
  );
  const tree = fixture.tree();
  expect(Object.keys(tree)).toEqual(names);
  const idOf = (name: string) => changes.find(({ files }) => files.some(({ at }) => at.endsWith(name)))?.id;
  const undone = names.filter(name => tree[name] === "old\n").map(name => idOf(name) ?? name);
  return { error, undone, calls };
}

it("a cancelled undo of several changes leaves all of them undone, or none", async () => {
  let refused = 0;
  for (let at = 1; ; at += 7) {
    const { error, undone, calls } = await undoing((count, _, stop) => count === at && stop.abort());
    if (calls < at) break;
    expect(undone, `call ${at}`).toHaveLength(error === undefined ? 3 : 0);
    if (error !== undefined) refused++;
  }
  expect(refused).toBeGreaterThan(3);
});

it("if a disk that stays full stops an undo of several changes, the error names those that stay undone", async () => {
  let left = 0;
  const writes = new Set(["write", "open", "link"]);
  for (let at = 1; ; at += 7) {
    const { error, undone, calls } = await undoing((count, name) => {
      if (count >= at && writes.has(name)) throw errno("ENOSPC", name);
    });
    if (calls < at) break;
    if (error === undefined) expect(undone, `call ${at}`).toHaveLength(3);
    else if (Fault.is(error, "partly_undone")) {
      left++;
      expect(new Set(error.data.changes), `call ${at}`).toEqual(new Set(undone));
    } else expect(undone, `call ${at}: ${error}`).toEqual([]);
  }
  expect(left).toBeGreaterThan(1);
});
