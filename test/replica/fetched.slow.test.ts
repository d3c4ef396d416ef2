// What a replica fetches when it starts is in its history, and in no list of changes.
import { expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Fixture } from "./fixture.ts";

it("lists the changes that were made, and not the files that were fetched", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { "f.txt": "1\n", "g.txt": "1\n" });
  const b = await fixture.machine("b");
  expect(b.tree()).toEqual(a.tree());
  expect(await listChanges(b.workspace, { limit: 10 })).toEqual([]);
  const { id } = await a.write("f.txt", "2\n");
  await b.replica.refresh("writes");
  const listed = await listChanges(b.workspace, { limit: 1 });
  expect(listed.map(one => one.id)).toEqual([id]);
});
