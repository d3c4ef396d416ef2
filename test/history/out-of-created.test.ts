// Undo by path takes one file out of a directory that a change created as a whole, and the rest can still be undone.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

function fixture() {
  const base = mkdtempSync(join(tmpdir(), "polyfs-undo-"));
  const root = join(base, "root");
  for (const [path, text] of Object.entries({ "from/x": "x\n", "from/in/y": "y\n", "from/in/z": "z\n" })) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
  onTestFinished(() => {
    workspace[Symbol.dispose]();
    rmSync(base, { recursive: true });
  });
  const names = () => readdirSync(join(root, "d"), { recursive: true, encoding: "utf8" }).sort();
  const copy = () => workspace.commit([{ kind: "copy", from: workspace.at("from"), to: workspace.at("d") }]);
  return { root, workspace, names, copy };
}

it("takes out a file, and then a directory, and then all that is left", async () => {
  const { root, workspace, names, copy } = fixture();
  const { id } = await copy();
  const taken = await undo(workspace, { change: id, path: workspace.at("d/in/y") });
  expect(taken.restored).toEqual([{ at: join(root, "d/in/y"), did: "removed" }]);
  expect(names()).toEqual(["in", "in/z", "x"]);
  await undo(workspace, { change: id, path: workspace.at("d/in") });
  expect(names()).toEqual(["x"]);
  await undo(workspace, { change: id });
  expect(existsSync(join(root, "d"))).toBe(false);
  expect(existsSync(join(root, "from/in/y"))).toBe(true);
});

it("is itself undone, and then the whole change is", async () => {
  const { root, workspace, names, copy } = fixture();
  const { id } = await copy();
  const { commit } = await undo(workspace, { change: id, path: workspace.at("d/x") });
  await undo(workspace, { change: commit?.id });
  expect(names()).toEqual(["in", "in/y", "in/z", "x"]);
  await undo(workspace, { change: id });
  expect(existsSync(join(root, "d"))).toBe(false);
});

it("refuses a file that was edited since, one that was made since, and a name that was never there", async () => {
  const { root, workspace, names, copy } = fixture();
  const { id } = await copy();
  writeFileSync(join(root, "d/x"), "edited\n");
  writeFileSync(join(root, "d/new"), "new\n");
  const out = (path: string) => undo(workspace, { change: id, path: workspace.at(path) });
  await expect(out("d/x")).rejects.toMatchObject({ code: "stale" });
  await expect(out("d/new")).rejects.toMatchObject({ code: "unknown_change" });
  await expect(out("d/none/none")).rejects.toMatchObject({ code: "unknown_change" });
  expect(names()).toEqual(["in", "in/y", "in/z", "new", "x"]);
});

it("leaves a directory in which a file was made again after it was taken out", async () => {
  const { root, workspace, copy } = fixture();
  const { id } = await copy();
  await undo(workspace, { change: id, path: workspace.at("d/x") });
  writeFileSync(join(root, "d/x"), "x\n");
  await expect(undo(workspace, { change: id })).rejects.toMatchObject({ code: "stale" });
  expect(existsSync(join(root, "d/x"))).toBe(true);
});
