// What a command has done and what is not published yet gives way to what another replica has published in the same
// place. The command is told each file, whatever the other one did to it, and keeps everything else.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { Fixture, type Machine } from "./fixture.ts";

const lines = "one\ntwo\nthree\nfour\nfive\n";
const by = { action: "run_command", client: "test", connection: "c" };

/** What a command that did `mine` is told about, if another replica does `theirs` before it ends. */
async function overlaps(
  fixture: Fixture,
  files: Record<string, string>,
  mine: (here: Machine) => void,
  theirs: (there: Machine) => Promise<unknown>,
) {
  const here = await fixture.machine("a", files, {}, line => {
    line.isDeaf = true;
  });
  const there = await fixture.machine("b");
  const told: string[] = [];
  const ended = here.replica.commandRuns(by, at => told.push(at));
  mine(here);
  await theirs(there);
  await here.replica.publishChanges(by);
  ended();
  await there.replica.refresh("writes");
  expect(here.tree()).toEqual(there.tree());
  return { told, here };
}

it("says so if both have made a file", async () => {
  await using fixture = new Fixture();
  const make = (here: Machine) => {
    here.put("new.txt", "mine\n");
    here.put("same.txt", "same\n");
  };
  const { told, here } = await overlaps(fixture, {}, make, async there => {
    await there.write("new.txt", "theirs\n");
    await there.write("same.txt", "same\n");
  });
  expect(told).toEqual(["new.txt"]);
  expect(here.text("new.txt")).toBe("theirs\n");
});

it("says so if the other one removed the file, or a directory that holds it", async () => {
  await using fixture = new Fixture();
  const files = { "f.txt": lines, "d/x.txt": lines, "d/kept.txt": lines };
  const write = (here: Machine) => {
    for (const name of ["f.txt", "d/x.txt", "d/new.txt"]) here.put(name, "mine\n");
  };
  const { told } = await overlaps(fixture, files, write, async there => {
    for (const name of ["f.txt", "d"])
      await there.workspace.commit([{ kind: "remove", path: there.workspace.at(name), recursive: true }]);
  });
  expect(told).toEqual(["f.txt", "d/new.txt", "d/x.txt"]);
});

it("says so if the other one changed a file that the command removed", async () => {
  await using fixture = new Fixture();
  const remove = (here: Machine) => rmSync(join(here.root, "f.txt"));
  const { told } = await overlaps(fixture, { "f.txt": lines }, remove, there =>
    there.edit("f.txt", text => text.replace("one", "theirs")),
  );
  expect(told).toEqual(["f.txt"]);
});

it("says nothing if both removed it, or the other one replaced a directory or a link that is as published", async () => {
  await using fixture = new Fixture();
  const remove = (here: Machine) => rmSync(join(here.root, "f.txt"));
  const { told } = await overlaps(fixture, { "f.txt": lines, "d/x.txt": lines }, remove, async there => {
    const { workspace } = there;
    const path = (name: string) => workspace.at(name);
    await workspace.commit([{ kind: "remove", path: path("f.txt") }]);
    await workspace.commit([{ kind: "remove", path: path("d"), recursive: true }]);
    await workspace.commit([{ kind: "symlink", path: path("d"), target: "elsewhere" }]);
    await workspace.commit([{ kind: "remove", path: path("d") }]);
    await there.write("d", "a file\n");
  });
  expect(told).toEqual([]);
});

it("keeps the rest of its work if the other's change cannot be made here", async () => {
  await using fixture = new Fixture();
  const work = (here: Machine) => {
    rmSync(join(here.root, "f.txt"));
    here.put("g.txt", `${lines}mine\n`);
    here.put("new.txt", "mine\n");
    here.put("m.txt/inside.txt", "mine\n");
  };
  const { told, here } = await overlaps(fixture, { "f.txt": lines, "g.txt": lines }, work, async there => {
    const { workspace } = there;
    await workspace.commit([{ kind: "move", from: workspace.at("f.txt"), to: workspace.at("m.txt") }]);
  });
  expect(here.tree()).toEqual({
    "g.txt": `644 ${lines}mine\n`,
    "m.txt": `644 ${lines}`,
    "new.txt": "644 mine\n",
  });
  expect(told).toEqual(["m.txt", "m.txt/inside.txt"]);
});

it("of a background job can be restored: the log names the change to undo", async () => {
  await using fixture = new Fixture();
  const there = await fixture.machine("b", { "f.txt": lines });
  const warned: string[] = [];
  const deaf = (line: Machine["line"]) => {
    line.isDeaf = true;
  };
  const here = await fixture.machine("a", {}, { warn: message => warned.push(message) }, deaf);
  here.put("new.txt", "the job's\n");
  here.put("f.txt", lines.replace("three", "the job's"));
  const { workspace } = there;
  await workspace.commit([
    { kind: "write", path: workspace.at("new.txt"), bytes: Buffer.from("theirs\n") },
    { kind: "write", path: workspace.at("f.txt"), bytes: Buffer.from(lines.replace("three", "theirs")) },
    { kind: "write", path: workspace.at("other.txt"), bytes: Buffer.from("theirs\n") },
  ]);
  await here.replica.refresh("writes");
  expect(here.text("new.txt")).toBe("theirs\n");
  for (const path of ["new.txt", "f.txt"]) {
    const line = warned.find(one => one.startsWith(`${path} was changed here`)) ?? "";
    const [, change] = /undo (\w+) with the path/.exec(line) ?? [];
    expect(line).toContain(`with the path ${path}`);
    await undo(here.workspace, { change, path: here.workspace.at(path) });
  }
  await there.replica.refresh("writes");
  expect(there.tree()).toEqual(here.tree());
  expect(here.text("new.txt")).toBe("the job's\n");
  expect(here.text("f.txt")).toContain("the job's\n");
  expect(here.text("other.txt")).toBe("theirs\n");
});
