// A program creates a file at a path that a move, a copy, a new file or a link from another replica is about to take.
// Whenever that happens, the file stays, or the log names it and the history keeps it.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { watching } from "../commit/failing.ts";
import { Fixture, type Machine } from "./fixture.ts";

const programs = "by a program\n";

function keeps({ workspace }: Machine, after: string): boolean {
  const { changes, objects } = workspace.archive;
  const isIt = (one: Snapshot | undefined) =>
    one?.kind === "file" && one.hash !== undefined && String(objects.get(one.hash)) === programs;
  return [...changes.newest(undefined, after)].some(({ files }) =>
    files.some(({ before, replaced }) => isIt(before) || isIt(replaced)),
  );
}

const bytes = Buffer.from("theirs\n");
it.each<[string, (path: Machine["workspace"]["at"]) => Change]>([
  ["move", path => ({ kind: "move", from: path("from"), to: path("to") })],
  ["move with new content", path => ({ kind: "move", from: path("from"), to: path("to"), bytes })],
  ["copy", path => ({ kind: "copy", from: path("from"), to: path("to") })],
  ["write", path => ({ kind: "write", path: path("to"), bytes })],
  ["symbolic link", path => ({ kind: "symlink", path: path("to"), target: "other" })],
])("a path that a %s takes", { timeout: 300_000 }, async (_, change) => {
  await using fixture = new Fixture();
  const warned: string[] = [];
  const a = await fixture.machine("a", { from: "moved\n", other: "other\n" });
  const b = await fixture.machine("b", {}, { warn: message => warned.push(message) }, line => {
    line.isDeaf = true;
  });
  const untold: number[] = [];
  for (let at = 1, calls = at; at <= calls; at++) {
    await a.workspace.commit([change(path => a.workspace.at(path))]);
    warned.length = 0;
    let isMade = false;
    const interrupt = (count: number) => {
      calls = count;
      if (count !== at || existsSync(join(b.root, "to"))) return;
      writeFileSync(join(b.root, "to"), programs);
      isMade = true;
    };
    const before = b.workspace.archive.changes.ids().at(-1) ?? "";
    await watching(interrupt, () => b.replica.refresh("writes"));
    await b.workspace.settled();
    const isThere = existsSync(join(b.root, "to")) && b.text("to") === programs;
    const isTold = warned.some(one => one.includes("to was changed here"));
    if (isMade && !isThere && !(isTold && keeps(b, before))) untold.push(at);
    // As it was, for the next moment.
    await b.replica.publishChanges({ action: "run", client: "test", connection: "c" });
    await a.replica.refresh("writes");
    const back: Change[] = existsSync(join(a.root, "to"))
      ? [{ kind: "remove", path: a.workspace.at("to") }]
      : [];
    await a.workspace.commit([
      ...back,
      { kind: "write", path: a.workspace.at("from"), bytes: Buffer.from("moved\n") },
    ]);
    await b.replica.refresh("writes");
  }
  expect(untold).toEqual([]);
});
