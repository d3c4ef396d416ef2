// Commits that use every kind of step, for tests that break them at each point in turn.
import { linkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Change, CommitOptions } from "../../src/engine/workspace/commit/change.ts";
import type { Fixture } from "./fixture.ts";

export interface Scenario {
  readonly name: string;
  readonly files: Record<string, string>;
  prepare?(fixture: Fixture): void;
  changes(fixture: Fixture): Change[];
  readonly options?: CommitOptions;
  /** Instead of changes: edits that wait for one lock, each of which adds this line to the file `a`. */
  readonly queued?: readonly string[];
}

const four = Array.from({ length: 4 }, (_, i) => `f${i}`);

export const scenarios: Scenario[] = [
  {
    name: "an overwrite",
    files: { a: "old" },
    changes: fixture => [fixture.write("a", "new", { expect: Buffer.from("old") })],
  },
  { name: "a creation", files: {}, changes: fixture => [fixture.write("a", "new")] },
  {
    name: "a patch over four files",
    files: Object.fromEntries(four.map(name => [name, `old ${name}`])),
    changes: fixture => four.map(name => fixture.write(name, `new ${name}`)),
  },
  {
    name: "a patch that changes, creates, deletes and renames",
    files: { a: "a", b: "b", c: "c", "t/x": "x", "t/u/y": "y", over: "over" },
    prepare: fixture => {
      symlinkSync("a", join(fixture.inside, "link"));
      symlinkSync("b", join(fixture.inside, "t/moved"));
    },
    changes: fixture => [
      fixture.write("link", "A"),
      fixture.write("new/deep/f", "f"),
      fixture.write("new/g", "g"),
      { kind: "remove", path: fixture.at("b") },
      { kind: "move", from: fixture.at("c"), to: fixture.at("over"), overwrite: true },
      { kind: "move", from: fixture.at("t/u"), to: fixture.at("new/u") },
      { kind: "copy", from: fixture.at("t/x"), to: fixture.at("t/z") },
      { kind: "mkdir", path: fixture.at("empty") },
      { kind: "symlink", path: fixture.at("pointer"), target: "a" },
      { kind: "move", from: fixture.at("t/moved"), to: fixture.at("moved") },
    ],
    options: { parents: true },
  },
  {
    name: "the removal of a tree, and a tree copied",
    files: { "t/x/y": "y", "t/z": "z", "s/q": "q", "s/r/p": "p" },
    changes: fixture => [
      { kind: "remove", path: fixture.at("t"), recursive: true },
      { kind: "copy", from: fixture.at("s"), to: fixture.at("w") },
    ],
  },
  {
    name: "a file rewritten in place, with another beside it",
    files: { a: "old content that is longer", b: "b" },
    prepare: fixture => linkSync(join(fixture.inside, "a"), join(fixture.inside, "alias")),
    changes: fixture => [fixture.write("b", "B"), fixture.write("a", "new")],
    options: { hardLinks: "keep" },
  },
  {
    name: "a file too large for the journal, moved and edited ones",
    files: { a: "a", big: "old", c: "c" },
    changes: fixture => [
      { kind: "move", from: fixture.at("a"), to: fixture.at("b"), bytes: Buffer.from("edited") },
      fixture.write("big", "x".repeat(1_100_000)),
      fixture.write("c", "C"),
    ],
  },
  {
    name: "edits that are made together",
    files: { a: "0\n" },
    changes: () => [],
    queued: ["1\n", "2\n", "3\n", "4\n"],
  },
  {
    name: "a tree with read-only directories that comes back",
    files: { a: "a" },
    changes: fixture => [
      { kind: "mkdir", path: fixture.at("t"), mode: 0o555 },
      { kind: "mkdir", path: fixture.at("t/u"), mode: 0o500 },
      fixture.write("t/u/x", "x"),
      fixture.write("t/y", "y"),
      { kind: "symlink", path: fixture.at("t/link"), target: "y" },
    ],
  },
];

/** Carries out a scenario. Returns what became of its commit, or of each edit. */
export function carryOut(
  { queued, changes, options }: Scenario,
  fixture: Pick<Fixture, "at" | "commit" | "edit" | "write">,
): Promise<PromiseSettledResult<unknown>[]> {
  if (queued === undefined) return Promise.allSettled([fixture.commit(changes(fixture as Fixture), options)]);
  const gate = new Promise(resolve => setTimeout(resolve, 20));
  return Promise.allSettled(
    queued.map((line, i) =>
      fixture.edit("a", async bytes => {
        if (i === 0) await gate; // until the others wait behind it
        return Buffer.concat([bytes, Buffer.from(line)]);
      }),
    ),
  );
}

/** The fixture of a scenario, what it looks like before, and what after. */
export async function outlook(scenario: Scenario, make: () => Fixture) {
  using fixture = make();
  scenario.prepare?.(fixture);
  const before = fixture.tree();
  await carryOut(scenario, fixture);
  await fixture.workspace.settled();
  return { before, after: fixture.tree() };
}
