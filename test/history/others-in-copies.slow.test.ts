// What others write into a copy that a commit has just put in place is theirs, also where the copy is recorded after
// that: undoing the copy must not take it away.
import { appendFileSync, lstatSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { errno, watching } from "../commit/failing.ts";
import { Fixture, faultOf } from "../commit/fixture.ts";

interface Copy {
  readonly change: (fixture: Fixture) => Change;
  /** What another program does to the result. */
  readonly touch: (to: string) => void;
}

const append = (to: string) => appendFileSync(to, "theirs\n");
const copied =
  (from: string) =>
  (fixture: Fixture): Change => ({
    kind: "copy",
    from: fixture.at(from),
    to: fixture.at("to"),
  });

const copies: Record<string, Copy> = {
  "a copied directory": { change: copied("d"), touch: to => append(join(to, "e/f")) },
  "a copied directory with a new file": {
    change: copied("d"),
    touch: to => writeFileSync(join(to, "theirs"), ""),
  },
  "a copied file": { change: copied("d/e/f"), touch: append },
  "a new link": {
    change: fixture => ({ kind: "symlink", path: fixture.at("to"), target: "d" }),
    touch: to => {
      unlinkSync(to);
      symlinkSync("theirs", to);
    },
  },
  "a large new file": {
    change: fixture => ({
      kind: "write",
      path: fixture.at("to"),
      bytes: Buffer.alloc(17 * 1024 * 1024, "x"),
    }),
    touch: append,
  },
};

const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const files = { "d/a": "a\n", "d/e/f": "f\n", "d/g": "g\n" };

it.each(Object.keys(copies))("%s that others change at any time afterwards", async name => {
  const { change, touch } = copies[name] as Copy;
  for (let later = 0, calls = 1; later < calls; later += name.includes("large") ? 9 : 11) {
    using fixture = new Fixture(files);
    const to = join(fixture.inside, "to");
    let since = 0;
    const commit = await watching(
      () => {
        if (isThere(to) && since++ === later) touch(to);
      },
      async () => {
        const done = await fixture.commit([change(fixture)]);
        await fixture.workspace.settled();
        return done;
      },
    );
    calls = since;
    if (later >= since) touch(to);
    const theirs = fixture.tree();
    expect([later, await faultOf(undo(fixture.workspace, { change: commit.id }))]).toEqual([later, "stale"]);
    expect(fixture.tree()).toEqual(theirs);
  }
});

it.each(Object.keys(copies))("%s is undone if no other program changed it", async name => {
  using fixture = new Fixture(files);
  const before = fixture.tree();
  const commit = await fixture.commit([(copies[name] as Copy).change(fixture)]);
  await undo(fixture.workspace, { change: commit.id });
  await fixture.workspace.settled();
  expect(fixture.tree()).toEqual(before);
});

const inObjects = Object.keys(copies).filter(name => name !== "a new link");

it.each(inObjects)("%s that could not be kept says so when it is undone", async name => {
  const { change } = copies[name] as Copy;
  using fixture = new Fixture(files);
  fixture.workspace.at("d");
  const commit = await watching(
    (_, call, args) => {
      if (call === "open" && String(args[0]).includes("/objects/")) throw errno("ENOSPC", "open");
    },
    () => fixture.commit([change(fixture)]),
  );
  expect(commit.recorded).toBe(false);
  expect(await faultOf(undo(fixture.workspace, { change: commit.id }))).toBe("not_kept");
  expect(isThere(join(fixture.inside, "to"))).toBe(true);
});
