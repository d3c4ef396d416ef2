// Forks on one machine: what a fork has, what differs, and what a merge brings back.
import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { undoHunks } from "../../src/engine/history/undo-hunks.ts";
import { fill, mountSmall } from "../commit/small-disk.ts";
import { Fixture, treeOf } from "./fixture.ts";

const lines = (...all: string[]) => `${all.join("\n")}\n`;

async function conflictsOf(action: Promise<unknown>) {
  const error = await action.then(
    () => undefined,
    reason => reason,
  );
  if (!Fault.is(error, "merge_conflict")) throw error ?? new Error("it was merged");
  return error.data.conflicts;
}

describe("a fork", () => {
  it("has all files of its base, ignored ones too, and keeps its changes to itself", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({
      ".gitignore": "node_modules/\n",
      "a.txt": "a\n",
      "node_modules/x/index.js": "x\n",
    });
    expect(treeOf(fork.root)).toEqual(treeOf(base));
    fixture.files(fork.root, { "a.txt": "changed\n", "b.txt": "new\n" });
    expect(treeOf(base)["a.txt"]).toBe("a\n");
    const changes = await fixture.workspaces.diff(fork, fixture.opener);
    expect(changes.map(({ path }) => path)).toEqual(["a.txt", "b.txt"]);
  });

  it.each(["../elsewhere", "other", "gone"])(
    "may have a link to %s in place of a directory",
    async target => {
      using fixture = new Fixture();
      fixture.files("elsewhere", { ".gitignore": "a\n" });
      const { base, fork } = await fixture.forked({
        "d/a": "a\n",
        "d/e/a": "a\n",
        "other/.gitignore": "a\n",
      });
      rmSync(join(fork.root, "d"), { recursive: true });
      symlinkSync(target, join(fork.root, "d"));
      const changes = await fixture.workspaces.diff(fork, fixture.opener);
      expect(changes.map(({ path }) => path)).toEqual(["d", "d/a", "d/e", "d/e/a"]);
      await fixture.workspaces.merge(fork, fixture.opener);
      expect(lstatSync(join(base, "d")).isSymbolicLink()).toBe(true);
    },
  );

  it("leaves ignored files and .git out of the difference", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({
      ".gitignore": "out/\n*.log\n",
      ".git/HEAD": "x\n",
      a: "a\n",
    });
    fixture.files(fork.root, { "out/b.js": "b\n", "c.log": "c\n", ".git/HEAD": "y\n", "d.txt": "d\n" });
    const changes = await fixture.workspaces.diff(fork, fixture.opener);
    expect(changes.map(({ path }) => path)).toEqual(["d.txt"]);
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      ".gitignore": "out/\n*.log\n",
      ".git/HEAD": "x\n",
      a: "a\n",
      "d.txt": "d\n",
    });
  });

  it("is the base at one moment: later changes of the base do not show in it", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n" });
    writeFileSync(join(base, "a.txt"), "in place\n");
    expect(readFileSync(join(fork.root, "a.txt"), "utf8")).toBe("a\n");
    const second = await fixture.workspaces.fork("second", "main", "me");
    expect(readFileSync(join(second.root, "a.txt"), "utf8")).toBe("in place\n");
  });
});

describe("the name of a workspace", () => {
  it.each(["../x", "a/b", "..", "a..b", "", "a\nb", "a\0b", "x".repeat(65), ".hidden", "-x", "ä", "a b"])(
    "cannot be %j",
    async name => {
      using fixture = new Fixture("link");
      await expect(fixture.workspaces.create(name, undefined, "")).rejects.toMatchObject({
        code: "invalid_workspace_name",
      });
      expect(await fixture.workspaces.list()).toEqual([]);
    },
  );
});

describe("a merge", () => {
  const alike = (name: string, edits: Readonly<Record<number, string>> = {}) =>
    lines(name, ...Array.from({ length: 19 }, (_, n) => edits[n] ?? `common ${n}`));

  it("brings the base's edits to the files that the fork moved, however similar these are", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": alike("a"), "b.txt": alike("b") });
    renameSync(join(fork.root, "a.txt"), join(fork.root, "y.txt"));
    renameSync(join(fork.root, "b.txt"), join(fork.root, "x.txt"));
    const own = { 12: "fork", 14: "fork", 16: "fork" };
    fixture.files(fork.root, { "y.txt": alike("a", own) });
    fixture.files(base, { "a.txt": alike("a", { 3: "edit of a" }), "b.txt": alike("b", { 6: "edit of b" }) });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "x.txt": alike("b", { 6: "edit of b" }),
      "y.txt": alike("a", { ...own, 3: "edit of a" }),
    });
  });

  it("does not take a file for another one that the fork deleted", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": alike("a"), "b.txt": alike("b") });
    renameSync(join(fork.root, "b.txt"), join(fork.root, "c.txt"));
    rmSync(join(fork.root, "a.txt"));
    fixture.files(base, { "a.txt": alike("a", { 3: "edit of a" }) });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toMatchObject([
      { path: "a.txt", reason: "deleted_in_fork" },
    ]);
  });

  it("does not take an ignored file of the base for one that it moved", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ ".gitignore": "build/\n", "src/mod.py": alike("m") });
    fixture.files(fork.root, { "src/mod.py": alike("m", { 3: "edit" }) });
    renameSync(join(base, "src/mod.py"), join(base, "src/renamed.py"));
    fixture.files(base, { "build/lib/mod.py": alike("m") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toMatchObject({
      "build/lib/mod.py": alike("m"),
      "src/renamed.py": alike("m", { 3: "edit" }),
    });
  });

  it("tells equal files apart by their directories where the base moved them all", async () => {
    using fixture = new Fixture("link");
    const names = ["alpha", "beta", "gamma"].map(name => `src/${name}/__init__.py`);
    const { base, fork } = await fixture.forked(Object.fromEntries(names.map(name => [name, alike("i")])));
    fixture.files(fork.root, { "src/beta/__init__.py": alike("i", { 3: "edit" }) });
    renameSync(join(base, "src"), join(base, "lib"));
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "lib/alpha/__init__.py": alike("i"),
      "lib/beta/__init__.py": alike("i", { 3: "edit" }),
      "lib/gamma/__init__.py": alike("i"),
    });
  });

  it("prefers the new path with most in common among equal files, and the most similar file among others", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({
      "a/two/i.py": alike("i"),
      "b/one/i.py": alike("i"),
      "m.txt": alike("m"),
      "n.txt": alike("n", { 15: "n", 16: "n", 17: "n" }),
    });
    fixture.files(fork.root, {
      "a/two/i.py": alike("i", { 3: "edit" }),
      "n.txt": alike("n", { 3: "edit", 15: "n", 16: "n", 17: "n" }),
    });
    for (const name of ["a", "b", "m.txt", "n.txt"]) rmSync(join(base, name), { recursive: true });
    fixture.files(base, {
      "c/one/i.py": alike("i"),
      "c/two/i.py": alike("i"),
      "o.txt": alike("n", { 9: "base", 15: "n", 16: "n", 17: "n" }),
    });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "c/one/i.py": alike("i"),
      "c/two/i.py": alike("i", { 3: "edit" }),
      "o.txt": alike("n", { 3: "edit", 9: "base", 15: "n", 16: "n", 17: "n" }),
    });
  });

  it("reports that the fork deleted one of two equal files that the base moved", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "p1/index.ts": alike("i"), "p2/index.ts": alike("i") });
    rmSync(join(fork.root, "p2"), { recursive: true });
    for (const n of [1, 2]) renameSync(join(base, `p${n}`), join(base, `q${n}`));
    fixture.files(base, { "q2/index.ts": alike("i", { 3: "edit" }) });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toMatchObject([
      { reason: "deleted_in_fork", moved: { base: "q2/index.ts" } },
    ]);
  });

  it.each([
    ["a.txt", "b.txt"],
    ["b.txt", "a.txt"],
  ])("never puts the edits of two files into one: %s was moved, %s deleted", async (moved, deleted) => {
    using fixture = new Fixture("link");
    const common = Array.from({ length: 12 }, (_, n) => `common ${n}`);
    const text = (name: string, all = common) => lines(`head of ${name}`, ...all, `tail of ${name}`);
    const { base, fork } = await fixture.forked({ "a.txt": text("a.txt"), "b.txt": text("b.txt") });
    fixture.files(fork.root, {
      "a.txt": text("a.txt", common.with(3, "edit of a")),
      "b.txt": text("b.txt", common.with(9, "edit of b")),
    });
    renameSync(join(base, moved), join(base, "c.txt"));
    rmSync(join(base, deleted));
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toMatchObject([
      { path: deleted, reason: "deleted_in_base" },
    ]);
    fixture.files(fork.root, { [deleted]: text(deleted) });
    await fixture.workspaces.merge(fork, fixture.opener);
    const edited = moved === "a.txt" ? common.with(3, "edit of a") : common.with(9, "edit of b");
    expect(treeOf(base)).toEqual({ "c.txt": text(moved, edited) });
  });

  it("brings edits, new files, deletions, modes, links and binaries to the base, beside what changed there", async () => {
    using fixture = new Fixture("copy");
    const { base, fork } = await fixture.forked({
      "both.txt": lines("1", "2", "3", "4", "5"),
      "gone.txt": "gone\n",
      "tool.sh": "#!/bin/sh\n",
      "logo.png": Buffer.from([0, 1, 2, 3]),
      "d/e/f.txt": "f\n",
    });
    symlinkSync("a", join(base, "link"));
    const second = await fixture.workspaces.fork("second", "main", "me");
    expect(second.snapshot).not.toBe(fork.snapshot);
    fixture.files(second.root, {
      "both.txt": lines("one", "2", "3", "4", "5"),
      "gone.txt": null,
      "logo.png": Buffer.from([0, 9, 9]),
      "new/deep/file.txt": "new\n",
      "d/e/f.txt": null,
      "d/e": null,
    });
    chmodSync(join(second.root, "tool.sh"), 0o755);
    rmSync(join(second.root, "link"));
    symlinkSync("b", join(second.root, "link"));
    fixture.files(base, { "both.txt": lines("1", "2", "3", "4", "five"), "theirs.txt": "theirs\n" });
    const { change, files } = await fixture.workspaces.merge(second, fixture.opener);
    expect(change).toMatch(/^m/);
    expect(files.find(({ path }) => path === "both.txt")).toMatchObject({ effect: "changed", merged: true });
    expect(treeOf(base)).toEqual({
      "both.txt": lines("one", "2", "3", "4", "five"),
      "tool.sh": "#!/bin/sh\n",
      "logo.png": "\0\t\t",
      "new/deep/file.txt": "new\n",
      "theirs.txt": "theirs\n",
      "d/": "{}",
      link: "-> b",
    });
    expect(lstatSync(join(base, "tool.sh")).mode & 0o777).toBe(0o755);
  });

  it("is refused with both sides where both changed the same, and nothing is merged", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": lines("1", "2", "3"), "b.txt": "b\n" });
    fixture.files(fork.root, { "a.txt": lines("1", "fork", "3"), "b.txt": "changed\n" });
    fixture.files(base, { "a.txt": lines("1", "base", "3") });
    const conflicts = await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    expect(conflicts).toEqual([
      {
        path: "a.txt",
        reason: "both_changed",
        fork: [{ line: 2, text: "fork" }],
        base: [{ line: 2, text: "base" }],
      },
    ]);
    expect(treeOf(base)).toEqual({ "a.txt": lines("1", "base", "3"), "b.txt": "b\n" });
  });

  it("is refused with the lines of both files where both added one, and with no line after the last", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n" });
    fixture.files(fork.root, { "new.txt": "fork\n", "void.txt": "" });
    fixture.files(base, { "new.txt": "base", "void.txt": "base\n\n" });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toEqual([
      {
        path: "new.txt",
        reason: "both_added",
        fork: [{ line: 1, text: "fork" }],
        base: [{ line: 1, text: "base" }],
      },
      {
        path: "void.txt",
        reason: "both_added",
        fork: [],
        base: [
          { line: 1, text: "base" },
          { line: 2, text: "" },
        ],
      },
    ]);
  });

  it("is refused with what one side changed in a file that the other deleted", async () => {
    using fixture = new Fixture("link");
    const numbers = lines("1", "2", "3", "4");
    const { base, fork } = await fixture.forked({ "a.txt": numbers, "b.txt": numbers, "c.bin": "a\0b" });
    rmSync(join(fork.root, "a.txt"));
    rmSync(join(base, "b.txt"));
    rmSync(join(fork.root, "c.bin"));
    fixture.files(base, { "a.txt": lines("1", "two", "3", "4", "5"), "c.bin": "a\0c" });
    fixture.files(fork.root, { "b.txt": lines("1", "2", "THREE", "4") });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toEqual([
      {
        path: "a.txt",
        reason: "deleted_in_fork",
        base: [
          { line: 2, text: "two" },
          { line: 5, text: "5" },
        ],
      },
      { path: "b.txt", reason: "deleted_in_base", fork: [{ line: 3, text: "THREE" }] },
      { path: "c.bin", reason: "deleted_in_fork" },
    ]);
  });

  it("succeeds in a second step, after the fork rewrote the conflicting lines", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({
      "a.txt": lines("1", "2", "3"),
      "b.txt": "b\n",
      "c.txt": "c\n",
    });
    fixture.files(fork.root, { "a.txt": lines("1", "fork", "3"), "b.txt": "mine\n", "c.txt": null });
    fixture.files(base, { "a.txt": lines("1", "base", "3"), "b.txt": null, "c.txt": "changed\n" });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toHaveLength(3);
    fixture.files(fork.root, {
      "a.txt": lines("1", "fork and base", "3"),
      "b.txt": "mine, again\n",
      "c.txt": "both\n",
    });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "a.txt": lines("1", "fork and base", "3"),
      "b.txt": "mine, again\n",
      "c.txt": "both\n",
    });
  });

  it("keeps what the base changed elsewhere in a file whose overlap was rewritten", async () => {
    using fixture = new Fixture("link");
    const text = (second: string, last: string) => lines("1", second, "3", "4", "5", "6", "7", "8", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("2", "9") });
    fixture.files(fork.root, { "a.txt": text("fork", "9") });
    fixture.files(base, { "a.txt": text("base", "nine") });
    await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    fixture.files(fork.root, { "a.txt": text("both", "9") });
    // The report must match what is there: the base changed the line once more.
    fixture.files(base, { "a.txt": text("base again", "nine") });
    await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    fixture.files(fork.root, { "a.txt": text("all three", "9") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)["a.txt"]).toBe(text("all three", "nine"));
  });

  it("refuses a rename on one side and a deletion on the other, until the fork decides", async () => {
    using fixture = new Fixture("link");
    const body = lines("1", "2", "3", "4");
    const other = lines("a", "b", "c", "d");
    const { base, fork } = await fixture.forked({ "a.txt": body, "b.txt": other });
    renameSync(join(fork.root, "a.txt"), join(fork.root, "moved.txt"));
    rmSync(join(base, "a.txt"));
    rmSync(join(fork.root, "b.txt"));
    renameSync(join(base, "b.txt"), join(base, "other.txt"));
    const conflicts = await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    expect(conflicts).toEqual([
      { path: "moved.txt", reason: "deleted_in_base", moved: { fork: "moved.txt" } },
      { path: "other.txt", reason: "deleted_in_fork", moved: { base: "other.txt" } },
    ]);
    fixture.files(fork.root, { "moved.txt": `${body}kept\n`, "other.txt": other });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "moved.txt": `${body}kept\n`, "other.txt": other });
  });

  it("stays refused while an overlap is as it was, whatever else the fork changes", async () => {
    using fixture = new Fixture("link");
    const text = (second: string, last: string) => lines("1", second, "3", "4", "5", "6", "7", "8", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("2", "9") });
    fixture.files(fork.root, { "a.txt": text("fork", "9") });
    fixture.files(base, { "a.txt": text("base", "9") });
    await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    fixture.files(fork.root, { "a.txt": text("fork", "nine") });
    await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    expect(treeOf(base)["a.txt"]).toBe(text("base", "9"));
  });

  it("follows renames on either side", async () => {
    using fixture = new Fixture("link");
    const body = (first: string, last: string) => lines(first, "2", "3", "4", "5", "6", "7", "8", last);
    const { base, fork } = await fixture.forked({
      "a.txt": body("1", "9"),
      "b.txt": body("b1", "b9"),
      "c.txt": body("c1", "c9"),
    });
    renameSync(join(fork.root, "a.txt"), join(fork.root, "moved.txt"));
    fixture.files(fork.root, { "moved.txt": body("one", "9"), "b.txt": body("b one", "b9") });
    fixture.files(base, { "a.txt": body("1", "nine") });
    renameSync(join(base, "b.txt"), join(base, "other.txt"));
    fixture.files(base, { "other.txt": body("b1", "b nine") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "moved.txt": body("one", "nine"),
      "other.txt": body("b one", "b nine"),
      "c.txt": body("c1", "c9"),
    });
  });

  it("refuses two renames of one file, and a file where the base has a directory", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": lines("1", "2", "3") });
    renameSync(join(fork.root, "a.txt"), join(fork.root, "left.txt"));
    renameSync(join(base, "a.txt"), join(base, "right.txt"));
    fixture.files(fork.root, { x: "a file\n", "y/inside": "y\n" });
    fixture.files(base, { "x/inside": "a directory\n", y: "a file\n" });
    const conflicts = await conflictsOf(fixture.workspaces.merge(fork, fixture.opener));
    expect(conflicts.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
      "left.txt both_renamed",
      "x kinds",
      "y kinds",
      "y/inside in_the_way",
    ]);
  });

  it("merges a file that replaces a directory that the base deleted, and the other way round", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "d/a": "a\n", f: "f\n", "e/a": "a\n", g: "g\n" });
    fixture.files(fork.root, { d: null, f: null, e: null, g: null });
    fixture.files(fork.root, { d: "file\n", "f/b": "b\n" });
    fixture.files(base, { d: null, f: null, e: null, g: null });
    fixture.files(base, { e: "file\n", "g/b": "b\n" });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ d: "file\n", "f/b": "b\n", e: "file\n", "g/b": "b\n" });
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
  });

  it("follows a file into a directory of its old name, and refuses one that the base replaced by a directory", async () => {
    using fixture = new Fixture("link");
    const text = (name: string) => lines(...Array.from({ length: 9 }, (_, i) => `${name} ${i}`));
    const { base, fork } = await fixture.forked({ f: text("f"), g: text("g"), h: text("h") });
    for (const name of ["f", "g"]) fixture.files(fork.root, { [name]: null });
    fixture.files(fork.root, { "f/inner": text("f"), moved: text("g") });
    fixture.files(base, { f: text("f").replace("f 4", "changed"), g: null, h: null });
    fixture.files(base, { "g/new": "new\n", h2: text("h") });
    expect(await conflictsOf(fixture.workspaces.merge(fork, fixture.opener))).toEqual([
      { path: "moved", reason: "deleted_in_base", moved: { fork: "moved" } },
    ]);
    fixture.files(fork.root, { moved: null });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({
      "f/inner": text("f").replace("f 4", "changed"),
      "g/new": "new\n",
      h2: text("h"),
    });
  });

  it("brings only new changes when it is repeated", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": lines("1", "2", "3", "4", "5") });
    fixture.files(fork.root, { "a.txt": lines("one", "2", "3", "4", "5"), "b.txt": "b\n" });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
    expect((await fixture.workspaces.merge(fork, fixture.opener)).files).toEqual([]);
    fixture.files(base, { "a.txt": lines("uno", "2", "3", "4", "5"), "b.txt": null });
    fixture.files(fork.root, { "a.txt": lines("one", "2", "3", "4", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": lines("uno", "2", "3", "4", "five") });
  });

  it("is one change of the base, and can be made again after it was undone", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n", "b.txt": "b\n" });
    const before = treeOf(base);
    fixture.files(fork.root, { "a.txt": "changed\n", "b.txt": null, "c/d.txt": "d\n" });
    const { change } = await fixture.workspaces.merge(fork, fixture.opener);
    const after = treeOf(base);
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    await undo(workspace, { change: change ?? "" });
    expect(treeOf(base)).toEqual(before);
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual(after);
  });

  it("counts as made after it was undone and made again: later work in the base stays", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, last: string) => lines(first, "2", "3", "4", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("1", "5") });
    fixture.files(fork.root, { "a.txt": text("1", "five"), "new.txt": "new\n" });
    const main = await fixture.workspaces.find("main");
    for (let times = 0; times < 2; times++) {
      const { change } = await fixture.workspaces.merge(fork, fixture.opener);
      using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
      await undo(workspace, { change: change ?? "" });
    }
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
    fixture.files(base, { "a.txt": text("1", "5"), "new.txt": null });
    fixture.files(fork.root, { "a.txt": text("one", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": text("one", "5") });
  });

  it("does not count as made if it is undone again after it was made again", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n" });
    fixture.files(fork.root, { "a.txt": "changed\n" });
    const main = await fixture.workspaces.find("main");
    const { change = "" } = await fixture.workspaces.merge(fork, fixture.opener);
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    await undo(workspace, { change });
    await fixture.workspaces.merge(fork, fixture.opener);
    await undo(workspace, { change });
    expect(treeOf(base)).toEqual({ "a.txt": "a\n" });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": "changed\n" });
  });

  it("does not count as made if it was undone after a later one", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, last: string) => lines(first, "2", "3", "4", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("1", "5") });
    fixture.files(fork.root, { "a.txt": text("1", "five") });
    const { change } = await fixture.workspaces.merge(fork, fixture.opener);
    fixture.files(fork.root, { "a.txt": text("one", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    await undo(workspace, { change: change ?? "" });
    expect(treeOf(base)).toEqual({ "a.txt": text("one", "5") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": text("one", "five") });
  });

  it("counts as made if an earlier one is undone: what either side takes back of it stays so", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, middle: string, last: string) => lines(first, "2", middle, "4", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("1", "3", "5") });
    fixture.files(fork.root, { "a.txt": text("one", "3", "5") });
    const { change } = await fixture.workspaces.merge(fork, fixture.opener);
    fixture.files(fork.root, { "a.txt": text("one", "three", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    await undo(workspace, { change: change ?? "" });
    fixture.files(base, { "a.txt": text("1", "3", "five") });
    fixture.files(fork.root, { "a.txt": text("one", "three", "5") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": text("one", "3", "5") });
  });

  it("does not count as made at a path where it was undone, and can be made again there", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, last: string) => lines(first, "2", "3", "4", last);
    const { base, fork } = await fixture.forked({ a: text("1", "5"), b: text("1", "5"), "d/e": "e\n" });
    fixture.files(fork.root, { a: text("one", "5"), b: text("one", "5"), d: null, "new/f": "f\n" });
    const { change = "" } = await fixture.workspaces.merge(fork, fixture.opener);
    const after = treeOf(base);
    fixture.files(base, { a: text("one", "base") });
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    for (const path of ["a", "d", "new"])
      await undo(workspace, { change, path: workspace.at(join(base, path)) });
    expect(treeOf(base)).toEqual({ a: text("1", "base"), b: text("one", "5"), "d/e": "e\n" });
    fixture.files(base, { b: text("uno", "5") });
    const differ = await fixture.workspaces.diff(fork, fixture.opener);
    expect(differ.map(({ path }) => path)).toEqual(["a", "d", "d/e", "new", "new/f"]);
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ ...after, a: text("one", "base"), b: text("uno", "5") });
  });

  it("counts as made where an undo of a path was undone, or took back only hunks", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, last: string) => lines(first, ..."abcdefghijklmnop", last);
    const { base, fork } = await fixture.forked({ a: text("1", "5"), b: text("1", "5") });
    fixture.files(fork.root, { a: text("one", "five"), b: text("one", "five") });
    const { change = "" } = await fixture.workspaces.merge(fork, fixture.opener);
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    const { commit } = await undo(workspace, { change, path: workspace.at(join(base, "a")) });
    await undo(workspace, { change: commit?.id });
    const record = workspace.archive.changes.get(change);
    if (record === undefined) throw new Error("the merge is not recorded");
    await undoHunks(workspace, [record], [4], {});
    expect(treeOf(base)).toEqual({ a: text("one", "five"), b: text("one", "5") });
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
  });

  it("does not count as made if its undo was redone before a later merge, and the redo undone after it", async () => {
    using fixture = new Fixture("link");
    const text = (first: string, last: string) => lines(first, "2", "3", "4", last);
    const { base, fork } = await fixture.forked({ "a.txt": text("1", "5") });
    fixture.files(fork.root, { "a.txt": text("one", "5") });
    const { change } = await fixture.workspaces.merge(fork, fixture.opener);
    const main = await fixture.workspaces.find("main");
    using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
    const undone = await undo(workspace, { change: change ?? "" });
    const redone = await undo(workspace, { change: undone.commit?.id });
    fixture.files(fork.root, { "a.txt": text("one", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    await undo(workspace, { change: redone.commit?.id });
    expect(treeOf(base)).toEqual({ "a.txt": text("1", "five") });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": text("one", "five") });
  });

  it("reports that the base is gone, and leaves the fork as it is", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ "a.txt": "a\n" });
    fixture.files(fork.root, { "a.txt": "changed\n" });
    renameSync(base, `${base}-moved`);
    await expect(fixture.workspaces.merge(fork, fixture.opener)).rejects.toMatchObject({ code: "base_gone" });
    expect((await fixture.workspaces.diff(fork, fixture.opener)).map(({ path }) => path)).toEqual(["a.txt"]);
    expect(treeOf(fork.root)).toEqual({ "a.txt": "changed\n" });
  });
});

it("a merge says that it cannot be undone as a whole if history does not keep a file", async () => {
  using fixture = new Fixture("link");
  const { fork } = await fixture.forked({ "a.txt": "a\n", "large.bin": Buffer.alloc(65 * 1024 * 1024) });
  fixture.files(fork.root, { "a.txt": "changed\n" });
  expect(await fixture.workspaces.merge(fork, fixture.opener)).not.toHaveProperty("unkept");
  fixture.files(fork.root, { "large.bin": Buffer.alloc(65 * 1024 * 1024, 1) });
  expect(await fixture.workspaces.merge(fork, fixture.opener)).toMatchObject({ unkept: true });
});

describe("a store that is full", () => {
  it("does not make a completed merge look like a refused one", async ({ skip }) => {
    using fixture = new Fixture("link");
    const { base, fork } = await fixture.forked({ a: "a\n" });
    fixture.files(fork.root, { a: "changed\n" });
    const objects = join(fixture.path, "all/store/objects");
    await using mount = mountSmall(objects, "64k");
    skip(!mount.mounted, "needs permission to mount a file system");
    fill(objects);
    const { change, unnoted } = await fixture.workspaces.merge(fork, fixture.opener);
    expect(change).toBeDefined();
    expect(unnoted).toBe(true);
    expect(treeOf(base)).toEqual({ a: "changed\n" });
    rmSync(join(objects, "ballast"));
    expect(await fixture.workspaces.merge(fork, fixture.opener)).toEqual({ files: [] });
    fixture.files(fork.root, { b: "b\n" });
    expect(await fixture.workspaces.merge(fork, fixture.opener)).not.toHaveProperty("unnoted");
    expect(treeOf(base)).toEqual({ a: "changed\n", b: "b\n" });
  });
});
