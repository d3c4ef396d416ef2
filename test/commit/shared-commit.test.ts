// Edits of one file that wait for its lock are made together: one flush and one rename, and for each of them a change
// of its own.
import { linkSync, lstatSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { errno, watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

type Edit = (bytes: Buffer) => Buffer | undefined | Promise<Buffer | undefined>;
const added = (line: string) => (bytes: Buffer) => Buffer.concat([bytes, Buffer.from(`${line}\n`)]);

/** Lets everything that was started reach the queue. */
async function inQueue(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve));
}

/** Starts edits of `a`; the first computes only when all others wait behind it, or when the gate opens. */
function together(
  fixture: Fixture,
  edits: readonly Edit[],
  { gate = inQueue(), signals = [] }: { gate?: Promise<void>; signals?: readonly AbortSignal[] } = {},
) {
  return edits.map((edit, i) =>
    fixture.workspace.as({ action: `edit ${i}`, client: "test" }).edit(
      fixture.at("a"),
      async bytes => {
        if (i === 0) await gate;
        return edit(bytes);
      },
      { ...(signals[i] && { signal: signals[i] }) },
    ),
  );
}

describe("edits of one file that wait for its lock", () => {
  it("share a rename, and each has its own change, author and content in history", async () => {
    using fixture = new Fixture({ a: "0\n" });
    const { workspace } = fixture;
    await workspace.edit(fixture.at("a"), added("warm"));
    await workspace.settled();
    const path = join(fixture.inside, "a");
    const inodes = new Set<number>();
    const told: string[] = [];
    workspace.onCommit(async ({ id, files }) => {
      inodes.add(lstatSync(path).ino);
      const before = await files[0]?.before?.bytes();
      const after = await files[0]?.after?.bytes();
      told.push(`${id} ${before?.toString().split("\n").length} ${after?.toString().split("\n").length}`);
    });
    const seen: string[] = [];
    const edits = ["1", "2", "3", "4", "5"].map(line => (bytes: Buffer) => {
      seen.push(fixture.text("a"));
      return added(line)(bytes);
    });
    const commits = await Promise.all(together(fixture, edits));
    expect(fixture.text("a")).toBe("0\nwarm\n1\n2\n3\n4\n5\n");
    // All were computed before anything was renamed, and the file was replaced once.
    expect(new Set(seen)).toEqual(new Set(["0\nwarm\n"]));
    expect(inodes.size).toBe(1);
    expect(told).toEqual(commits.map(({ id }, i) => `${id} ${i + 3} ${i + 4}`));
    const ids = commits.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    const { changes, objects } = workspace.archive;
    const text = (hash: string | undefined) => objects.get(hash ?? "")?.toString();
    let lines = "0\nwarm\n";
    for (const [i, id] of ids.entries()) {
      const record = changes.get(id);
      const [file] = record?.files ?? [];
      const [before, after] = [file?.before, file?.after];
      expect(record).toMatchObject({ action: `edit ${i}`, kept: true });
      expect(before?.kind === "file" && text(before.hash)).toBe(lines);
      lines += `${i + 1}\n`;
      expect(after?.kind === "file" && text(after.hash)).toBe(lines);
    }
  });

  it("can be undone one by one, also one in the middle", async () => {
    using fixture = new Fixture({ a: "one\n\n\n\ntwo\n\n\n\nthree\n" });
    const upper = (word: string) => (bytes: Buffer) =>
      Buffer.from(bytes.toString().replace(word, word.toUpperCase()));
    const commits = await Promise.all(together(fixture, ["one", "two", "three"].map(upper)));
    await undo(fixture.workspace, { change: commits[1]?.id ?? "" });
    expect(fixture.text("a")).toBe("ONE\n\n\n\ntwo\n\n\n\nTHREE\n");
    await undo(fixture.workspace, { change: commits[0]?.id ?? "" });
    expect(fixture.text("a")).toBe("one\n\n\n\ntwo\n\n\n\nTHREE\n");
  });

  it("are all in the history even while the archive cannot be written, and complete once it can", async () => {
    using fixture = new Fixture({ a: "0\n" });
    const { workspace, state } = fixture;
    await workspace.edit(fixture.at("a"), added("warm"));
    await workspace.settled();
    renameSync(join(state, "objects"), join(state, "objects-away"));
    writeFileSync(join(state, "objects"), "");
    const commits = await Promise.all(together(fixture, ["1", "2", "3"].map(added)));
    const ids = commits.map(({ id }) => id).reverse();
    const listed = async () => (await listChanges(workspace, { limit: 3 })).map(({ id, kept }) => [id, kept]);
    expect(await listed()).toEqual(ids.map(id => [id, false]));
    rmSync(join(state, "objects"));
    renameSync(join(state, "objects-away"), join(state, "objects"));
    expect(await listed()).toEqual(ids.map(id => [id, true]));
  });

  it("fail one by one: the others are made, in their order", async () => {
    using fixture = new Fixture({ a: "0\n" });
    const fails = () => {
      throw new Fault("no_change", { path: "a", edit: 0 });
    };
    const outcomes = await Promise.allSettled(
      together(fixture, [added("1"), fails, added("3"), () => undefined, added("5")]),
    );
    expect(fixture.text("a")).toBe("0\n1\n3\n5\n");
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    const files = outcomes.map(one =>
      one.status === "fulfilled" ? one.value.files.length : one.reason.code,
    );
    expect(files).toEqual([1, "no_change", 1, 0, 1]);
  });

  it("that are cancelled while they wait are not made", async () => {
    using fixture = new Fixture({ a: "0\n" });
    const stop = new AbortController();
    const never = new AbortController().signal;
    const gate = inQueue().then(() => stop.abort(new Error("cancelled")));
    const signals = [never, stop.signal, never];
    const edits = together(fixture, ["1", "2", "3"].map(added), { gate, signals });
    const outcomes = await Promise.allSettled(edits);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(fixture.text("a")).toBe("0\n1\n3\n");
  });

  it("keep their order where something else waits between them", async () => {
    using fixture = new Fixture({ a: "0\n", b: "b" });
    let open = () => {};
    const gate = new Promise<void>(resolve => {
      open = resolve;
    });
    const edits = together(fixture, [added("1"), added("2")], { gate });
    await inQueue();
    const write = fixture.commit([fixture.write("a", "all new\n")]);
    await inQueue();
    const both = fixture.workspace.editAll([fixture.at("a"), fixture.at("b")], files =>
      files.map(({ path, bytes }) => ({ kind: "write", path, bytes: added("both")(bytes as Buffer) })),
    );
    await inQueue();
    const last = fixture.workspace.edit(fixture.at("a"), added("last"));
    await inQueue();
    open();
    await Promise.all([...edits, write, both, last]);
    expect(fixture.text("a")).toBe("all new\nboth\nlast\n");
  });

  it("start over together when another program changes the file under them", async () => {
    using fixture = new Fixture({ a: "0\n" });
    let calls = 0;
    const meddled: Edit = bytes => {
      if (calls++ === 0) writeFileSync(join(fixture.inside, "a"), "X\n");
      return added("2")(bytes);
    };
    await Promise.all(together(fixture, [added("1"), meddled, added("3")]));
    expect(fixture.text("a").split("\n").toSorted().join("")).toBe("123X");
    expect(fixture.text("a").startsWith("X\n")).toBe(true);
  });

  it("are made one by one if they cannot be made together, and nothing is lost", async () => {
    // A slow disk is flushed by another thread.
    for (const failing of ["rename", "flushData or flushDataLater", "open"]) {
      using fixture = new Fixture({ a: "0\n" });
      await fixture.workspace.edit(fixture.at("a"), added("warm"));
      await fixture.workspace.settled();
      let [full, failed] = [false, false];
      const first: Edit = bytes => {
        full = true;
        return added("1")(bytes);
      };
      const outcomes = await watching(
        (_, name) => {
          // The first of these calls after the queue is full belongs to the shared commit.
          if (!failing.split(" or ").includes(name) || failed || !full) return;
          failed = true;
          throw errno("EACCES", name);
        },
        () => Promise.allSettled(together(fixture, [first, added("2"), added("3")])),
      );
      expect({ failing, failed }).toEqual({ failing, failed: true });
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled"]);
      expect(fixture.text("a").split("\n").toSorted().join("")).toBe("0123warm");
    }
  });

  it("of a large file, or of one with another name, are made one by one", async () => {
    using fixture = new Fixture({ a: `${"x".repeat(300_000)}\n` });
    await Promise.all(together(fixture, ["1", "2", "3"].map(added)));
    expect(fixture.text("a").slice(300_001)).toBe("1\n2\n3\n");
    await fixture.commit([fixture.write("a", "small\n")]);
    linkSync(join(fixture.inside, "a"), join(fixture.inside, "b"));
    await Promise.all(together(fixture, ["1", "2", "3"].map(added)));
    expect([fixture.text("a"), fixture.text("b")]).toEqual(["small\n1\n2\n3\n", "small\n"]);
  });
});
