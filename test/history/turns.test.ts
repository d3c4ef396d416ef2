// Long histories: other work runs while they are read.
import { describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { standing } from "../../src/engine/history/standing.ts";
import type { ChangeRecord } from "../../src/engine/workspace/archive/log.ts";
import { Fixture } from "../commit/fixture.ts";

/** Records as many changes of one file. */
async function addChanges(fixture: Fixture, count: number): Promise<void> {
  const { workspace } = fixture;
  await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from("b") }]);
  await workspace.allRecorded();
  const { changes } = workspace.archive;
  const [made] = [...changes.newest()] as [ChangeRecord];
  for (const id of changes.newIds(count)) changes.add({ ...made, id });
}

/** How often the event loop turns until something is done. */
async function turnsUntil(done: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await done;
  isDone = true;
  return turns;
}

describe("a history of thousands of changes", () => {
  it("is searched for one path without blocking other work", async () => {
    using fixture = new Fixture({ a: "a", b: "b" });
    await addChanges(fixture, 3000);
    const { workspace } = fixture;
    const path = workspace.at("b");
    expect(await turnsUntil(listChanges(workspace, { path, limit: 10 }))).toBeGreaterThan(2);
    const all = async () => {
      let count = 0;
      for await (const _ of standing(workspace)) count++;
      expect(count).toBe(3001);
    };
    expect(await turnsUntil(all())).toBeGreaterThan(2);
  });

  it("is not read further back than the change that is named", async () => {
    using fixture = new Fixture({ a: "a" });
    await addChanges(fixture, 5);
    const { changes } = fixture.workspace.archive;
    const [, , , behind] = [...changes.newest()] as ChangeRecord[];
    expect([...changes.newest(undefined, behind?.id)]).toHaveLength(3);
  });
});
