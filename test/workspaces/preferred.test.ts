// A merge that takes one side of each conflict (`--prefer`): only what conflicts is decided by it. Names are decided
// apart from contents, and what both sides wrote is kept wherever it does not overlap.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
  readonly becomes: { readonly fork: Tree; readonly base: Tree };
}

const write =
  (path: string, text: string): Side =>
  root => {
    mkdirSync(join(root, path, ".."), { recursive: true });
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

const cases: Record<string, Case> = {
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
    becomes: { fork: { "n.txt": both }, base: { "m.txt": both, "n.txt": "another\n" } },
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
    becomes: { fork: { d: "file\n" }, base: { "d/b.txt": "b\n", "d/e/c.txt": "c\n" } },
  },
  "the base made a file of a directory to which the fork added a file": {
    before: { "d/a.txt": "a\n" },
    fork: write("d/b.txt", "b\n"),
    base: all(remove("d"), write("d", "file\n")),
    becomes: { fork: { "d/b.txt": "b\n" }, base: { d: "file\n" } },
  },
};

describe.each(["fork", "base"] as const)("a merge that prefers the %s", prefer => {
  it.each(Object.keys(cases))("where %s", async name => {
    const { before, fork: ours, base: theirs, becomes } = cases[name] as Case;
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ ...before, "keep.txt": "keep\n" });
    ours(fork.root);
    theirs(base);
    await expect(fixture.workspaces.merge(fork, fixture.opener)).rejects.toMatchObject({
      code: "merge_conflict",
    });
    await fixture.workspaces.merge(fork, fixture.opener, { prefer });
    expect(treeOf(base)).toEqual({ ...becomes[prefer], "keep.txt": "keep\n" });
  });
});

it("a file that both moved is in one place after it was rewritten in the fork, with what both wrote", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "m.txt": numbered() });
  all(write("m.txt", forkEdit), move("m.txt", "a.txt"))(fork.root);
  all(write("m.txt", baseEdit), move("m.txt", "z.txt"))(base);
  await expect(fixture.workspaces.merge(fork, fixture.opener)).rejects.toMatchObject({
    code: "merge_conflict",
  });
  write("a.txt", numbered({ 2: "fork", 9: "rewritten" }))(fork.root);
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(treeOf(base)).toEqual({ "a.txt": numbered({ 2: "fork", 9: "rewritten", 15: "base" }) });
});
