// A journal is emptied soon after the answer. While one holds commits, other processes that ask about history wait
// for it, so no commit may leave it standing, and a process that makes no more commits must empty it all the same.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { holdsCommits } from "../../src/engine/workspace/commit/journal.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { errno, watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

/** The journals that hold commits. */
function standing(fixture: Fixture): string[] {
  const processes = join(fixture.state, "processes");
  return readdirSync(processes)
    .flatMap(folder => readdirSync(join(processes, folder)).map(name => join(folder, name)))
    .filter(name => name.includes("journal-") && holdsCommits(join(processes, name)) !== undefined);
}

const emptied = (fixture: Fixture) =>
  expect.poll(() => standing(fixture), { timeout: 20_000, interval: 20 }).toEqual([]);

describe("a journal is emptied without another commit", () => {
  it("where a directory was removed straight after a file in it", async () => {
    using fixture = new Fixture({ "sub/a": "a\n", "sub/b": "b\n" });
    await fixture.commit([{ kind: "remove", path: fixture.at("sub/a") }]);
    await fixture.commit([{ kind: "remove", path: fixture.at("sub"), recursive: true }]);
    expect(standing(fixture)).not.toEqual([]);
    await emptied(fixture);
    expect(readdirSync(fixture.inside)).toEqual([]);
  });

  it("where a directory was moved straight after a file in it was replaced", async () => {
    using fixture = new Fixture({ "sub/a": "a\n" });
    await fixture.commit([fixture.write("sub/a", "A\n")]);
    await fixture.commit([{ kind: "move", from: fixture.at("sub"), to: fixture.at("moved") }]);
    await emptied(fixture);
    expect(readdirSync(fixture.inside)).toEqual(["moved"]);
    expect(readdirSync(join(fixture.inside, "moved"))).toEqual(["a"]);
  });

  it("where the disk failed the first time", async () => {
    using fixture = new Fixture({ "sub/a": "a\n" });
    let failures = 0;
    let committed: unknown;
    await watching(
      (_, name) => {
        if (!name.startsWith("flush") || committed === undefined) return;
        failures++;
        throw errno("EIO", name);
      },
      async () => {
        committed = await fixture.commit([fixture.write("sub/a", "A\n")]);
        await expect.poll(() => failures, { timeout: 20_000 }).toBeGreaterThan(0);
      },
    );
    expect(standing(fixture)).not.toEqual([]);
    await emptied(fixture);
  });
});

it("of many commits that failed and could not be rolled back at first, none is forgotten", async () => {
  using fixture = new Fixture({ a: "a\n" });
  await fixture.commit([fixture.write("a", "first\n")]);
  await emptied(fixture);
  const isLock = (path: unknown) => /^[0-9a-f]{32,}$/.test(basename(String(path)));
  await watching(
    (_, name, args) => {
      if (name === "rename" || (name.startsWith("unlink") && !isLock(args[0]))) throw errno("EIO", name);
    },
    async () => {
      for (let i = 0; i < 120; i++)
        await expect(fixture.commit([fixture.write("a", `${i}\n`)])).rejects.toThrow();
    },
  );
  expect(readdirSync(fixture.inside).length).toBeGreaterThan(110);
  await fixture.commit([fixture.write("a", "A\n")]);
  expect(readdirSync(fixture.inside)).toEqual(["a"]);
  expect(fixture.text("a")).toBe("A\n");
  await emptied(fixture);
});

it("while a checkpoint waits for the disk, commits are recorded all the same, and more of them begin", async () => {
  const names = Array.from({ length: 200 }, (_, i) => `file-${i}`);
  using fixture = new Fixture(Object.fromEntries(names.map(name => [name, "old\n"])));
  for (const text of ["first\n", "second\n"]) {
    // The first flush of each journal includes the directories above it.
    await fixture.commit([fixture.write("file-0", text)]);
    await emptied(fixture);
  }
  let open = () => {};
  const gate = new Promise<void>(resolve => {
    open = resolve;
  });
  const { flushLater } = sys;
  sys.flushLater = async fd => {
    await gate;
    await flushLater(fd);
  };
  try {
    await Promise.all(names.map(name => fixture.commit([fixture.write(name, `${name}\n`)])));
    for (const name of names) expect(fixture.text(name)).toBe(`${name}\n`);
  } finally {
    open();
    sys.flushLater = flushLater;
  }
  await emptied(fixture);
  expect(fixture.workspace.archive.changes.ids().length).toBe(202);
}, 60_000);
