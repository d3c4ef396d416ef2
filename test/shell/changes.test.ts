// What a command changed in the roots, found by looking before and after.
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareTrees, type TreeComparison } from "../../src/engine/workspace/footprint/compare-trees.ts";
import { type SnapshotOptions, snapshotTree } from "../../src/engine/workspace/footprint/tree-snapshot.ts";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});
afterEach(() => fixture[Symbol.dispose]());

const bounds: SnapshotOptions = { maxEntries: 10_000 };

async function changesOf(command: string, options = bounds): Promise<TreeComparison> {
  const before = await snapshotTree(fixture.workspace.roots, options);
  await fixture.run(command);
  const { keeper: _, ...after } = options;
  return await compareTrees(before, await snapshotTree(fixture.workspace.roots, after));
}

function told({ changes }: TreeComparison): string[] {
  return changes.map(({ path, change }) => `${change} ${relative(fixture.root, path)}`);
}

function write(...names: string[]): void {
  for (const name of names) writeFileSync(join(fixture.root, name), name);
}

describe("what a command changed", () => {
  it("is nothing where it only read", async () => {
    mkdirSync(join(fixture.root, "d"));
    write("a", "d/b");
    expect(await changesOf("cat a d/b; ls -la . d; touch d/x; rm d/x")).toEqual({
      changes: [],
      complete: true,
      skipped: [],
    });
  });

  it("is reported by path: created, modified, deleted, permissions", async () => {
    mkdirSync(join(fixture.root, "d"));
    mkdirSync(join(fixture.root, "gone"));
    write("a", "b", "c", "d/e", "gone/f", "m");
    symlinkSync("a", join(fixture.root, "link"));
    const found = await changesOf(
      "echo x >> a; echo y > d/new; rm b; rm -r gone; chmod 700 m; mv c c2; ln -sfn m link; mkdir made; rm d/e; mkdir d/e",
    );
    expect(told(found)).toEqual([
      "modified a",
      "deleted b",
      "deleted c",
      "created c2",
      "modified d/e",
      "created d/new",
      "deleted gone",
      "deleted gone/f",
      "modified link",
      "mode m",
      "created made",
    ]);
  });

  it("is detected even if size and time are the same", async () => {
    write("a", "b");
    for (const name of ["a", "b"]) utimesSync(join(fixture.root, name), 1e9, 1e9);
    const found = await changesOf(
      "printf z > a; touch -d @1000000000 a; printf b > b2; touch -d @1000000000 b2; mv b2 b",
    );
    expect(told(found)).toEqual(["touched a", "modified b"]);
  });

  it("is reported for names that are not UTF-8 too", async () => {
    expect(told(await changesOf("touch \"$(printf 'n\\377')\" ü"))).toEqual(
      ["created n\\xff", "created ü"].sort(),
    );
  });

  it("is not guessed where the tree is larger than the bound", async () => {
    for (let i = 0; i < 30; i++) write(`f${String(i).padStart(2, "0")}`);
    const found = await changesOf("echo x > f00; echo x > f29; touch new", { maxEntries: 20 });
    expect(found.complete).toBe(false);
    expect(told(found)).toEqual(["modified f00"]);
  });

  it("leaves out skipped directories, and says so", async () => {
    mkdirSync(join(fixture.root, "node_modules"));
    const found = await changesOf("touch node_modules/a b", { ...bounds, skip: new Set(["node_modules"]) });
    expect(told(found)).toEqual(["created b"]);
    expect(found.skipped).toEqual([{ path: join(fixture.root, "node_modules"), state: "changed" }]);
    const unchanged = await changesOf("touch c", { ...bounds, skip: new Set(["node_modules"]) });
    expect(unchanged.skipped).toEqual([{ path: join(fixture.root, "node_modules"), state: "same" }]);
  });

  it("counts a root within a root once", async () => {
    mkdirSync(join(fixture.root, "inner"));
    fixture.grant([
      { path: fixture.root, access: "read-write" },
      { path: join(fixture.root, "inner"), access: "read-only" },
    ]);
    expect(told(await changesOf("touch inner/a"))).toEqual(["created inner/a"]);
  });
});

describe("contents are saved before the command runs", () => {
  it("up to a limit; the rest cannot be restored, and the answer says so", async () => {
    write("a", "small");
    writeFileSync(join(fixture.root, "large"), "x".repeat(1000));
    const aside = new Map<string, string>();
    const keeper = {
      maxBytes: 100,
      async keep(
        path: string,
        _: unknown,
        open: () => { bytes(limit: number): Promise<Buffer> } & Disposable,
      ) {
        using file = open();
        const content = (await file.bytes(1000)).toString();
        aside.set(relative(fixture.root, path), content);
        return `hash of ${content}`;
      },
    };
    const found = await changesOf("rm a large; echo new > small; touch made; chmod 700 pub.txt", {
      ...bounds,
      keeper,
    });
    expect(found.changes.map(({ path, restorable }) => [relative(fixture.root, path), restorable])).toEqual([
      ["a", true],
      ["large", false],
      ["made", true],
      ["pub.txt", true],
      ["small", true],
    ]);
    expect([...aside]).toEqual([
      ["a", "a"],
      ["pub.txt", "PUBLIC\n"],
      ["small", "small"],
    ]);
  });

  it("and a file that cannot be saved is reported as not restorable", async () => {
    write("a");
    chmodSync(join(fixture.root, "a"), 0o600);
    const keeper = { maxBytes: 100, keep: () => Promise.reject(new Error("full")) };
    const found = await changesOf("rm a", { ...bounds, keeper });
    expect(found.changes).toMatchObject([{ change: "deleted", restorable: false }]);
  });
});
