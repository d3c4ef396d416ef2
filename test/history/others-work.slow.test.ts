// Changes of concurrent commands cannot always be attributed. Undoing one command leaves what another connection's
// command may have made, unless the caller names its path.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import type { By } from "../../src/engine/workspace/archive/log.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture } from "../replica/fixture.ts";

const authorOf = (connection: string): By => ({ action: "run_command", client: "test", connection });

/** A command that does something in steps, as `run_command` has it recorded. */
async function begin(workspace: Workspace, connection: string) {
  const by = authorOf(connection);
  const view = workspace.as(by);
  const before = await Before.look(view);
  const stop = view.replication?.commandRuns(by, () => {});
  return async () => {
    const made = await record(view, await before.compare(), by);
    before[Symbol.dispose]();
    await view.replication?.publishChanges(by);
    stop?.();
    return made?.record.id ?? "";
  };
}

let base: string;
let root: string;
let workspace: Workspace;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-others-"));
  root = join(base, "root");
  mkdirSync(root);
  workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
});
afterEach(async () => {
  await workspace.settled();
  workspace[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

it("undo of a command leaves what another connection's command made meanwhile, and names it", async () => {
  const long = await begin(workspace, "long");
  const short = await begin(workspace, "short");
  writeFileSync(join(root, "long.txt"), "long\n");
  writeFileSync(join(root, "short.txt"), "short\n");
  const change = await short();
  await long();
  await expect(undo(workspace, { change })).rejects.toMatchObject({
    code: "others_work",
    data: { change, paths: [join(root, "long.txt"), join(root, "short.txt")] },
  });
  await expect(undo(workspace, { change, dryRun: true })).rejects.toMatchObject({ code: "others_work" });
  await undo(workspace, { change, path: workspace.at(join(root, "short.txt")) });
  expect([existsSync(join(root, "long.txt")), existsSync(join(root, "short.txt"))]).toEqual([true, false]);
  await undo(workspace, { change, path: workspace.at(root) });
  expect(existsSync(join(root, "long.txt"))).toBe(false);
});

it("also where the other command ended first and was not recorded", async () => {
  const long = await begin(workspace, "long");
  const other = workspace.as(authorOf("other")).announceCommand();
  writeFileSync(join(root, "other.txt"), "other\n");
  other[Symbol.dispose]();
  const change = await long();
  await expect(undo(workspace, { change })).rejects.toMatchObject({ code: "others_work" });
  expect(existsSync(join(root, "other.txt"))).toBe(true);
});

it("commands of one connection are undone together, and one that ran alone as before", async () => {
  const long = await begin(workspace, "same");
  const short = await begin(workspace, "same");
  writeFileSync(join(root, "both.txt"), "both\n");
  const change = await short();
  await long();
  await undo(workspace, { change });
  expect(existsSync(join(root, "both.txt"))).toBe(false);
  const alone = await begin(workspace, "alone");
  writeFileSync(join(root, "alone.txt"), "alone\n");
  await undo(workspace, { change: await alone() });
  expect(existsSync(join(root, "alone.txt"))).toBe(false);
});

it("another replica refuses the same undo", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a");
  const b = await fixture.machine("b");
  const long = await begin(a.workspace, "long");
  const short = await begin(a.workspace, "short");
  a.put("long.txt", "long\n");
  a.put("short.txt", "short\n");
  const change = await short();
  await b.replica.refresh("writes");
  await expect(undo(b.workspace, { change })).rejects.toMatchObject({ code: "others_work" });
  await long();
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  expect(b.text("long.txt")).toBe("long\n");
});

it("another replica refuses to undo a command that was not compared, and ran beside another one", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a");
  const b = await fixture.machine("b");
  const [by, other] = [authorOf("one"), authorOf("other")];
  const stop = a.replica.commandRuns(by, () => {});
  const stopOther = a.replica.commandRuns(other, () => {});
  a.put("other.txt", "other\n");
  const change = await a.replica.publishChanges(by);
  await b.replica.refresh("writes");
  await expect(undo(b.workspace, { change })).rejects.toMatchObject({ code: "others_work" });
  stop();
  stopOther();
});

it("changes made before a command started are not attributed to it", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a");
  const b = await fixture.machine("b");
  a.put("job.txt", "of a background command\n");
  const ended = await begin(a.workspace, "one");
  a.put("own.txt", "own\n");
  const change = await ended();
  await b.replica.refresh("writes");
  expect(b.tree()).toEqual(a.tree());
  const records = [...b.workspace.archive.changes.newest()].map(({ id, connection, files }) => ({
    isOwn: id === change,
    connection,
    files: files.map(({ at }) => at.slice(b.root.length + 1)),
  }));
  expect(records).toContainEqual({ isOwn: true, connection: "one", files: ["own.txt"] });
  expect(records).toContainEqual({ isOwn: false, connection: undefined, files: ["job.txt"] });
});
