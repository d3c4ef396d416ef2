import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { excludeGlobs, includeGlobs } from "../../src/engine/search/globs.ts";
import { Listing } from "../../src/engine/search/listing.ts";
import { comparison, FirstItems, type Sortable } from "../../src/engine/search/sort.ts";
import { type WalkOptions, walk } from "../../src/engine/search/walk.ts";
import { WorkSlice } from "../../src/engine/search/work-slice.ts";
import { pack, unpack } from "../../src/engine/workspace/packed-names.ts";
import { hasProc } from "../setup/proc.ts";
import { all, byteSorted, Tree } from "./tree.ts";

async function paths(tree: Tree, options: WalkOptions = {}): Promise<string[]> {
  using directory = tree.directory();
  return (await all(walk(directory, options))).map(entry => entry.path);
}

describe("a walk", () => {
  it("goes in the order of the printed paths as bytes", async () => {
    const names = [
      "a/b",
      "a.txt",
      "a-b/c",
      "a b",
      "a/b.c/d",
      "A",
      "ä",
      "z/\uff5e/x",
      "z/😀/x",
      "z/\ue000",
      "a0",
      "b/",
    ];
    using tree = new Tree(Object.fromEntries(names.map(name => [name, ""])));
    const found = await paths(tree);
    const told = execFileSync("find", [".", "-mindepth", "1", "-printf", "%P\\0"], {
      cwd: tree.path,
      encoding: "utf8",
    });
    expect(found).toEqual(byteSorted(told.split("\0").filter(Boolean)));
    expect(found.length).toBe(18);
  });

  it("lists links and never follows them", async () => {
    using tree = new Tree({ "dir/file": "" });
    symlinkSync("dir", join(tree.path, "link"));
    symlinkSync("/etc", join(tree.path, "out"));
    using directory = tree.directory();
    const found: string[] = [];
    for await (const entry of walk(directory))
      found.push(`${entry.kind} ${entry.path} ${entry.target() ?? ""}`);
    expect(found).toEqual(["directory dir ", "file dir/file ", "symlink link dir", "symlink out /etc"]);
  });

  it("answers questions about an entry while it is the current one", async () => {
    using tree = new Tree({ "a/b.txt": "12345", c: "1" });
    using directory = tree.directory();
    const sizes: Record<string, number | undefined> = {};
    for await (const entry of walk(directory)) {
      if (entry.kind === "file") sizes[entry.path] = entry.stat()?.size;
    }
    expect(sizes).toEqual({ "a/b.txt": 5, c: 1 });
  });

  it.runIf(hasProc)("keeps names that are not UTF-8", async () => {
    using tree = new Tree();
    const raw = Buffer.from([0x64, 0xff]);
    const path = Buffer.concat([Buffer.from(`${tree.path}/`), raw]);
    mkdirSync(path);
    writeFileSync(Buffer.concat([path, Buffer.from("/inner")]), "123");
    using directory = tree.directory();
    const sizes: unknown[] = [];
    for await (const entry of walk(directory))
      sizes.push([entry.path, entry.raw, entry.kind === "file" && entry.stat()?.size]);
    expect(sizes).toEqual([
      ["d\\xff", raw, false],
      ["d\\xff/inner", undefined, 3],
    ]);
  });

  it("leaves out what is excluded, without entering it", async () => {
    using tree = new Tree({ "keep/a.ts": "", "skip/b.ts": "", "keep/skip/c.ts": "", "keep/d.md": "" });
    const exclude = excludeGlobs(["**/skip/**"]);
    expect(await paths(tree, { exclude })).toEqual(["keep", "keep/a.ts", "keep/d.md"]);
    const include = includeGlobs(["keep/**/*.ts"]);
    expect(await paths(tree, { include })).toEqual(["keep/a.ts", "keep/skip/c.ts"]);
    expect(await paths(tree, { include, exclude })).toEqual(["keep/a.ts"]);
    expect(await paths(tree, { maxDepth: 0 })).toEqual(["keep", "skip"]);
    expect(await paths(tree, { maxDepth: 1 })).not.toContain("keep/skip/c.ts");
  });

  it("says why it ended early", async () => {
    using tree = new Tree(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`d${i % 5}/f${i}`, ""])));
    using directory = tree.directory();
    const few = walk(directory, { maxEntries: 7 });
    expect((await all(few)).length).toBe(7);
    expect(few.report.stopped).toBe("entries");
    const some = walk(directory, { maxFiles: 12, include: includeGlobs(["**/nothing"]) });
    expect(await all(some)).toEqual([]);
    expect(some.report).toMatchObject({ stopped: "files", files: 12 });
    const whole = walk(directory, { maxEntries: 55, maxFiles: 50 });
    expect((await all(whole)).length).toBe(55);
    expect(whole.report).toMatchObject({ stopped: undefined, files: 50, inaccessible: 0 });
  });

  it("counts directories that it may not read", async () => {
    using tree = new Tree({ "closed/x": "", open: "" });
    chmodSync(join(tree.path, "closed"), 0);
    using directory = tree.directory();
    const found = walk(directory);
    const entries = (await all(found)).map(entry => entry.path);
    chmodSync(join(tree.path, "closed"), 0o755);
    if (process.getuid?.() === 0) expect(entries).toEqual(["closed", "closed/x", "open"]);
    else {
      expect(entries).toEqual(["closed", "open"]);
      expect(found.report.inaccessible).toBe(1);
    }
  });

  it("counts a directory that is removed before it is entered", async () => {
    using tree = new Tree({ "a/x": "", "b/y": "" });
    using directory = tree.directory();
    const found = walk(directory);
    const entries: string[] = [];
    for await (const entry of found) {
      if (entry.path === "a") rmSync(join(tree.path, "b"), { recursive: true });
      entries.push(entry.path);
    }
    expect(entries).toEqual(["a", "a/x", "b"]);
    expect(found.report.inaccessible).toBe(1);
  });

  it.runIf(hasProc)(
    "completes in a tree that is deeper than the longest path, with few handles",
    async () => {
      using tree = new Tree();
      const levels = 1500;
      const script = `const n="directory"; for (let i=0;i<${levels};i++){fs.mkdirSync(n);fs.writeFileSync("z","");process.chdir(n)}`;
      execFileSync(process.execPath, ["-e", script], { cwd: tree.path });
      using directory = tree.directory();
      const before = handles();
      let most = 0;
      let entries = 0;
      let deepest = 0;
      for await (const entry of walk(directory)) {
        entries++;
        deepest = Math.max(deepest, entry.depth);
        if (entry.kind === "file") expect(entry.stat()?.size).toBe(0);
        if (entries % 50 === 0) most = Math.max(most, handles() - before);
      }
      expect(entries).toBe(2 * levels);
      expect(deepest).toBe(levels - 1);
      expect(most).toBeLessThan(150);
      expect(handles()).toBe(before);
      execFileSync("rm", ["-rf", join(tree.path, "directory")]);
    },
  );

  it.runIf(hasProc)(
    "stops when it is cancelled, lets other work run, and closes what it opened",
    async () => {
      using tree = new Tree(
        Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`d${i % 300}/f${i}`, ""])),
      );
      using directory = tree.directory();
      const before = handles();
      const abort = new AbortController();
      setImmediate(() => abort.abort());
      const forever = (async () => {
        for (;;) await all(walk(directory, { signal: abort.signal }));
      })();
      const ended = await forever.catch(error => error);
      expect(Fault.is(ended, "cancelled")).toBe(true);
      expect(handles()).toBe(before);
      for await (const entry of walk(directory)) if (entry.depth === 1) break;
      expect(handles()).toBe(before);
    },
  );
});

describe("many at once", () => {
  it("yield in turn: other work on the event loop runs after one of them", async () => {
    let resumed = 0;
    const paces = Array.from({ length: 20 }, () => new WorkSlice({}).rest().then(() => resumed++));
    const between: number[] = [];
    while (resumed < paces.length) {
      const before = resumed;
      await new Promise(resolve => setImmediate(resolve));
      between.push(resumed - before);
    }
    await Promise.all(paces);
    expect(Math.max(...between)).toBe(1);
  });
});

describe("a listing", () => {
  it("has the names in the order of their bytes, whatever order the system gives them in", () => {
    const names = ["a", "z\uff5e", "z😀", "z\ue000", "ä"];
    for (const given of [names, names.toSorted(), names.toReversed(), byteSorted(names)]) {
      const packed = pack(given.map(name => ({ name, kind: "file" })));
      const isSorted = given.every((name, i) => i === 0 || (given[i - 1] as string) < name);
      const listing = new Listing({ names: packed, count: given.length, isSorted });
      expect(unpack(listing.names).map(({ name }) => name)).toEqual(byteSorted(names));
    }
  });
});

describe("orders", () => {
  it("are total, and the first of many are the first of all", () => {
    const entry = (path: string, size: number, kind: Sortable["kind"] = "file"): Sortable => ({
      path,
      name: path.slice(path.lastIndexOf("/") + 1),
      kind,
      size,
      modified: new Date(size),
    });
    const entries = [
      entry("b/a", 1),
      entry("a", 1),
      entry("c", 3),
      entry("b", 9, "directory"),
      entry("a/z", 1),
    ];
    const order = (key: Parameters<typeof comparison>[0]) =>
      entries.toSorted(comparison(key)).map(one => one.path);
    expect(order("path")).toEqual(["a", "a/z", "b", "b/a", "c"]);
    expect(order("name")).toEqual(["a", "b/a", "b", "c", "a/z"]);
    expect(order("size"), "a directory's size is none").toEqual(["c", "a", "a/z", "b/a", "b"]);
    expect(order("modified")).toEqual(["b", "c", "a", "a/z", "b/a"]);
    expect(order("type")).toEqual(["b", "a", "b/a", "c", "a/z"]);
    const first = new FirstItems<number>(10, (a, b) => a - b);
    for (let i = 5000; i > 0; i--) first.add((i * 7919) % 5003);
    expect(first.count).toBe(5000);
    expect(first.sorted()).toEqual(
      Array.from({ length: 5000 }, (_, i) => ((i + 1) * 7919) % 5003)
        .toSorted((a, b) => a - b)
        .slice(0, 10),
    );
  });
});

function handles(): number {
  return readdirSync("/proc/self/fd").length;
}
