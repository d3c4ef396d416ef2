// Commits that use every kind of step, for tests that break them at each point in turn.
import { linkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Change, CommitOptions } from "../../src/engine/workspace/commit/change.ts";
import type { Ground } from "./ground.ts";

export interface Scenario {
  readonly name: string;
  readonly files: Record<string, string>;
  prepare?(ground: Ground): void;
  changes(ground: Ground): Change[];
  readonly options?: CommitOptions;
}

const four = Array.from({ length: 4 }, (_, i) => `f${i}`);

export const scenarios: Scenario[] = [
  {
    name: "an overwrite",
    files: { a: "old" },
    changes: ground => [ground.write("a", "new", { expect: Buffer.from("old") })],
  },
  { name: "a creation", files: {}, changes: ground => [ground.write("a", "new")] },
  {
    name: "a patch over four files",
    files: Object.fromEntries(four.map(name => [name, `old ${name}`])),
    changes: ground => four.map(name => ground.write(name, `new ${name}`)),
  },
  {
    name: "a patch that changes, creates, deletes and renames",
    files: { a: "a", b: "b", c: "c", "t/x": "x", "t/u/y": "y", over: "over" },
    prepare: ground => symlinkSync("a", join(ground.inside, "link")),
    changes: ground => [
      ground.write("link", "A"),
      ground.write("new/deep/f", "f"),
      ground.write("new/g", "g"),
      { kind: "remove", path: ground.at("b") },
      { kind: "move", from: ground.at("c"), to: ground.at("over"), overwrite: true },
      { kind: "move", from: ground.at("t/u"), to: ground.at("new/u") },
      { kind: "copy", from: ground.at("t/x"), to: ground.at("t/z") },
      { kind: "mkdir", path: ground.at("empty") },
      { kind: "symlink", path: ground.at("pointer"), target: "a" },
    ],
    options: { parents: true },
  },
  {
    name: "the removal of a tree, and a tree copied",
    files: { "t/x/y": "y", "t/z": "z", "s/q": "q", "s/r/p": "p" },
    changes: ground => [
      { kind: "remove", path: ground.at("t"), recursive: true },
      { kind: "copy", from: ground.at("s"), to: ground.at("w") },
    ],
  },
  {
    name: "a file rewritten in place, with another beside it",
    files: { a: "old content that is longer", b: "b" },
    prepare: ground => linkSync(join(ground.inside, "a"), join(ground.inside, "alias")),
    changes: ground => [ground.write("b", "B"), ground.write("a", "new")],
    options: { hardLinks: "keep" },
  },
  {
    name: "a file too large for the journal, moved and edited ones",
    files: { a: "a", big: "old", c: "c" },
    changes: ground => [
      { kind: "move", from: ground.at("a"), to: ground.at("b"), bytes: Buffer.from("edited") },
      ground.write("big", "x".repeat(1_100_000)),
      ground.write("c", "C"),
    ],
  },
];

/** The ground of a scenario, what it looks like before, and what after. */
export async function outlook(scenario: Scenario, make: () => Ground) {
  using ground = make();
  scenario.prepare?.(ground);
  const before = ground.tree();
  await ground.commit(scenario.changes(ground), scenario.options);
  await ground.workspace.settled();
  return { before, after: ground.tree() };
}
