// A command is recorded when it has ended, and others change files while it runs. Its place in the history is where it
// acted: undone newest first, all changes are undone completely.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import type { By } from "../../src/engine/workspace/archive/log.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const command: By = { action: "run_command", client: "one", connection: "one" };
const other: By = { action: "edit_file", client: "other", connection: "other" };

let base: string;
let root: string;
let workspace: Workspace;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-order-"));
  root = join(base, "root");
  for (const [name, text] of Object.entries({
    "a.txt": "1\n2\n3\n",
    "d/b.txt": "b\n",
    "d/c.txt": "c\n",
    "d/e/f.txt": "f\n",
  })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
});
afterEach(async () => {
  await workspace.settled();
  workspace[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
const path = (name: string) => workspace.at(at(name));

/** Another caller changes something. */
async function commit(...changes: Change[]): Promise<void> {
  await workspace.as(other).commit(changes, { parents: true });
}

function writing(name: string, text: string): Change {
  const bytes = Buffer.from(text);
  const expect = existsSync(at(name)) ? readFileSync(at(name)) : "absent";
  return { kind: "write", path: path(name), bytes, expect };
}

/** Runs a command that does this. */
async function running(work: () => Promise<void>, afterwards = async () => {}): Promise<void> {
  const view = workspace.as(command);
  using before = await Before.look(view);
  await work();
  const footprint = await before.compare();
  await afterwards();
  await record(view, footprint, command);
}

function tree(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    const name = join(entry.parentPath, entry.name);
    if (!entry.name.startsWith(".polyfs-")) found[name] = entry.isFile() ? readFileSync(name, "utf8") : "";
  }
  return found;
}

async function undoAll(): Promise<void> {
  await workspace.allRecorded();
  for (const { id } of [...workspace.archive.changes.newest()]) await undo(workspace, { change: id });
  await workspace.settled();
}

const stories: Record<string, () => Promise<void>> = {
  "edits the lines that it wrote": async () => {
    appendFileSync(at("a.txt"), "4\n");
    await commit(writing("a.txt", "1\n2\n3\n4 and 5\n"));
  },
  "edits a file that it created": async () => {
    writeFileSync(at("n.txt"), "n\n");
    await commit(writing("n.txt", "new\n"));
  },
  "moves a file that it created": async () => {
    writeFileSync(at("n.txt"), "n\n");
    await commit({ kind: "move", from: path("n.txt"), to: path("m.txt") });
  },
  "moves a directory that it created, and edits in it": async () => {
    mkdirSync(at("k"));
    writeFileSync(at("k/n.txt"), "n\n");
    await commit({ kind: "move", from: path("k"), to: path("m") });
    await commit(writing("m/n.txt", "new\n"));
  },
  "creates a file in a directory that it created": async () => {
    mkdirSync(at("k"));
    await commit(writing("k/n.txt", "n\n"));
  },
  "deletes a file from a directory that it created": async () => {
    mkdirSync(at("k"));
    writeFileSync(at("k/n.txt"), "n\n");
    await commit({ kind: "remove", path: path("k/n.txt") });
  },
  "creates a file where it removed the directory": async () => {
    renameSync(at("d"), at("e"));
    await commit(writing("d/b.txt", "new\n"));
  },
  "removes a directory with a file that it changed": async () => {
    appendFileSync(at("d/b.txt"), "changed\n");
    await commit({ kind: "remove", path: path("d"), recursive: true });
  },
  "removes a directory that it had taken a file from": async () => {
    rmSync(at("d/b.txt"));
    await commit({ kind: "remove", path: path("d"), recursive: true });
  },
  "writes a file that it then removes with its directory": async () => {
    await commit(writing("d/b.txt", "new\n"));
    rmSync(at("d"), { recursive: true });
  },
  "writes, it removes, and the caller writes again": async () => {
    await commit(writing("d/b.txt", "new\n"));
    await commit(writing("d/n.txt", "n\n"));
    rmSync(at("d"), { recursive: true });
    await commit(writing("d/n.txt", "again\n"));
    await commit({ kind: "move", from: path("d/n.txt"), to: path("m/n.txt") });
  },
  "creates and removes a directory again that it had removed": async () => {
    rmSync(at("d"), { recursive: true });
    await commit({ kind: "mkdir", path: path("d/e") });
    await commit({ kind: "remove", path: path("d/e"), recursive: true });
  },
  "creates a directory, it empties that, and the caller removes it": async () => {
    await commit(writing("n/n.txt", "n\n"));
    rmSync(at("n/n.txt"));
    await commit({ kind: "remove", path: path("n"), recursive: true });
  },
};

describe("everything is undone, newest first, where another caller, while a command runs,", () => {
  for (const [story, work] of Object.entries(stories))
    it(story, async () => {
      const before = tree();
      await running(work);
      await undoAll();
      expect(tree()).toEqual(before);
    });

  it("changes something between its end and its record", async () => {
    const before = tree();
    await running(
      async () => writeFileSync(at("n.txt"), "n\n"),
      () => commit(writing("n.txt", "new\n")),
    );
    await undoAll();
    expect(tree()).toEqual(before);
  });

  it("moves a file that it changed, after the second look at the tree", async () => {
    const before = tree();
    const view = workspace.as(command);
    using look = await Before.look(view);
    appendFileSync(at("a.txt"), "4\n");
    // The lock of another command's record: this one looks, and waits.
    const lock = join(base, "state", "commands", "recording");
    writeFileSync(lock, "0-0-0-0");
    const comparing = look.compare();
    await new Promise(resolve => setTimeout(resolve, 300));
    await commit({ kind: "move", from: path("a.txt"), to: path("m.txt") });
    rmSync(lock, { force: true });
    await record(view, await comparing, command);
    await undoAll();
    expect(tree()).toEqual(before);
  });
});

it("a list from a time on has the command, although an older change sorts above it", async () => {
  let since = 0;
  await running(async () => {
    writeFileSync(at("a.txt"), "command\n");
    await commit(writing("a.txt", "other\n"));
    await pause(20);
    since = Date.now();
    writeFileSync(at("n.txt"), "n\n");
  });
  const actions = async (query: { since?: number }) =>
    (await listChanges(workspace, { ...query, limit: 10 })).map(({ action }) => action);
  expect(await actions({})).toEqual(["edit_file", "run_command"]);
  expect(await actions({ since })).toEqual(["run_command"]);
});

it("a list behind a change has the command that was recorded later and sorts before it", async () => {
  await commit(writing("d/c.txt", "first\n"));
  let latest = "";
  await running(async () => {
    await commit(writing("d/c.txt", "second\n"));
    writeFileSync(at("a.txt"), "command\n");
    await commit(writing("a.txt", "other\n"));
    await workspace.allRecorded();
    latest = workspace.archive.changes.ids().at(-1) ?? "";
    await pause(20);
  });
  const listed = async (after: string) =>
    (await listChanges(workspace, { after, limit: 10 })).map(({ action }) => action);
  expect(await listed(latest)).toEqual(["run_command"]);
  const [, placed, ...earlier] = workspace.archive.changes.ids().toReversed();
  expect(await listed(placed ?? "")).toEqual(["edit_file"]);
  expect(await listed(earlier.at(-1) ?? "")).toEqual(["edit_file", "run_command", "edit_file"]);
  await commit(writing("d/c.txt", "third\n"));
  await workspace.allRecorded();
  expect(await listed(workspace.archive.changes.ids().at(-1) ?? "")).toEqual([]);
});

it("a command is the newest change if no other change followed it", async () => {
  await running(async () => {
    await commit(writing("a.txt", "1\n2\n"));
    appendFileSync(at("a.txt"), "x\n");
    await commit(writing("d/b.txt", "new\n"));
  });
  const [newest] = workspace.archive.changes.newest();
  expect(newest?.action).toBe("run_command");
});
