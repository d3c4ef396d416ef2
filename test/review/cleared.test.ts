// The review page lists the changes that history has: also when most of them are in files of many.
import { mkdirSync } from "node:fs";
import { expect, it } from "vitest";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";
import { Review } from "../../src/review/review.ts";
import { Fixture } from "../commit/fixture.ts";

const forever = Number.POSITIVE_INFINITY;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 20));
}

it("a change that is cleared away is no longer listed, also if it was gathered before", async () => {
  using fixture = new Fixture();
  mkdirSync(fixture.state, { mode: 0o700 });
  const { changes } = fixture.workspace.archive;
  const ids = changes.newIds(1700);
  for (const id of ids)
    changes.add({ id, time: Date.now(), action: "a", client: "b", files: [], parents: [], kept: true });
  using review = new Review(fixture.workspace, fixture.state);
  await review.index.ready;
  await changes.gather(10_000, forever);
  expect(review.index.size).toBe(1700);
  for (const most of [1000, 100]) {
    atOnce(changes.clear(most, forever));
    await changes.gather(most, forever);
    await until(() => review.index.size <= most);
    expect([...review.index.newest()].map(({ id }) => id).reverse()).toEqual(ids.slice(-most));
  }
});
