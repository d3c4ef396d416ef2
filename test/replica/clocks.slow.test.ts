// Machines whose clocks are hours apart: ids and times of changes say little about what happened first.
import { afterEach, expect, it, vi } from "vitest";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture } from "./fixture.ts";

const hourMs = 3_600_000;
const real = Date.now;

afterEach(() => void vi.restoreAllMocks());

/** Runs an action while the clock is so many hours ahead. */
async function at<T>(hours: number, action: () => Promise<T>): Promise<T> {
  const clock = vi.spyOn(Date, "now").mockImplementation(() => real() + hours * hourMs);
  try {
    return await action();
  } finally {
    clock.mockRestore();
  }
}

it("a command does not take what another machine writes meanwhile for its own", async () => {
  await using fixture = new Fixture();
  await fixture.machine("a", { "f.txt": "0\n" });
  const b = await at(-1, () => fixture.machine("b"));
  const deaf = (line: { isDeaf: boolean }) => {
    line.isDeaf = true; // it would pull while the clock is that of the other one
  };
  const c = await at(1, () => fixture.machine("c", {}, {}, deaf));
  const by = { action: "run_command", client: "test", connection: "c" };
  const look = await at(1, async () => await Before.look(c.workspace));
  using _ = look;
  await at(-1, async () => {
    await b.write("f.txt", "0\ntheirs\n");
    await b.write("new.txt", "theirs\n");
  });
  const id = await at(1, async () => {
    await c.replica.refresh("writes");
    c.put("own.txt", "own\n");
    return (await record(c.workspace, await look.compare(), by))?.record.id ?? "";
  });
  await at(1, () => undo(c.workspace, { change: id }));
  await b.replica.refresh("writes");
  expect(c.tree()).toEqual(b.tree());
  expect([c.text("f.txt"), c.text("new.txt")]).toEqual(["0\ntheirs\n", "theirs\n"]);
});

it("an id that is made here sorts after those of the log, also where it was only read", async () => {
  await using fixture = new Fixture();
  await fixture.machine("a", { "f.txt": "0\n" });
  const b = await at(-3, () => fixture.machine("b"));
  await at(-3, () => b.write("f.txt", "1\n"));
  const info = await fixture.store.find("w");
  const ids = (await fixture.store.entries(info?.id ?? "", 0, 100)).map(entry => entry.id);
  expect(ids.length).toBeGreaterThan(1);
  expect(ids.toSorted()).toEqual(ids);
});
