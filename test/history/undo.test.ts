// Every change can be undone: random programs of changes, undone in reverse, give back the tree bit for bit.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { treeOf } from "./tree-of.ts";

let base: string;
let root: string;
let workspace: Workspace;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-undo-"));
  root = join(base, "root");
  mkdirSync(root);
  workspace = open();
});
afterEach(() => {
  workspace[Symbol.dispose]();
  execFileSync("rm", ["-rf", base]);
});

function open(): Workspace {
  return Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
}

const put = (name: string, content: string) => writeFileSync(join(root, name), content);
const get = (name: string) => readFileSync(join(root, name), "utf8");
const write = (name: string, content: string): Change => ({
  kind: "write",
  path: workspace.at(name),
  bytes: Buffer.from(content),
});
const commit = (...changes: Change[]) =>
  workspace.commit(changes, { by: { action: "test", client: "vitest" }, parents: true });

describe("a change is undone", () => {
  it("a creation with its directories, an overwrite with its mode, a deleted tree with links and times", async () => {
    put("a.txt", "old\n");
    chmodSync(join(root, "a.txt"), 0o640);
    mkdirSync(join(root, "tree/deep"), { recursive: true });
    put("tree/deep/x", "x");
    chmodSync(join(root, "tree/deep"), 0o700);
    symlinkSync("deep/x", join(root, "tree/link"));
    const modified = lstatSync(join(root, "tree/deep/x")).mtimeMs;
    const before = treeOf(root);

    await commit(write("new/deep/file", "n"));
    await commit(write("a.txt", "new\n"));
    await commit({ kind: "remove", path: workspace.at("tree"), recursive: true });
    expect(Object.keys(treeOf(root))).not.toContain("tree");
    for (let i = 0; i < 3; i++)
      await undo(workspace, { change: (await listChanges(workspace, { limit: 50 }))[i * 2]?.id });
    expect(treeOf(root)).toEqual(before);
    expect(Math.abs(lstatSync(join(root, "tree/deep/x")).mtimeMs - modified)).toBeLessThan(1);
  });

  it("a link that was moved onto another link, and the undo of that", async () => {
    mkdirSync(join(root, "links"));
    symlinkSync("one", join(root, "links/a"));
    symlinkSync("two", join(root, "links/b"));
    const before = treeOf(root);
    const [from, to] = [workspace.at("links/a"), workspace.at("links/b")];
    const { id } = await commit({ kind: "move", from, to, overwrite: true });
    const moved = treeOf(root);
    const back = await undo(workspace, { change: id });
    expect(treeOf(root)).toEqual(before);
    await undo(workspace, { change: back.commit?.id });
    expect(treeOf(root)).toEqual(moved);
  });

  it("while a mode that was set since stays", async () => {
    put("mode", "old\n");
    chmodSync(join(root, "mode"), 0o640);
    const { id } = await commit(write("mode", "new\n"));
    chmodSync(join(root, "mode"), 0o600);
    await undo(workspace, { change: id });
    expect(get("mode")).toBe("old\n");
    expect(lstatSync(join(root, "mode")).mode & 0o777).toBe(0o600);
  });

  it("while later edits elsewhere in the same file stay, and a true overlap is refused", async () => {
    put("f", "one\ntwo\nthree\nfour\nfive\n");
    const { id } = await commit(write("f", "one\nTWO\nthree\nfour\nfive\n"));
    put("f", "one\nTWO\nthree\nfour\nFIVE\n");
    await undo(workspace, { change: id });
    expect(get("f")).toBe("one\ntwo\nthree\nfour\nFIVE\n");

    const { id: again } = await commit(write("f", "one\n2\nthree\nfour\nFIVE\n"));
    put("f", "one\nzwei\nthree\nfour\nFIVE\n");
    const fault = await undo(workspace, { change: again }).catch(error => error);
    expect(Fault.is(fault, "stale") && fault.data.current).toEqual([{ line: 2, text: "zwei" }]);
    expect(get("f")).toBe("one\nzwei\nthree\nfour\nFIVE\n");
  });

  it("without temporary files of another process: they are neither copied nor restored", async () => {
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d/f"), "text");
    writeFileSync(join(root, `d/.polyfs-${"0123456789abcdef".repeat(2)}.tmp`), "half a fi");
    await workspace.commit([{ kind: "copy", from: workspace.at("d"), to: workspace.at("e") }]);
    expect(readdirSync(join(root, "e"))).toEqual(["f"]);
    await undo(workspace);
    expect(readdirSync(root)).toEqual(["d"]);
    await workspace.commit([{ kind: "remove", path: workspace.at("d"), recursive: true }]);
    await undo(workspace);
    expect(readdirSync(join(root, "d"))).toEqual(["f"]);
  });

  it("and an undo can be undone, also by its path alone", async () => {
    put("f", "1");
    await commit(write("f", "2"));
    await commit(write("g", "x"));
    await undo(workspace, { path: workspace.at("f") });
    expect(get("f")).toBe("1");
    await undo(workspace, {});
    expect(get("f")).toBe("2");
    expect(get("g")).toBe("x");
  });

  it("and a restored tree can be removed and restored again, any number of times", async () => {
    await commit(write("new/deep/file", "n"), write("new/other", "o"));
    const made = treeOf(root);
    for (let round = 0; round < 2; round++) {
      await undo(workspace, {});
      expect(readdirSync(root)).toEqual([]);
      await undo(workspace, {});
      expect(treeOf(root)).toEqual(made);
    }
  });

  it("only for one path of it, and not at all in a dry run", async () => {
    await commit(write("a", "A"), write("b", "B"));
    const [change] = await listChanges(workspace, { limit: 1 });
    const dry = await undo(workspace, { dryRun: true });
    expect(dry.restored.map(one => [one.at, one.did])).toEqual([
      [join(root, "b"), "removed"],
      [join(root, "a"), "removed"],
    ]);
    await undo(workspace, { change: change?.id, path: workspace.at("a") });
    expect(readdirSync(root)).toEqual(["b"]);
  });

  it("not if something else took the file's place, and that stays", async () => {
    put("f", "1");
    await commit(write("f", "2"));
    rmSync(join(root, "f"));
    mkdirSync(join(root, "f"));
    await expect(undo(workspace)).rejects.toMatchObject({ code: "not_a_file" });
    rmSync(join(root, "f"), { recursive: true });
    await expect(undo(workspace)).rejects.toMatchObject({ code: "not_found" });
  });

  it("by another process, after a restart", async () => {
    put("f", "1");
    await commit(write("f", "2"));
    using later = open();
    await undo(later);
    expect(get("f")).toBe("1");
  });

  it("never outside the directories of the caller", async () => {
    mkdirSync(join(base, "other"));
    using other = Workspace.open([{ path: join(base, "other"), access: "read-write" }], {
      state: join(base, "state"),
    });
    const { id } = await commit(write("f", "2"));
    expect(await listChanges(other, { limit: 10 })).toEqual([]);
    expect(await undo(other, { change: id }).catch(error => error.code)).toBe("unknown_change");
  });
});

const names = ["a", "b", "c", "d/x", "d/y", "d/e/z", "new/deep/f", "ü", "link"];
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("write"),
      name: fc.constantFrom(...names),
      text: fc.string({ maxLength: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("remove"),
      name: fc.constantFrom(...names, "d", "d/e", "new", "link"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("move"),
      name: fc.constantFrom(...names, "d", "d/e", "link", "d/link"),
      to: fc.constantFrom(...names, "moved", "d/m", "link", "d/link"),
      overwrite: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("copy"),
      name: fc.constantFrom(...names, "d"),
      to: fc.constantFrom(...names, "copy"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("mkdir"), name: fc.constantFrom("made", "d/made/deep", "a") }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("symlink"),
      name: fc.constantFrom("link", "d/link"),
      to: fc.constantFrom("a", "d", "../out"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("several"),
      name: fc.constantFrom("a", "d/x"),
      to: fc.constantFrom("b", "new/g"),
    }),
  },
);

function changesOf(one: {
  do: string;
  name: string;
  to?: string;
  text?: string;
  overwrite?: boolean;
}): Change[] {
  const path = workspace.at(one.name);
  const to = workspace.at(one.to ?? ".");
  switch (one.do) {
    case "write":
      return [write(one.name, one.text ?? "")];
    case "remove":
      return [{ kind: "remove", path, recursive: true }];
    case "move":
      return [{ kind: "move", from: path, to, overwrite: one.overwrite ?? false }];
    case "copy":
      return [{ kind: "copy", from: path, to, overwrite: true }];
    case "mkdir":
      return [{ kind: "mkdir", path }];
    case "symlink":
      return [{ kind: "symlink", path, target: one.to ?? "" }];
    default:
      return [write(one.name, "several"), { kind: "move", from: workspace.at("c"), to }];
  }
}

describe("a random sequence of changes", () => {
  const length = Number(process.env.POLYFS_UNDO_STEPS ?? 40);
  it(`of up to ${length} steps, undone in reverse, gives back every tree on the way`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: length / 2, maxLength: length }), async steps => {
        execFileSync("sh", [
          "-c",
          'rm -rf "$1"/* "$1"/.[!.]*; mkdir -p "$1/d/e"; echo a > "$1/a"; echo x > "$1/d/x"; printf z > "$1/d/e/z"; chmod 600 "$1/a"',
          "-",
          root,
        ]);
        const trees: { id: string; before: Record<string, string> }[] = [];
        for (const one of steps) {
          const before = treeOf(root);
          try {
            const { id, files } = await commit(...changesOf(one));
            await workspace.settled();
            if (files.some(file => file.effect !== "none")) trees.push({ id, before });
          } catch (error) {
            if (!(error instanceof Fault)) throw error;
            await workspace.settled();
            expect(treeOf(root)).toEqual(before);
          }
        }
        for (const { id, before } of trees.toReversed()) {
          await undo(workspace, { change: id });
          await workspace.settled();
          expect(treeOf(root)).toEqual(before);
        }
      }),
      {
        numRuns: Number(process.env.POLYFS_UNDO_RUNS ?? 12),
        endOnFailure: true,
        ...(process.env.POLYFS_UNDO_SEED && { seed: Number(process.env.POLYFS_UNDO_SEED) }),
        ...(process.env.POLYFS_UNDO_PATH && { path: process.env.POLYFS_UNDO_PATH }),
      },
    );
  });
});

it("a move is undone after its file was replaced by the same content, for which undo does nothing", async () => {
  for (const name of ["from", "same"]) writeFileSync(join(root, name), "content\n");
  const moved = await commit({ kind: "move", from: workspace.at("from"), to: workspace.at("to") });
  const copied = await commit({
    kind: "copy",
    from: workspace.at("same"),
    to: workspace.at("to"),
    overwrite: true,
  });
  await undo(workspace, { change: copied.id });
  await undo(workspace, { change: moved.id });
  expect(readdirSync(root).sort()).toEqual(["from", "same"]);
});

it("a move is not undone over a second name of the moved file", async () => {
  put("from", "content");
  await commit({ kind: "move", from: workspace.at("from"), to: workspace.at("to") });
  linkSync(join(root, "to"), join(root, "from"));
  const before = treeOf(root);
  await expect(undo(workspace, {})).rejects.toMatchObject({ code: "exists" });
  expect(treeOf(root)).toEqual(before);
});
