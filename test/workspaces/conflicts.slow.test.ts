// Conflicts, and the two ways to settle them. A merge that takes one side of each conflict (`--prefer`) chooses between
// two versions of one file, names apart from contents, and what both sides wrote is kept wherever it does not overlap. It
// never chooses between different files. A merge in two steps takes the rewritten files, and drops nothing that was not
// reported.
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sayConflicts } from "../../src/contract/conflict-wording.ts";
import { Fault, type MergeConflict } from "../../src/engine/fault.ts";
import { Fixture, treeOf } from "./fixture.ts";

const numbered = (edits: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 20 }, (_, i) => `${edits[i] ?? `line ${i}`}\n`).join("");

type Side = (root: string) => void;
type Tree = Readonly<Record<string, string>>;

interface Case {
  readonly before: Tree;
  readonly fork: Side;
  readonly base: Side;
  /** The files of the base after the merge, by the side that is preferred. */
  readonly becomes: { readonly fork: Tree | "refused"; readonly base: Tree | "refused" };
}

/** A new file: in a fork of hard links, one that is written in place is the base's too. */
const write =
  (path: string, text: string): Side =>
  root => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    rmSync(join(root, path), { force: true });
    writeFileSync(join(root, path), text);
  };
const move =
  (from: string, to: string): Side =>
  root =>
    renameSync(join(root, from), join(root, to));
const remove =
  (path: string): Side =>
  root =>
    rmSync(join(root, path), { recursive: true });
const all =
  (...sides: readonly Side[]): Side =>
  root => {
    for (const side of sides) side(root);
  };

const forkEdit = numbered({ 2: "fork" });
const baseEdit = numbered({ 15: "base" });
const both = numbered({ 2: "fork", 15: "base" });

const long = (name: string) => Array.from({ length: 100 }, (_, i) => `${name} ${i}\n`).join("");

/** Blocks of 64 different bytes without a line break. */
const blocks = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `\0${from + i} `.repeat(64).slice(0, 64)).join("");

const refused = { fork: "refused", base: "refused" } as const;

const cases: Record<string, Case> = {
  "both edited the same line": {
    before: { "m.txt": numbered() },
    fork: write("m.txt", numbered({ 2: "fork", 9: "x" })),
    base: write("m.txt", numbered({ 2: "base", 15: "y" })),
    becomes: {
      fork: { "m.txt": numbered({ 2: "fork", 9: "x", 15: "y" }) },
      base: { "m.txt": numbered({ 2: "base", 9: "x", 15: "y" }) },
    },
  },
  "the base moved a file away and another one to its name, and the fork edited the first": {
    before: { "m.txt": long("m"), "k.txt": long("k") },
    fork: write("m.txt", long("m").replace("m 3\n", "fork\n")),
    base: all(move("m.txt", "n.txt"), move("k.txt", "m.txt")),
    becomes: { fork: "refused", base: { "m.txt": long("k"), "n.txt": long("m") } },
  },
  "the fork exchanged two files, and the base edited one": {
    before: { "m.txt": long("m"), "k.txt": long("k") },
    fork: all(move("m.txt", "x"), move("k.txt", "m.txt"), move("x", "k.txt")),
    base: write("m.txt", long("m").replace("m 3\n", "base\n")),
    becomes: { fork: { "m.txt": long("k"), "k.txt": long("m") }, base: "refused" },
  },
  "the base exchanged two binary files, and the fork edited one": {
    before: { "m.bin": blocks(0, 40), "k.bin": blocks(100, 140) },
    fork: write("m.bin", `fork${blocks(0, 40)}`),
    base: all(move("m.bin", "x"), move("k.bin", "m.bin"), move("x", "k.bin")),
    becomes: { fork: "refused", base: { "m.bin": blocks(100, 140), "k.bin": blocks(0, 40) } },
  },
  "the fork exchanged two binary files, edited both, and the base edited one": {
    before: { "m.bin": blocks(0, 40), "k.bin": blocks(100, 140) },
    fork: all(write("m.bin", blocks(100, 141)), write("k.bin", blocks(0, 41))),
    base: write("m.bin", `base${blocks(0, 40)}`),
    becomes: { fork: { "m.bin": blocks(100, 141), "k.bin": blocks(0, 41) }, base: "refused" },
  },
  "the base exchanged two binary files, and the fork moved one and edited it": {
    before: { "m.bin": blocks(0, 40), "k.bin": blocks(100, 140) },
    fork: all(move("m.bin", "n.bin"), write("n.bin", `fork${blocks(0, 40)}`)),
    base: all(move("m.bin", "x"), move("k.bin", "m.bin"), move("x", "k.bin")),
    becomes: refused,
  },
  "the base exchanged two short files, and the fork edited one": {
    before: { a: "one\n", b: "two\n" },
    fork: write("a", "fork\n"),
    base: all(move("a", "x"), move("b", "a"), move("x", "b")),
    becomes: { fork: "refused", base: { a: "two\n", b: "one\n" } },
  },
  "both changed a short file": {
    before: { version: "1.0\n" },
    fork: write("version", "1.1\n"),
    base: write("version", "1.2\n"),
    becomes: { fork: { version: "1.1\n" }, base: { version: "1.2\n" } },
  },
  "both changed a binary file": {
    before: { "m.bin": "\0" },
    fork: write("m.bin", "\0fork"),
    base: write("m.bin", "\0base"),
    becomes: { fork: { "m.bin": "\0fork" }, base: { "m.bin": "\0base" } },
  },
  "both changed a binary file, and the fork moved it": {
    before: { "m.bin": `\0${numbered()}` },
    fork: all(write("m.bin", `\0${forkEdit}`), move("m.bin", "n.bin")),
    base: write("m.bin", `\0${baseEdit}`),
    becomes: { fork: { "n.bin": `\0${forkEdit}` }, base: { "n.bin": `\0${baseEdit}` } },
  },
  "the base moved a binary file without line breaks, which the fork deleted": {
    before: { "m.bin": blocks(1, 40) },
    fork: remove("m.bin"),
    base: all(write("m.bin", blocks(1, 30) + blocks(80, 95)), move("m.bin", "n.bin")),
    becomes: { fork: {}, base: { "n.bin": blocks(1, 30) + blocks(80, 95) } },
  },
  "both added a file": {
    before: {},
    fork: write("m.txt", "fork\n"),
    base: write("m.txt", "base\n"),
    becomes: { fork: { "m.txt": "fork\n" }, base: { "m.txt": "base\n" } },
  },
  "the base moved another file onto one that the fork deleted": {
    before: { "m.txt": numbered(), "k.txt": "k\n".repeat(20) },
    fork: remove("m.txt"),
    base: move("k.txt", "m.txt"),
    becomes: { fork: "refused", base: "refused" },
  },
  "the fork deleted a file that the base edited": {
    before: { "m.txt": numbered() },
    fork: remove("m.txt"),
    base: write("m.txt", baseEdit),
    becomes: { fork: {}, base: { "m.txt": baseEdit } },
  },
  "the base deleted a file that the fork edited": {
    before: { "m.txt": numbered() },
    fork: write("m.txt", forkEdit),
    base: remove("m.txt"),
    becomes: { fork: { "m.txt": forkEdit }, base: {} },
  },
  "both moved a file, and the fork has another one at the base's place": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "a.txt"), write("z.txt", "own\n")),
    base: all(write("m.txt", baseEdit), move("m.txt", "z.txt")),
    becomes: refused,
  },
  "both moved a file, and both edited it": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "z.txt")),
    base: all(write("m.txt", baseEdit), move("m.txt", "b.txt")),
    becomes: { fork: { "z.txt": both }, base: { "b.txt": both } },
  },
  "both moved a file, and the fork's new path comes first": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "a.txt")),
    base: all(write("m.txt", baseEdit), move("m.txt", "z.txt")),
    becomes: { fork: { "a.txt": both }, base: { "z.txt": both } },
  },
  "both moved a file, and edited the same line": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", numbered({ 2: "fork", 4: "x" })), move("m.txt", "a.txt")),
    base: all(write("m.txt", numbered({ 2: "base", 15: "y" })), move("m.txt", "z.txt")),
    becomes: {
      fork: { "a.txt": numbered({ 2: "fork", 4: "x", 15: "y" }) },
      base: { "z.txt": numbered({ 2: "base", 4: "x", 15: "y" }) },
    },
  },
  "the fork moved a file that the base edited onto a name that the base added": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "n.txt")),
    base: all(write("m.txt", baseEdit), write("n.txt", "another\n")),
    becomes: refused,
  },
  "the fork moved and edited a file that the base deleted": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "a.txt")),
    base: remove("m.txt"),
    becomes: { fork: { "a.txt": forkEdit }, base: {} },
  },
  "the base moved and edited a file that the fork deleted": {
    before: { "m.txt": numbered() },
    fork: remove("m.txt"),
    base: all(write("m.txt", baseEdit), move("m.txt", "a.txt")),
    becomes: { fork: {}, base: { "a.txt": baseEdit } },
  },
  "the fork made a file of a directory to which the base added a file": {
    before: { "d/a.txt": "a\n" },
    fork: all(remove("d"), write("d", "file\n")),
    base: all(write("d/b.txt", "b\n"), write("d/e/c.txt", "c\n")),
    becomes: refused,
  },
  "the base made a file of a directory to which the fork added a file": {
    before: { "d/a.txt": "a\n" },
    fork: write("d/b.txt", "b\n"),
    base: all(remove("d"), write("d", "file\n")),
    becomes: refused,
  },
  "the fork moved a file into a directory that is a file in the base": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), remove("m.txt"), write("d/m.txt", forkEdit)),
    base: all(write("m.txt", baseEdit), write("d", "file\n")),
    becomes: refused,
  },
  "the fork moved a file onto a name that the base added": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "n.txt")),
    base: write("n.txt", "another\n"),
    becomes: refused,
  },
  "each moved another file to the same name": {
    before: { "m.txt": numbered(), "k.txt": "k\n".repeat(20) },
    fork: move("m.txt", "n.txt"),
    base: move("k.txt", "n.txt"),
    becomes: refused,
  },
  "the base moved a file to a name that the fork took for another, after deleting the file": {
    before: { "m.txt": numbered() },
    fork: all(remove("m.txt"), write("a.txt", "own\n")),
    base: all(write("m.txt", baseEdit), move("m.txt", "a.txt")),
    becomes: refused,
  },
  "the base moved a file that the fork edited to a name that the fork took for another": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), write("n.txt", "own\n")),
    base: all(write("m.txt", baseEdit), move("m.txt", "n.txt")),
    becomes: refused,
  },
  "the base moved a file that the fork edited into a directory that the fork made a file": {
    before: { "m.txt": numbered(), "d/x.txt": "x\n" },
    fork: all(write("m.txt", forkEdit), remove("d"), write("d", "file\n")),
    base: all(write("m.txt", baseEdit), move("m.txt", "d/m.txt")),
    becomes: refused,
  },
  "the fork moved a file, and the base deleted it and added an unrelated one there": {
    before: { "m.txt": numbered() },
    fork: move("m.txt", "a.txt"),
    base: all(remove("m.txt"), write("a.txt", "unrelated\n")),
    becomes: refused,
  },
  "the base made a file of a directory, two levels above an edit of the fork": {
    before: { "d/s/m.txt": numbered() },
    fork: write("d/s/m.txt", forkEdit),
    base: all(remove("d"), write("d", "file\n")),
    becomes: { fork: "refused", base: { d: "file\n" } },
  },
  "the two moved two files crosswise, and edited them": {
    before: { "a.txt": numbered(), "b.txt": numbered().replaceAll("line", "other") },
    fork: all(
      write("a.txt", forkEdit),
      move("a.txt", "c.txt"),
      write("b.txt", forkEdit.replaceAll("line", "other")),
      move("b.txt", "d.txt"),
    ),
    base: all(
      write("a.txt", baseEdit),
      move("a.txt", "d.txt"),
      write("b.txt", baseEdit.replaceAll("line", "other")),
      move("b.txt", "c.txt"),
    ),
    becomes: refused,
  },
  "both made a directory of a file and moved the file into it, under different names": {
    before: { m: numbered() },
    fork: all(remove("m"), write("m/index", forkEdit)),
    base: all(remove("m"), write("m/main", baseEdit)),
    becomes: { fork: { "m/index": both }, base: { "m/main": both } },
  },
};

type Fork = Awaited<ReturnType<Fixture["forked"]>>["fork"];

/** The conflicts of a merge. */
async function isRefused(fixture: Fixture, fork: Fork, prefer?: "fork" | "base") {
  const error = await fixture.workspaces.merge(fork, fixture.opener, { prefer }).then(
    () => undefined,
    reason => reason,
  );
  if (!Fault.is(error, "merge_conflict")) throw error ?? new Error("it was merged");
  return error.data.conflicts;
}

describe.each(["fork", "base"] as const)("a merge that prefers the %s", prefer => {
  it.each(Object.keys(cases))("where %s", async name => {
    const { before, fork: ours, base: theirs, becomes } = cases[name] as Case;
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ ...before, "keep.txt": "keep\n" });
    ours(fork.root);
    theirs(base);
    await isRefused(fixture, fork);
    await isRefused(fixture, fork); // it does not go through when it is repeated
    const [there, result] = [treeOf(base), becomes[prefer]];
    if (result === "refused") await isRefused(fixture, fork, prefer);
    else await fixture.workspaces.merge(fork, fixture.opener, { prefer });
    expect(treeOf(base)).toEqual(result === "refused" ? there : { ...result, "keep.txt": "keep\n" });
  });
});

interface TwoSteps {
  readonly before: Tree;
  readonly fork: Side;
  readonly base: Side;
  readonly rewrite: Side;
  readonly becomes: Tree;
}

const chmod =
  (path: string, mode: number): Side =>
  root =>
    chmodSync(join(root, path), mode);

const rewritten = numbered({ 2: "fork", 9: "rewritten" });
const settled = numbered({ 2: "fork", 9: "rewritten", 15: "base" });

const twoSteps: Record<string, TwoSteps> = {
  "both moved a file": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "a.txt")),
    base: all(write("m.txt", baseEdit), move("m.txt", "z.txt")),
    rewrite: write("a.txt", rewritten),
    becomes: { "a.txt": settled },
  },
  "both moved a file, and the base has another one at the fork's place": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "a.txt")),
    base: all(write("m.txt", baseEdit), move("m.txt", "z.txt"), write("a.txt", "another\n")),
    rewrite: write("a.txt", rewritten),
    becomes: { "a.txt": settled },
  },
  "both moved a file to the same place, and edited one line of it differently": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "n.txt")),
    base: all(write("m.txt", numbered({ 2: "other", 15: "base" })), move("m.txt", "n.txt")),
    rewrite: write("n.txt", numbered({ 2: "fork and other" })),
    becomes: { "n.txt": numbered({ 2: "fork and other", 15: "base" }) },
  },
  "the base moved a file, and both edited one line of it": {
    before: { "m.txt": numbered() },
    fork: write("m.txt", forkEdit),
    base: all(write("m.txt", numbered({ 2: "other", 15: "base" })), move("m.txt", "n.txt")),
    rewrite: write("m.txt", numbered({ 2: "fork and other" })),
    becomes: { "n.txt": numbered({ 2: "fork and other", 15: "base" }) },
  },
  "the fork moved a file that the base edited, onto a name that the base added": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), move("m.txt", "n.txt")),
    base: all(write("m.txt", baseEdit), write("n.txt", "another\n")),
    rewrite: write("n.txt", rewritten),
    becomes: { "n.txt": settled },
  },
  "the base moved a file that the fork edited, to a name that the fork took for another": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), write("n.txt", "own\n")),
    base: all(write("m.txt", baseEdit), move("m.txt", "n.txt")),
    rewrite: all(remove("m.txt"), write("n.txt", both)),
    becomes: { "n.txt": both },
  },
  "the fork made a file of a directory to which the base added a file": {
    before: { "d/a.txt": "a\n" },
    fork: all(remove("d"), write("d", "file\n")),
    base: write("d/b.txt", "b\n"),
    rewrite: all(remove("d"), write("d/file", "file\n")),
    becomes: { "d/b.txt": "b\n", "d/file": "file\n" },
  },
  "the base made a file of a directory to which the fork added a file": {
    before: { "d/a.txt": "a\n" },
    fork: write("d/b.txt", "b\n"),
    base: all(remove("d"), write("d", "file\n")),
    rewrite: move("d/b.txt", "b.txt"),
    becomes: { d: "file\n", "b.txt": "b\n" },
  },
  "both changed the mode, and both edited the file": {
    before: { "m.txt": numbered() },
    fork: all(write("m.txt", forkEdit), chmod("m.txt", 0o600)),
    base: all(write("m.txt", baseEdit), chmod("m.txt", 0o755)),
    rewrite: all(write("m.txt", forkEdit), chmod("m.txt", 0o640)),
    becomes: { "m.txt": both },
  },
};

describe("a merge in two steps keeps what was not reported", () => {
  it.each(Object.keys(twoSteps))("where %s", async name => {
    const { before, fork: ours, base: theirs, rewrite, becomes } = twoSteps[name] as TwoSteps;
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ ...before, "keep.txt": "keep\n" });
    ours(fork.root);
    theirs(base);
    await isRefused(fixture, fork);
    await isRefused(fixture, fork);
    rewrite(fork.root);
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ ...becomes, "keep.txt": "keep\n" });
  });

  it("where the contents of a file that both moved overlap: that is reported too, and has to be rewritten", async () => {
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ "m.txt": numbered() });
    all(write("m.txt", forkEdit), move("m.txt", "a.txt"))(fork.root);
    all(write("m.txt", numbered({ 2: "base" })), move("m.txt", "z.txt"))(base);
    expect(await isRefused(fixture, fork)).toMatchObject([
      { reason: "both_renamed", fork: [{ line: 3, text: "fork" }], base: [{ line: 3, text: "base" }] },
    ]);
    write("a.txt", numbered({ 2: "fork", 19: "elsewhere" }))(fork.root);
    await isRefused(fixture, fork);
    write("a.txt", numbered({ 2: "fork and base" }))(fork.root);
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ "a.txt": numbered({ 2: "fork and base" }) });
  });

  it("where the base deleted a file that the fork moved, and added another one there: that one is shown", async () => {
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ "m.txt": numbered() });
    all(write("m.txt", forkEdit), move("m.txt", "n.txt"))(fork.root);
    all(remove("m.txt"), write("n.txt", "another\n"))(base);
    expect(await isRefused(fixture, fork)).toMatchObject([
      { path: "n.txt", reason: "both_added", base: [{ line: 1, text: "another" }] },
    ]);
  });
});

describe("what the base writes after a report is reported, too", () => {
  interface Late {
    readonly before: Tree;
    readonly fork: Side;
    readonly base: Side;
    /** After the report. */
    readonly rewrite: Side;
    readonly late: Side;
    /** The path of the second report, and a line of the base in it. */
    readonly reported: readonly [string, string?];
  }
  const nothing: Side = () => {};
  const late: Record<string, Late> = {
    "in other lines, which the fork had edited": {
      before: { "m.txt": numbered() },
      fork: write("m.txt", numbered({ 2: "fork", 15: "fork" })),
      base: write("m.txt", numbered({ 2: "base" })),
      rewrite: nothing,
      late: write("m.txt", numbered({ 15: "base" })),
      reported: ["m.txt", "base"],
    },
    "by deleting other lines, where it had deleted lines before": {
      before: { "m.txt": numbered() },
      fork: write("m.txt", numbered({ 2: "fork", 15: "fork" })),
      base: write("m.txt", numbered().replace("line 2\n", "")),
      rewrite: nothing,
      late: write("m.txt", numbered().replace("line 15\n", "")),
      reported: ["m.txt"],
    },
    "in a file that the fork had deleted, and has again": {
      before: { "m.txt": numbered() },
      fork: remove("m.txt"),
      base: write("m.txt", numbered({ 2: "base" })),
      rewrite: write("m.txt", numbered({ 2: "base", 15: "fork" })),
      late: write("m.txt", numbered({ 2: "base", 15: "late" })),
      reported: ["m.txt", "late"],
    },
    "in a file that it moved and the fork had deleted": {
      before: { "m.txt": numbered() },
      fork: remove("m.txt"),
      base: move("m.txt", "n.txt"),
      rewrite: write("n.txt", `${numbered()}fork\n`),
      late: write("n.txt", `${numbered()}late\n`),
      reported: ["n.txt", "late"],
    },
    "in the file that is where the fork moved another one": {
      before: { "m.txt": numbered() },
      fork: move("m.txt", "n.txt"),
      base: all(write("m.txt", baseEdit), write("n.txt", "own\n")),
      rewrite: write("n.txt", `${numbered()}own\n`),
      late: write("n.txt", "own\nlate\n"),
      reported: ["n.txt", "late"],
    },
    "in a file that the fork had made a directory, and then renames": {
      before: { "m.txt": numbered() },
      fork: all(remove("m.txt"), write("m.txt/in", "in\n")),
      base: write("m.txt", baseEdit),
      rewrite: move("m.txt", "directory"),
      late: nothing,
      reported: ["m.txt", "base"],
    },
  };
  it.each(Object.keys(late))("%s", async name => {
    const { before, fork: ours, base: theirs, rewrite, late: later, reported } = late[name] as Late;
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ ...before, "keep.txt": "keep\n" });
    ours(fork.root);
    theirs(base);
    await isRefused(fixture, fork);
    rewrite(fork.root);
    later(base);
    const [path, line] = reported;
    const conflicts = await isRefused(fixture, fork);
    expect(conflicts.map(one => one.path)).toEqual([path]);
    if (line !== undefined) expect(conflicts[0]?.base?.map(({ text }) => text)).toContain(line);
  });
});

it("overlaps are dealt with one after the other, with merges in between", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "m.txt": numbered() });
  write("m.txt", numbered({ 2: "fork", 15: "fork" }))(fork.root);
  write("m.txt", numbered({ 2: "base", 15: "base" }))(base);
  expect((await isRefused(fixture, fork))[0]?.base).toHaveLength(2);
  write("m.txt", numbered({ 2: "both", 15: "fork" }))(fork.root);
  expect((await isRefused(fixture, fork))[0]?.base).toEqual([{ line: 16, text: "base" }]);
  write("m.txt", numbered({ 2: "both", 15: "" }).replace("\n\n", "\n"))(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(treeOf(base)).toEqual({ "m.txt": numbered({ 2: "both" }).replace("line 15\n", "") });
});

describe("an overlap that was reported", () => {
  const withoutLine = (text: string) => numbered({ 5: text }).replace(`${text}\n`, "");
  interface Next {
    readonly fork: string;
    readonly base: string;
    /** What the sides become after the report. */
    readonly next: { readonly fork?: string; readonly base?: string };
    /** The base after the next merge. */
    readonly becomes: string | "refused";
  }
  const nexts: Record<string, Next> = {
    "is not resolved by a base that took back a part of it": {
      fork: numbered({ 5: "fork", 6: "fork" }),
      base: numbered({ 4: "base", 7: "base" }),
      next: { base: numbered({ 7: "base" }) },
      becomes: "refused",
    },
    "is not resolved by an edit of the line after it": {
      fork: numbered({ 5: "fork" }),
      base: numbered({ 5: "base" }),
      next: { fork: numbered({ 5: "fork", 6: "other" }) },
      becomes: "refused",
    },
    "is not resolved by an edit of the line before it": {
      fork: numbered({ 5: "fork" }),
      base: numbered({ 5: "base" }),
      next: { fork: numbered({ 4: "other", 5: "fork" }) },
      becomes: "refused",
    },
    "is not resolved by an edit next to lines that the fork deleted": {
      fork: withoutLine("gone"),
      base: numbered({ 5: "base" }),
      next: { fork: withoutLine("gone").replace("line 6", "other") },
      becomes: "refused",
    },
    "is resolved by the base's line next to the fork's": {
      fork: numbered({ 5: "fork" }),
      base: numbered({ 5: "base", 15: "base" }),
      next: { fork: numbered({ 5: "fork\nbase" }) },
      becomes: numbered({ 5: "fork\nbase", 15: "base" }),
    },
    "is resolved by a line of both": {
      fork: numbered({ 5: "fork" }),
      base: numbered({ 5: "base" }),
      next: { fork: numbered({ 5: "both" }) },
      becomes: numbered({ 5: "both" }),
    },
    "is resolved by deleting the fork's line": {
      fork: numbered({ 5: "fork" }),
      base: numbered({ 5: "base" }),
      next: { fork: withoutLine("fork") },
      becomes: withoutLine("fork"),
    },
    "is resolved by lines where the fork had deleted some": {
      fork: withoutLine("gone"),
      base: numbered({ 5: "base" }),
      next: { fork: numbered({ 5: "both" }) },
      becomes: numbered({ 5: "both" }),
    },
  };
  const endings = { "": "\n", ", where lines end with carriage returns": "\r" };
  const ways = Object.entries(endings).flatMap(([suffix, ending]) =>
    Object.keys(nexts).map(name => [name + suffix, name, ending] as const),
  );
  it.each(ways)("%s", async (_, name, ending) => {
    const { fork: ours, base: theirs, next, becomes } = nexts[name] as Next;
    const ended = (text: string) => text.replaceAll("\n", ending);
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ "m.txt": ended(numbered()) });
    write("m.txt", ended(ours))(fork.root);
    write("m.txt", ended(theirs))(base);
    await isRefused(fixture, fork);
    if (next.fork !== undefined) write("m.txt", ended(next.fork))(fork.root);
    if (next.base !== undefined) write("m.txt", ended(next.base))(base);
    if (becomes === "refused") await isRefused(fixture, fork);
    else {
      await fixture.workspaces.merge(fork, fixture.opener);
      expect(treeOf(base)).toEqual({ "m.txt": ended(becomes) });
    }
  });
});

describe("each change of the base in an overlap has to be resolved", () => {
  const fork = Object.fromEntries([2, 3, 4, 5, 6, 7, 8, 9, 10].map(i => [i, `fork ${i}`]));
  const theirs = { 3: "base 3", 9: "base 9" };
  const cases: Record<string, { readonly fork: string; readonly next: string; readonly left: string[] }> = {
    "by an edit of the same line": {
      fork: numbered(fork),
      next: numbered({ ...fork, 3: "both" }),
      left: ["base 9"],
    },
    "by an edit near it": {
      fork: numbered(fork),
      next: numbered({ ...fork, 8: "both" }),
      left: ["base 3"],
    },
    "by its line beside the fork's": {
      fork: numbered({ ...fork, 5: "fork 5\nfork 5 too" }),
      next: numbered({ ...fork, 5: "fork 5\nfork 5 too", 9: "fork 9\nbase 9" }),
      left: ["base 3"],
    },
    "where the fork deleted other lines": {
      fork: numbered({ ...fork, 5: "" }).replace("\n\n", "\n"),
      next: numbered({ ...fork, 5: "", 9: "both" }).replace("\n\n", "\n"),
      left: ["base 3"],
    },
    "in any order, or all at once": {
      fork: numbered(fork),
      next: numbered({ ...fork, 3: "both", 9: "both" }),
      left: [],
    },
  };
  it.each(Object.entries(cases))("%s", async (_, { fork: ours, next, left }) => {
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ "m.txt": numbered() });
    write("m.txt", ours)(fork.root);
    write("m.txt", numbered(theirs))(base);
    await isRefused(fixture, fork);
    write("m.txt", next)(fork.root);
    if (left.length > 0) {
      const [conflict] = await isRefused(fixture, fork);
      expect(conflict?.base?.map(({ text }) => text).filter(text => text.startsWith("base"))).toEqual(left);
      expect(treeOf(base)).toEqual({ "m.txt": numbered(theirs) });
      write("m.txt", next.replace(/fork (3|9)\n/, "both $1\n"))(fork.root);
    }
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual(treeOf(fork.root));
  });
});

it("a line of the fork elsewhere does not stand for the same line of the base", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "f.txt": "a off\nb\noff\noff\n" });
  write("f.txt", "a off\nb\non\noff\n")(fork.root);
  write("f.txt", "a off\nb\noff\non\n")(base);
  await isRefused(fixture, fork);
  await isRefused(fixture, fork);
  expect(treeOf(base)).toEqual({ "f.txt": "a off\nb\noff\non\n" });
});

it("an overlap is resolved by the base's lines beside the fork's, even if a diff finds them elsewhere", async () => {
  using fixture = new Fixture();
  const list = (...values: readonly string[]) =>
    `[\n${values.map(value => `  {\n    "n": ${value}\n  }`).join(",\n")}\n]\n`;
  const { base, fork } = await fixture.forked({ "l.json": list("1", "9") });
  write("l.json", list("fork", "9"))(fork.root);
  write("l.json", list("base", "9"))(base);
  await isRefused(fixture, fork);
  write("l.json", list("fork", "base", "9"))(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(treeOf(base)).toEqual({ "l.json": list("fork", "base", "9") });
});

it("lines that a report only counts are not settled by it", async () => {
  using fixture = new Fixture();
  const text = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name} ${i}\n`).join("");
  const { base, fork } = await fixture.forked({ "a.txt": text("line", 390), "b.txt": text("line", 60) });
  for (const [root, name] of [
    [fork.root, "fork"],
    [base, "base"],
  ] as const)
    all(
      write("a.txt", text(name, 390)),
      write("b.txt", text(name, 60)),
      write("c.txt", text(name, 60)),
    )(root);
  const said = (conflicts: readonly MergeConflict[]) => sayConflicts(conflicts, path => path);
  const first = said(await isRefused(fixture, fork));
  expect(first).toContain("390: base 389");
  expect(first.match(/ 60: base 59/g)).toHaveLength(1); // of a.txt
  const rewritten = (how: string) =>
    all(write("a.txt", text("both", 390)), write("b.txt", text(how, 60)), write("c.txt", text(how, 60)));
  rewritten("blind")(fork.root);
  const second = await isRefused(fixture, fork);
  expect(second.map(({ path }) => path)).toEqual(["b.txt", "c.txt"]);
  expect(said(second).match(/ 60: base 59/g)).toHaveLength(2);
  rewritten("both")(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(treeOf(base)["c.txt"]).toBe(text("both", 60));
});

it("a report shows what the base changed far inside a long line", async () => {
  using fixture = new Fixture();
  const words = (edits: Readonly<Record<number, string>>) =>
    `${Array.from({ length: 400 }, (_, i) => edits[i] ?? `w${i}`).join(" ")}\n`;
  const { base, fork } = await fixture.forked({ "m.txt": words({}) });
  write("m.txt", words({ 2: "fork" }))(fork.root);
  write("m.txt", words({ 350: "BASE" }))(base);
  expect(sayConflicts(await isRefused(fixture, fork), path => path)).toContain("BASE");
});

it("a report of long lines is bounded", async () => {
  using fixture = new Fixture();
  const names = Array.from({ length: 20 }, (_, i) => `f${String(i).padStart(2, "0")}`);
  const text = (name: string) => `${name.repeat(100)}\n`.repeat(40);
  const tree = (name: string) => Object.fromEntries(names.map(one => [one, text(name)]));
  const { base, fork } = await fixture.forked(tree("line "));
  for (const [root, name] of [
    [fork.root, "fork "],
    [base, "base "],
  ] as const)
    for (const one of names) write(one, text(name))(root);
  const said = sayConflicts(await isRefused(fixture, fork), path => path);
  expect(said.length).toBeLessThan(250_000);
});

it("a report of texts in different encodings shows what each side changed, and the encodings", async () => {
  using fixture = new Fixture("link");
  const text = (edits: Readonly<Record<number, string>>) =>
    numbered({ 7: "Käse, schön grün für später", 9: "Grüße aus Köln", ...edits });
  const { base, fork } = await fixture.forked({ "a.txt": text({}) });
  fixture.files(base, { "a.txt": Buffer.from(text({ 3: "by base" }).replace("line 15\n", ""), "latin1") });
  fixture.files(fork.root, { "a.txt": text({ 11: "by fork" }) });
  const conflicts = await isRefused(fixture, fork);
  expect(conflicts).toEqual([
    {
      path: "a.txt",
      reason: "both_changed",
      encodings: { base: "windows-1252", fork: "utf-8" },
      base: [
        { line: 4, text: "by base" },
        { line: 16, text: "line 16" },
      ],
      fork: [{ line: 12, text: "by fork" }],
    },
  ]);
  expect(sayConflicts(conflicts, path => path)).toContain(
    "a.txt: both changed it, and its encoding is windows-1252 in the base and utf-8 in the fork",
  );
});

describe("a report about permissions", () => {
  const both = async (fixture: Fixture, contents: readonly [string, string, string]) => {
    const [before, theirs, ours] = contents;
    const { base, fork } = await fixture.forked({ f: before });
    for (const [root, content, mode] of [
      [base, theirs, 0o600],
      [fork.root, ours, 0o640],
    ] as const) {
      fixture.files(root, { f: content });
      chmodSync(join(root, "f"), mode);
    }
    return { base, fork };
  };
  const binary = ["before\0", "base\0", "fork\0"] as const;

  it("tells that the contents conflict, too: both have to be settled, in any order", async () => {
    for (const first of ["mode", "contents"]) {
      using fixture = new Fixture("link");
      const { base, fork } = await both(fixture, binary);
      const conflicts = await isRefused(fixture, fork);
      expect(conflicts).toEqual([{ path: "f", reason: "modes", contents: true }]);
      expect(sayConflicts(conflicts, path => path)).toBe("f: both changed its permissions and its contents");
      const settle = {
        mode: () => chmodSync(join(fork.root, "f"), 0o660),
        contents: () => writeFileSync(join(fork.root, "f"), "both\0"),
      };
      settle[first as "mode"]();
      await isRefused(fixture, fork);
      expect(treeOf(base)).toEqual({ f: "base\0" });
      settle[first === "mode" ? "contents" : "mode"]();
      await fixture.workspaces.merge(fork, fixture.opener);
      expect(treeOf(base)).toEqual({ f: "both\0" });
      expect(lstatSync(join(base, "f")).mode & 0o777).toBe(0o660);
    }
  });

  it("does not settle contents that began to conflict after it", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await both(fixture, ["before\0", "base\0", "before\0"]);
    await isRefused(fixture, fork);
    fixture.files(fork.root, { f: "fork\0" });
    chmodSync(join(fork.root, "f"), 0o660);
    const conflicts = await isRefused(fixture, fork);
    expect(conflicts).toEqual([{ path: "f", reason: "modes", contents: true }]);
    expect(treeOf(base)).toEqual({ f: "base\0" });
  });

  it("is settled together with overlapping lines, one after the other", async () => {
    using fixture = new Fixture("link");
    const { base, fork } = await both(fixture, [numbered(), numbered({ 2: "base" }), forkEdit]);
    await isRefused(fixture, fork);
    chmodSync(join(fork.root, "f"), 0o660);
    await isRefused(fixture, fork);
    writeFileSync(join(fork.root, "f"), numbered({ 2: "both" }));
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(treeOf(base)).toEqual({ f: numbered({ 2: "both" }) });
  });
});

it("conflicts that a report only counts are not settled by it", async () => {
  using fixture = new Fixture();
  const names = Array.from({ length: 25 }, (_, i) => `f${String(i).padStart(2, "0")}`);
  const tree = (text: string) => Object.fromEntries(names.map(name => [name, `${text} ${name}\n`]));
  const { base, fork } = await fixture.forked(tree("line"));
  const become = (root: string, text: string) =>
    Object.entries(tree(text)).forEach(([name, content]) => void write(name, content)(root));
  become(fork.root, "fork");
  become(base, "base");
  expect(await isRefused(fixture, fork)).toHaveLength(25);
  become(fork.root, "formatted");
  expect((await isRefused(fixture, fork)).map(({ path }) => path)).toEqual(names.slice(20));
  expect(treeOf(base)).toEqual(tree("base"));
});

describe("after a merge of a copy that the fork made", () => {
  const copied = async (fixture: Fixture) => {
    const { base, fork } = await fixture.forked({ "y.txt": numbered() });
    write("x.txt", numbered())(fork.root);
    await fixture.workspaces.merge(fork, fixture.opener);
    return { base, fork };
  };

  it("both sides delete the original, and the copy stays", async () => {
    using fixture = new Fixture();
    const { base, fork } = await copied(fixture);
    for (const root of [base, fork.root]) remove("y.txt")(root);
    await fixture.workspaces.merge(fork, fixture.opener, { prefer: "fork" });
    expect(treeOf(base)).toEqual({ "x.txt": numbered() });
  });

  it("an edit of the original, which the base deleted, does not go to the copy", async () => {
    using fixture = new Fixture();
    const { base, fork } = await copied(fixture);
    remove("y.txt")(base);
    write("y.txt", forkEdit)(fork.root);
    expect(await isRefused(fixture, fork)).toMatchObject([{ path: "y.txt", reason: "deleted_in_base" }]);
    expect(treeOf(base)).toEqual({ "x.txt": numbered() });
  });
});

it("a merge that changes nothing in the base is no change of it", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "m.txt": numbered() });
  write("m.txt", numbered({ 2: "fork" }))(fork.root);
  write("m.txt", numbered({ 2: "base" }))(base);
  expect(await fixture.workspaces.merge(fork, fixture.opener, { prefer: "base" })).toEqual({ files: [] });
});

it("a file named __proto__ is merged like others", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "a.txt": "a\n" });
  write("__proto__", "fork\n")(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  remove("__proto__")(base);
  write("b.txt", "b\n")(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(Object.keys(treeOf(base))).toEqual(["a.txt", "b.txt"]);
});

it("an overlap of many lines is reported with all of them", async () => {
  using fixture = new Fixture();
  const long = (from: number, to: number, text: string) =>
    Array.from({ length: 60 }, (_, i) => `${i >= from && i < to ? text : "line"} ${i}\n`).join("");
  const { base, fork } = await fixture.forked({ "m.txt": long(0, 0, "") });
  write("m.txt", long(5, 45, "fork"))(fork.root);
  write("m.txt", long(38, 39, "base"))(base);
  const [conflict] = await isRefused(fixture, fork);
  expect(conflict?.fork).toHaveLength(40);
  expect(conflict?.base).toContainEqual({ line: 39, text: "base 38" });
});

it("files are followed through moves among hundreds of deletions", async () => {
  const content = (i: number, edits: Readonly<Record<number, string>> = {}) =>
    Array.from({ length: 20 }, (_, k) => `${edits[k] ?? (k % 2 === 0 ? `common ${k}` : `${i} ${k}`)}\n`).join(
      "",
    );
  const names = Array.from({ length: 300 }, (_, i) => `f${i}.txt`);
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked(Object.fromEntries(names.map((name, i) => [name, content(i)])));
  for (const [i, name] of names.entries()) {
    remove(name)(fork.root);
    if (i % 2 === 0) write(`moved/${i}.txt`, content(i, { 4: "fork" }))(fork.root);
  }
  for (const i of [10, 100, 200]) write(`f${i}.txt`, content(i, { 14: "base" }))(base);
  await fixture.workspaces.merge(fork, fixture.opener);
  const merged = treeOf(base);
  expect(Object.keys(merged)).toHaveLength(150);
  for (const i of [10, 100, 200])
    expect(merged[`moved/${i}.txt`]).toBe(content(i, { 4: "fork", 14: "base" }));
});
