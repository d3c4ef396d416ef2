// Undo touches nothing but what its change made: other people's files and directories stay, whatever they did since.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { treeOf } from "./tree-of.ts";

let base: string;
let root: string;
let workspace: Workspace;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-own-"));
  root = join(base, "root");
  mkdirSync(root);
  workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
});
afterEach(() => {
  workspace[Symbol.dispose]();
  execFileSync("rm", ["-rf", base]);
});

const at = (name: string) => join(root, name);
const write = (name: string, content: string): Change => ({
  kind: "write",
  path: workspace.at(name),
  bytes: Buffer.from(content),
});
const commit = (...changes: Change[]) => workspace.commit(changes, { parents: true });
const codeOf = (action: Promise<unknown>) =>
  action.then(
    () => "done",
    error => (error instanceof Fault ? error.code : String(error)),
  );

describe("an undo leaves alone", () => {
  it("a file that another program wrote at the destination of a move", async () => {
    writeFileSync(at("a"), "mine");
    await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    rmSync(at("b"));
    writeFileSync(at("b"), "theirs");
    expect(await codeOf(undo(workspace))).toBe("stale");
    expect(treeOf(root)).toMatchObject({ b: "file 644 theirs" });
    expect(existsSync(at("a"))).toBe(false);
  });

  it("an older file that was copied to the destination of a move and got the inode of the moved one", async () => {
    writeFileSync(at("a"), "mine");
    const old = new Date(Date.now() - 3_600_000);
    await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    const { ino } = lstatSync(at("b"));
    rmSync(at("b"));
    // ext4 gives the lowest free inode; elsewhere the copy is an ordinary one.
    for (let i = 0; i < 20 && !existsSync(at("b")); i++) {
      writeFileSync(at(`copy${i}`), "theirs");
      if (lstatSync(at(`copy${i}`)).ino === ino || i === 19) renameSync(at(`copy${i}`), at("b"));
    }
    utimesSync(at("b"), old, old);
    expect(await codeOf(undo(workspace))).toBe("stale");
    expect(treeOf(root)).toMatchObject({ b: "file 644 theirs" });
  });

  it("but reverts a move of a file that was edited since", async () => {
    writeFileSync(at("a"), "one\n");
    const { id } = await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    await commit(write("b", "one\ntwo\n"));
    await undo(workspace, { change: id });
    expect(readFileSync(at("a"), "utf8")).toBe("one\ntwo\n");
  });

  it("but follows the moved file through moves of directories, deletions and their undos", async () => {
    mkdirSync(at("d"));
    writeFileSync(at("a"), "mine");
    const move = (from: string, to: string) =>
      commit({ kind: "move", from: workspace.at(from), to: workspace.at(to) });
    const first = await move("a", "d/a");
    const whole = await move("d", "e");
    const inner = await move("e/a", "b");
    const deleted = await commit({ kind: "remove", path: workspace.at("b") });
    await undo(workspace, { change: deleted.id }); // as a new file
    await undo(workspace, { change: inner.id });
    const tree = await commit({ kind: "remove", path: workspace.at("e"), recursive: true });
    await undo(workspace, { change: tree.id }); // as a new directory
    await undo(workspace, { change: whole.id });
    await undo(workspace, { change: first.id });
    expect(readFileSync(at("a"), "utf8")).toBe("mine");
    expect(readdirSync(at("d"))).toEqual([]);
  });

  it("a file that another program put where an undo had restored the moved one", async () => {
    writeFileSync(at("a"), "mine");
    const moved = await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    const deleted = await commit({ kind: "remove", path: workspace.at("b") });
    await undo(workspace, { change: deleted.id });
    rmSync(at("b"));
    writeFileSync(at("b"), "theirs");
    expect(await codeOf(undo(workspace, { change: moved.id }))).toBe("stale");
    expect(treeOf(root)).toMatchObject({ b: "file 644 theirs" });
  });

  it("a file that a later change made at the destination after the moved one was deleted", async () => {
    writeFileSync(at("a"), "mine");
    const moved = await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    await commit({ kind: "remove", path: workspace.at("b") });
    await commit(write("b", "another"));
    expect(await codeOf(undo(workspace, { change: moved.id }))).toBe("stale");
    expect(treeOf(root)).toMatchObject({ b: "file 644 another" });
  });

  it("a directory that another program made at the destination of a move", async () => {
    mkdirSync(at("a"));
    const moved = await commit({ kind: "move", from: workspace.at("a"), to: workspace.at("b") });
    await commit({ kind: "mode", path: workspace.at("b"), mode: 0o700 });
    rmSync(at("b"), { recursive: true });
    mkdirSync(at("b"), { mode: 0o700 });
    expect(await codeOf(undo(workspace, { change: moved.id }))).toBe("stale");
    expect(existsSync(at("b"))).toBe(true);
  });

  it("empty directories of other programs below a directory that the change made", async () => {
    await commit(write("p/f", "mine"));
    mkdirSync(at("p/theirs/inner"), { recursive: true });
    await undo(workspace);
    expect(existsSync(at("p/f"))).toBe(false);
    expect(existsSync(at("p/theirs/inner"))).toBe(true);
  });

  it("a directory that it made by name and that holds something else now", async () => {
    await commit({ kind: "mkdir", path: workspace.at("d/e") });
    mkdirSync(at("d/e/theirs"));
    expect(await codeOf(undo(workspace))).toBe("stale");
    rmSync(at("d/e/theirs"), { recursive: true });
    await undo(workspace);
    expect(existsSync(at("d"))).toBe(false);
  });
});

/** Runs a shell command on the tree, and records what it changed as a command of an agent is recorded. */
async function run(command: string): Promise<void> {
  const before = await Before.look(workspace);
  execFileSync("sh", ["-c", command], { cwd: root });
  const found = await record(workspace, await before.compare(), { action: "run_command", client: "test" });
  expect(found, command).toBeDefined();
}

describe("what a command did is undone", () => {
  const prepare = () => {
    mkdirSync(at("d/e"), { recursive: true });
    writeFileSync(at("d/x"), "x\n");
    writeFileSync(at("d/e/\u00e9"), "y\n");
    writeFileSync(at("f"), "f\n");
    symlinkSync("f", at("l"));
  };

  for (const command of [
    "rm f; ln -s d f",
    "rm -rf d; echo f > d",
    "ln -sfn d l",
    "rm l; echo file > l",
    "rm f; mkdir f; echo in > f/in",
    "rm -rf d; mkdir d; echo other > d/x",
    "chmod 700 d",
    "chmod 700 d; chmod 600 f; echo more >> f",
    "mv d g; ln -s g d",
    "rm -rf d; ln -s f d; rm l; mkdir l",
  ])
    it(`after: ${command}`, async () => {
      prepare();
      const before = treeOf(root);
      await run(command);
      const after = treeOf(root);
      expect(after).not.toEqual(before);
      await undo(workspace);
      expect(treeOf(root)).toEqual(before);
      await undo(workspace); // and the undo itself
      expect(treeOf(root)).toEqual(after);
    });

  it("except the mode of a directory that is gone: its contents are not restored", async () => {
    prepare();
    await run("chmod 700 d");
    rmSync(at("d"), { recursive: true });
    expect(await codeOf(undo(workspace))).toBe("not_found");
    expect(existsSync(at("d"))).toBe(false);
  });

  it("and nothing if another program has put something else there", async () => {
    prepare();
    await run("rm f; ln -s d f");
    rmSync(at("f"));
    symlinkSync("elsewhere", at("f"));
    expect(await codeOf(undo(workspace))).toBe("stale");
    expect(readlinkSync(at("f"))).toBe("elsewhere");
  });
});

const places = ["a", "b", "d", "d/x", "d/y", "p", "p/q", "p/q/r"];
const place = fc.constantFrom(...places);
const changing = fc.record({ kind: fc.constantFrom("write", "mkdir", "move", "remove"), a: place, b: place });
const others = fc.array(
  fc.record({ kind: fc.constantFrom("write", "mkdir", "remove", "link", "mode"), a: place }),
  { maxLength: 5 },
);

function change({ kind, a, b }: { kind: string; a: string; b: string }): Change {
  const path = workspace.at(a);
  if (kind === "write") return write(a, "mine\n");
  if (kind === "mkdir") return { kind: "mkdir", path };
  if (kind === "remove") return { kind: "remove", path, recursive: true };
  return { kind: "move", from: path, to: workspace.at(b) };
}

function meddle({ kind, a }: { kind: string; a: string }): void {
  try {
    if (kind === "remove") rmSync(at(a), { recursive: true });
    else if (kind === "mode") chmodSync(at(a), 0o750);
    else if (kind === "mkdir") mkdirSync(at(a), { recursive: true });
    else if (kind === "link") symlinkSync("theirs", at(a));
    else {
      rmSync(at(a), { force: true }); // as many editors do: a new file under the old name
      writeFileSync(at(a), "theirs\n");
    }
  } catch {
    // It cannot be done here.
  }
}

/** Without the mode. */
function content(shown: string | undefined): string | undefined {
  return shown?.replace(/ \d+/, "");
}

describe("whatever others do between a change and its undo", () => {
  it("stays, and undo touches nothing that was not part of the change", async () => {
    await fc.assert(
      fc.asyncProperty(changing, others, async (step, meddling) => {
        execFileSync("sh", [
          "-c",
          'rm -rf "$1"/*; mkdir -p "$1/d"; echo a > "$1/a"; echo x > "$1/d/x"',
          "",
          root,
        ]);
        const before = treeOf(root);
        const made = await commit(change(step)).catch(() => undefined);
        if (made === undefined || made.files[0]?.effect === "none") return;
        const after = treeOf(root);
        for (const one of meddling) meddle(one);
        const met = treeOf(root);
        await codeOf(undo(workspace, { change: made.id }));
        const now = treeOf(root);
        const isCarried = (name: string) =>
          step.kind === "move" && [step.a, step.b].some(top => name === top || name.startsWith(`${top}/`));
        for (const name of new Set([...Object.keys(met), ...Object.keys(now)])) {
          if (now[name] === met[name]) continue;
          const isOwn = before[name] !== after[name];
          // What the change did to it may be undone while it is still so.
          if (
            isOwn &&
            content(met[name]) === content(after[name]) &&
            content(now[name]) === content(before[name])
          )
            continue;
          // A directory that others removed is made again for what comes back into it.
          const holdsOwn = Object.keys(before).some(
            path => path.startsWith(`${name}/`) && before[path] !== after[path] && now[path] !== undefined,
          );
          if (met[name] === undefined && before[name] !== undefined && holdsOwn) continue;
          // What others put into a moved directory goes back with it; it is not lost.
          if (isCarried(name) && (met[name] === undefined || Object.values(now).includes(met[name])))
            continue;
          expect({ name, is: now[name] }).toEqual({ name, is: met[name] });
        }
      }),
      { numRuns: Number(process.env.POLYFS_UNDO_RUNS ?? 60) },
    );
  });
});
