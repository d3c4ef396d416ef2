// What is known from an earlier walk is never given when it is not so any more. Another process changes the tree as
// quickly as it goes, and after each change a walk is held against a plain reading of the tree.
//
// `TREE_SEED` and `TREE_STEPS` run it again, or for longer.
import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { excludeGlobs, includeGlobs } from "../../src/engine/search/globs.ts";
import { type WalkOptions, walk, walkGroups } from "../../src/engine/search/walk.ts";
import type { Directory } from "../../src/engine/workspace/directory.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { all, byteSorted, Tree } from "./tree.ts";

const seed = Number(process.env.TREE_SEED ?? Date.now() % 1_000_000);
const steps = Number(process.env.TREE_STEPS ?? 300);
const settledMs = 2100;

const ignore = { rules: true, hidden: true };

async function paths(start: Directory, options: WalkOptions = {}): Promise<string[]> {
  return (await all(walk(start, options))).map(({ kind, path }) => `${kind} ${path}`);
}

async function grouped(start: Directory, options: WalkOptions = {}): Promise<string[]> {
  const found: string[] = [];
  await walkGroups(start, options, ({ prefix, entries }) => {
    for (const { kind, name } of entries) found.push(`${kind} ${prefix}${name}`);
    return true;
  });
  return found;
}

/** What is there, read without any of our own code; ignore files hold one plain name each. */
function plainly(root: string, obeys: boolean, at = "", ignored: readonly string[] = []): string[] {
  const entries = readdirSync(join(root, at), { withFileTypes: true });
  const own = entries.some(entry => entry.name === ".gitignore" && entry.isFile())
    ? [readFileSync(join(root, at, ".gitignore"), "utf8").trim()]
    : [];
  const out = obeys ? [...ignored, ...own] : [];
  return entries.flatMap(entry => {
    if (out.includes(entry.name)) return [];
    const path = join(at, entry.name);
    const kind = entry.isDirectory() ? "directory" : entry.isSymbolicLink() ? "symlink" : "file";
    return [`${kind} ${path}`, ...(kind === "directory" ? plainly(root, obeys, path, out) : [])];
  });
}

function inOrder(found: readonly string[]): string[] {
  const kinds = new Map(found.map(line => [line.slice(line.indexOf(" ") + 1), line]));
  return byteSorted([...kinds.keys()]).map(path => kinds.get(path) ?? "");
}

async function changedAtRandom(base: string): Promise<void> {
  const root = join(realpathSync(base), "root");
  for (let i = 0; i < 24; i++) {
    mkdirSync(join(root, `n${i % 3}/n${i % 4}/n${i % 6}`), { recursive: true });
    writeFileSync(join(root, `n${i % 3}/n${i % 4}/n${i % 6}/f${i}`), "");
  }
  await settled();
  using workspace = Workspace.open([{ path: root, access: "read-only" }]);
  using start = workspace.directory(workspace.at("."));
  const changer = fork(join(import.meta.dirname, "changer.mjs"), [root, String(seed)]);
  try {
    for (let step = 0; step < steps; step++) {
      changer.send("");
      const [did] = await once(changer, "message");
      const why = `seed ${seed}, step ${step}: ${did}`;
      const options = step % 3 === 0 ? {} : { ignore };
      const told = step % 2 === 0 ? await paths(start, options) : await grouped(start, options);
      const there = inOrder(plainly(root, step % 3 !== 0));
      if (told.join() !== there.join()) expect(told, why).toEqual(there);
    }
  } finally {
    changer.kill();
  }
}

describe("a tree that was walked before", () => {
  it("shows every change that another process makes, however quickly", { timeout: 300_000 }, async () => {
    const base = mkdtempSync(join(tmpdir(), "known-"));
    await changedAtRandom(base);
    rmSync(base, { recursive: true, force: true });
  });

  it.runIf(mounts())(
    "does so where two changes within a tick of the clock show the same time",
    { timeout: 300_000 },
    async () => {
      const base = mkdtempSync(join(tmpdir(), "known-"));
      execFileSync("mount", ["-t", "ramfs", "ramfs", base]);
      try {
        await changedAtRandom(base);
      } finally {
        if (spawnSync("umount", ["--lazy", base]).status !== 0) execFileSync("umount", [base]);
        rmSync(base, { recursive: true, force: true });
      }
    },
  );
});

describe("the cached listing of a tree", () => {
  it("is the same for a walk of the whole, of a part, by globs, in another order and in groups", async () => {
    using tree = new Tree({
      ".gitignore": "dist\n",
      "a/b/c.ts": "",
      "a/b/dist/x.ts": "",
      "a/b-c": "",
      "a.ts": "",
      "dist/y.ts": "",
      "z/.ignore": "*.md\n",
      "z/k.md": "",
      "z/k.ts": "",
    });
    await settled();
    using whole = tree.directory();
    using part = tree.directory("a");
    const scopes = () => [
      {},
      { ignore },
      { ignore, include: includeGlobs(["**/*.ts"]) },
      { ignore, order: "tree" as const },
      { ignore, maxDepth: 1 },
      { exclude: excludeGlobs(["**/b"]) },
    ];
    const first: string[][] = [];
    for (const start of [whole, part]) for (const scope of scopes()) first.push(await paths(start, scope));
    expect(first[2]).toEqual(["file a.ts", "file a/b/c.ts", "file z/k.ts"]);
    for (let round = 0; round < 2; round++) {
      const again: string[][] = [];
      for (const start of [whole, part])
        for (const scope of scopes()) again.push(await grouped(start, scope));
      expect(again).toEqual(first);
    }
    const batches = async () => {
      const met: object[] = [];
      await walkGroups(whole, { ignore }, ({ batch }) => met.push(batch) > 0);
      return met;
    };
    const before = await batches();
    expect(
      (await batches()).map((batch, i) => batch === before[i]),
      "nothing is read again, where times can be trusted",
    ).toEqual(before.map(() => whole.keepsTimes));
  });

  it("opens entries, and reports their sizes, as they are now", async () => {
    using tree = new Tree({ "a/b/c": "123", "a/d": "1" });
    await settled();
    using start = tree.directory();
    const sizes = async () => {
      const found: (number | undefined)[] = [];
      await walk(start).each(entry => {
        if (entry.kind === "file") found.push(entry.stat()?.size);
        return true;
      });
      return found;
    };
    expect(await sizes()).toEqual([3, 1]);
    tree.add({ "a/b/c": "12345" });
    expect(await sizes()).toEqual([5, 1]);
  });

  it("does not lead outside if a directory is replaced by a link just before the walk enters it", async () => {
    using outside = new Tree({ "b/secret": "123456" });
    using tree = new Tree({ "a/b/c": "1", "a/first": "" });
    await settled();
    using start = tree.directory();
    await paths(start);
    const sizes: unknown[] = [];
    await walk(start).each(entry => {
      if (entry.path === "a") {
        renameSync(join(tree.path, "a"), join(tree.path, "was"));
        symlinkSync(outside.path, join(tree.path, "a"));
      }
      if (entry.kind === "file") sizes.push(entry.stat()?.size);
      return true;
    });
    expect(sizes.filter(size => size !== undefined && size !== 0 && size !== 1)).toEqual([]);
    expect(await paths(start)).toEqual([
      "symlink a",
      "directory was",
      "directory was/b",
      "file was/b/c",
      "file was/first",
    ]);
  });
});

function settled(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, settledMs));
}

/** Whether we may mount: a file system in memory whose times are those of the clock's last tick. */
function mounts(): boolean {
  const base = mkdtempSync(join(tmpdir(), "known-"));
  try {
    execFileSync("mount", ["-t", "ramfs", "ramfs", base], { stdio: "ignore" });
    execFileSync("umount", [base], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
