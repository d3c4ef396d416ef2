// The first replica publishes its directory while others wait for it. What dies on the way is given up after a while, and
// only that.
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { bodyOf } from "../../src/engine/replica/entry-body.ts";
import { Fixture } from "./fixture.ts";

const importMs = 600;

it("an import is not given up while it sends a file that takes longer than others wait for a sign of it", async () => {
  await using fixture = new Fixture();
  let began = () => {};
  const sends = new Promise<void>(resolve => {
    began = resolve;
  });
  const first = fixture.machine("a", { large: "precious\n", small: "1\n" }, { importMs }, line => {
    line.beforeSending = async () => {
      began();
      await pause(4 * importMs);
    };
  });
  await sends;
  const second = fixture.machine("b", {}, { importMs });
  const [a, b] = await Promise.all([first, second]);
  expect(a.replica.id).toBe(b.replica.id);
  expect(b.text("large")).toBe("precious\n");
  await b.write("small", "2\n");
  await a.replica.refresh("reads");
  expect(a.tree()).toEqual(b.tree());
});

it("a sign of an import that got no answer does not end it when it is sent again", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { f: "1\n" }, { importMs }, line => {
    line.afterEntries = async () => {
      line.afterEntries = async () => {};
      line.isCut = true;
      await pause(importMs);
      line.isCut = false;
    };
  });
  const entries = await fixture.store.entries(a.replica.id, 0, 10);
  const ends = entries.map(entry => bodyOf(entry).complete !== false);
  expect(ends.length).toBeGreaterThan(1);
  expect(ends.indexOf(true)).toBe(entries.findIndex(entry => bodyOf(entry).operations.length > 0));
});

it("an import that died is abandoned, and the next replica starts over", async () => {
  await using fixture = new Fixture();
  const dead = await fixture.store.create({ name: "w" });
  const a = await fixture.machine("a", { f: "1\n" }, { importMs });
  expect(a.replica.id).not.toBe((dead as { id: string }).id);
  const b = await fixture.machine("b");
  expect(b.text("f")).toBe("1\n");
});

it("an empty directory does not become the workspace while the one whose import died starts again", async () => {
  await using fixture = new Fixture();
  await fixture.store.create({ name: "w" });
  const second = fixture.machine("b", {}, { importMs });
  const first = pause(2 * importMs).then(() => fixture.machine("a", { f: "1\n" }, { importMs }));
  const [a, b] = await Promise.all([first, second]);
  expect(b.replica.id).toBe(a.replica.id);
  expect(b.text("f")).toBe("1\n");
});

it("with nothing but empty directories, one of them begins the workspace after a while", async () => {
  await using fixture = new Fixture();
  await fixture.store.create({ name: "w" });
  const a = await fixture.machine("a", {}, { importMs: importMs / 10 });
  await a.write("f", "1\n");
  expect((await fixture.machine("b")).text("f")).toBe("1\n");
});
