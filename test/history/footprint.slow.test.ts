// What is recorded of a command: all that it did and nothing that others did, in names of any bytes.
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Before, type Footprint, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { listedIn } from "../../src/engine/workspace/archive/snapshot.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { errno, watching } from "../commit/failing.ts";
import { hasProc } from "../setup/proc.ts";

let base: string;
let root: string;
let workspace: Workspace;
let other: Workspace;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-footprint-")));
  root = join(base, "root");
  mkdirSync(root);
  open(join(base, "state"));
});
afterEach(() => {
  workspace[Symbol.dispose]();
  other[Symbol.dispose]();
  execFileSync("rm", ["-rf", base]);
});

function open(state: string): void {
  workspace = Workspace.open([{ path: root, access: "read-write" }], { state });
  other = workspace.as({ action: "write_file", client: "other" });
}

function pidNamespace(): string {
  return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
}

const by = { action: "run_command", client: "me" };

function write(path: string, content = path): void {
  mkdirSync(join(root, path, ".."), { recursive: true });
  writeFileSync(join(root, path), content);
}

function sh(command: string): void {
  execFileSync("/bin/sh", ["-c", command], { cwd: root });
}

async function footprintOf(act: () => void | Promise<void>): Promise<Footprint> {
  using before = await Before.look(workspace);
  await act();
  return await before.compare();
}

/** What a footprint would record, a line for each file. */
function told({ files = [] }: Footprint): string[] {
  return files.map(({ at, effect, before, after }) =>
    [effect, at.slice(root.length + 1), before?.kind, after?.kind].filter(Boolean).join(" "),
  );
}

async function edit(path: string, content: string): Promise<void> {
  await other.commit([{ kind: "write", path: other.at(path), bytes: Buffer.from(content) }], {
    parents: true,
  });
}

describe("what other agents commit while a command runs", () => {
  it("is not the command's: files, directories, moves and deletions", async () => {
    for (const path of ["edited", "gone", "from/a", "from/b/c", "mine"]) write(path);
    const footprint = await footprintOf(async () => {
      await edit("edited", "theirs");
      await edit("new/deep/file", "theirs");
      await other.commit([{ kind: "remove", path: other.at("gone") }]);
      await other.commit([{ kind: "move", from: other.at("from"), to: other.at("to") }]);
      sh("echo x >> mine; mkdir made; echo y > made/z");
    });
    expect(told(footprint)).toEqual(["created made directory", "modified mine file file"]);
    expect(footprint.shared).toEqual([]);
  });

  it("is empty if the command wrote nothing", async () => {
    write("a");
    const footprint = await footprintOf(() => edit("a", "theirs"));
    expect(footprint).toMatchObject({ changes: [], leftOut: [], shared: [], unseen: [] });
    expect(footprint.files).toBeUndefined();
  });

  it("stays theirs if the command changed the same file, and the other way round", async () => {
    write("after", "0\n");
    write("before", "0\n");
    const footprint = await footprintOf(async () => {
      await edit("after", "theirs\n");
      sh("echo mine >> after; echo mine > before");
      await edit("before", "theirs\n");
    });
    const contents = footprint.files?.map(({ at, before, after }) =>
      [at.slice(root.length + 1), ...[before, after].map(one => contentOf(one))].join(" | "),
    );
    expect(contents).toEqual(["after | theirs\n | theirs\nmine\n", "before | 0\n | mine\n"]);
  });

  it("is reported if the parts cannot be distinguished", async () => {
    write("both", "0");
    const footprint = await footprintOf(async () => {
      sh("echo 1 > both");
      await edit("both", "2");
      sh("echo 3 > both");
    });
    expect(footprint.shared).toEqual([join(root, "both")]);
    expect(told(footprint)).toEqual([]);
  });

  it("is deleted with its directory as a change of the command", async () => {
    write("d/a");
    const footprint = await footprintOf(async () => {
      await edit("d/theirs", "t");
      sh("rm -r d");
    });
    expect(told(footprint)).toEqual(["removed d directory"]);
    const [removed] = footprint.files ?? [];
    const listed = removed?.before && listedIn(removed.before, workspace.archive.objects);
    expect(listed?.map(({ name }) => name)).toEqual(["a", "theirs"]);
  });

  it("is not the command's where the command had made the directory around it", async () => {
    const footprint = await footprintOf(async () => {
      sh("mkdir d");
      await edit("d/sub/theirs", "t");
      sh("echo m > d/mine");
    });
    const [made] = footprint.files ?? [];
    const listed = made?.after && listedIn(made.after, workspace.archive.objects);
    expect(listed?.map(({ name }) => name)).toEqual(["mine"]);
  });

  it("is not claimed by the next command, though it was recorded late", async () => {
    write("a", "0");
    for (let i = 1; i <= 10; i++) {
      const writing = edit("a", `${i}`);
      const footprint = await footprintOf(async () => {
        await writing;
        await edit("b", `${i}`);
      });
      expect(footprint.changes).toEqual([]);
    }
  });

  it("is not claimed where another command has recorded it already", async () => {
    using first = await Before.look(workspace);
    using second = await Before.look(workspace);
    sh("echo x > made");
    await record(workspace, await first.compare(), by);
    expect((await second.compare()).changes).toEqual([]);
  });

  it.runIf(hasProc)(
    "is not claimed as certain where another command runs in the same directories",
    async () => {
      const first = await Before.look(workspace);
      using second = await Before.look(workspace);
      sh("echo x > made");
      expect(await first.compare()).toMatchObject({ uncertain: true });
      first[Symbol.dispose]();
      expect(await second.compare()).toMatchObject({ uncertain: true });
      second[Symbol.dispose]();
      expect(await footprintOf(() => sh("echo y > made"))).toMatchObject({ uncertain: false });
      // What a killed server left behind says nothing.
      const [name] = readdirSync(join(base, "state/commands"));
      expect(name).toBeUndefined();
      const dead = join(base, "state/commands", `${pidNamespace()}-${process.pid}-1-abc`);
      writeFileSync(dead, JSON.stringify([root]));
      expect(await footprintOf(() => sh("echo z > made"))).toMatchObject({ uncertain: false });
    },
  );
});

function contentOf(snapshot: { kind: string; hash?: string } | undefined): string {
  return snapshot?.hash === undefined ? "" : String(workspace.archive.objects.get(snapshot.hash));
}

describe("what a command did", () => {
  it("records both states of a path whose type changed", async () => {
    for (const path of ["file-link", "file-dir", "dir-file/x/y", "kept/a", "again/a"]) write(path);
    symlinkSync("kept", join(root, "link"));
    const footprint = await footprintOf(() =>
      sh(
        "ln -sf kept file-link; rm file-dir; mkdir file-dir; rm -r dir-file; echo f > dir-file; " +
          "ln -sfn again link; chmod 700 kept; rm -r again; mkdir again; echo b > again/b",
      ),
    );
    expect(told(footprint)).toEqual([
      "removed again/a file",
      "created again/b file",
      "modified dir-file directory file",
      "modified file-dir file directory",
      "modified file-link file symlink",
      "modified kept directory directory",
      "modified link symlink symlink",
    ]);
    const kept = footprint.files?.find(({ at }) => at.endsWith("/kept"));
    expect(kept?.before).not.toHaveProperty("entries");
  });

  it("is not confused with a neighbour whose name sorts between a directory and its contents", async () => {
    const footprint = await footprintOf(() => sh("mkdir d d-x; touch d/a d-x/b"));
    expect(told(footprint)).toEqual(["created d directory", "created d-x directory"]);
  });

  it("can be undone together with a move into a directory that the command replaced by a file", async () => {
    write("a", "moved");
    write("d/x");
    const moved = await workspace.commit([
      { kind: "move", from: workspace.at("a"), to: workspace.at("d/a") },
    ]);
    const footprint = await footprintOf(() => sh("rm -rf d; echo f > d"));
    await undo(workspace, { change: (await record(workspace, footprint, by))?.record.id });
    await undo(workspace, { change: moved.id });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("moved");
    expect(readdirSync(join(root, "d"))).toEqual(["x"]);
  });

  it("says whether it would survive a power cut, and can be undone in any case", async () => {
    const durable = await record(workspace, await footprintOf(() => sh("echo one > file")), by);
    expect(durable?.isDurable).toBe(true);
    const footprint = await footprintOf(() => sh("echo two > file"));
    const fail = (_: number, name: string) => {
      if (name === "flushLater") throw errno("EIO", "fsync");
    };
    const made = await watching(fail, () => record(workspace, footprint, by));
    expect(made?.isDurable).toBe(false);
    await undo(workspace, { change: made?.record.id });
    expect(readFileSync(join(root, "file"), "utf8")).toBe("one\n");
  });

  it.each(["größe/äöü.txt", "日本/語", "a\nb/\u0301x", `${"n".repeat(255)}/f`])(
    "is undone to the byte in names such as %j",
    async path => {
      write(path, "content\n");
      const directory = path.split("/")[0] ?? "";
      const footprint = await footprintOf(() => sh(`rm -r '${directory}'`));
      const made = await record(workspace, footprint, by);
      await undo(workspace, { change: made?.record.id });
      const names = () => readdirSync(root, { recursive: true }).map(String).sort();
      expect(names()).toEqual([directory, path]);
      await undo(workspace);
      expect(names()).toEqual([]);
    },
  );

  it("never includes the server's own state, wherever that has been moved to", async () => {
    workspace[Symbol.dispose]();
    open(join(root, ".local/state/polyfs"));
    write("a");
    const footprint = await footprintOf(async () => {
      await edit("a", "theirs");
      sh("echo x > b");
    });
    expect(told(footprint)).toEqual(["created b file"]);
    const moved = await footprintOf(() => sh("mv .local/state/polyfs aside"));
    sh("mv aside .local/state/polyfs");
    expect(moved.changes).toEqual([]);
  });

  it("in skipped directories is reported, and the rest can be undone", async () => {
    write("node_modules/a/index.js");
    write("old/node_modules/b");
    write("old/c");
    mkdirSync(join(root, ".git"));
    const footprint = await footprintOf(() =>
      sh("echo x > node_modules/a/new; echo y > file; rm -r old; mkdir -p app/.git; touch app/f"),
    );
    expect(footprint.unseen.filter(({ path }) => path === join(root, "node_modules"))).toEqual([
      { path: join(root, "node_modules"), state: "changed" },
    ]);
    expect(footprint.unseen.map(({ path }) => path)).not.toContain(join(root, ".git"));
    expect(told(footprint)).toEqual(["created file file", "removed old directory"]);
    expect(footprint.leftOut).toEqual([join(root, "app"), join(root, "old/node_modules")]);
    await undo(workspace, { change: (await record(workspace, footprint, by))?.record.id });
    expect(readdirSync(root).sort()).toEqual([".git", "app", "node_modules", "old"]);
    expect(readdirSync(join(root, "old"))).toEqual(["c"]);
  });

  it("is found in a wide tree without blocking the event loop", async () => {
    let turns = 0;
    const ticking = setInterval(() => turns++, 1);
    const footprint = await footprintOf(() => sh("seq 1 500 | xargs mkdir"));
    clearInterval(ticking);
    expect(footprint.files).toHaveLength(500);
    expect(turns).toBeGreaterThan(2);
  });

  it("that removed a pipe among other things is recorded without the pipe", async () => {
    write("closed/a");
    sh("mkfifo pipe");
    const footprint = await footprintOf(() => sh("rm pipe; rm -r closed"));
    expect(footprint.changes).toHaveLength(3);
    expect(told(footprint)).toEqual(["removed closed directory"]);
    expect(footprint.leftOut).toEqual([join(root, "pipe")]);
    await undo(workspace, { change: (await record(workspace, footprint, by))?.record.id });
    expect(readdirSync(root)).toEqual(["closed"]);
  });
});
