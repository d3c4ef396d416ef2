// Listing and finding: trees that never flood, counted omissions, globs and parts of names.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({
    ".gitignore": "ignored/\n*.log\n",
    ".hidden": "",
    "b.txt": "bb",
    "a.txt": "a",
    "x.log": "",
    "src/main.ts": "m".repeat(3000),
    "src/lib/util.ts": "",
    "src/lib/Über.ts": "",
    "ignored/one.ts": "",
    "ignored/two.ts": "",
    ".git/config": "",
  });
  symlinkSync("a.txt", fixture.path("link"));
  execFileSync("mkfifo", [fixture.path("pipe")]);
  const times = { "a.txt": 3000, "b.txt": 1000, "src/main.ts": 2000 };
  for (const [path, time] of Object.entries(times)) utimesSync(fixture.path(path), time, time);
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("list_directory", () => {
  it("shows the first root's own entries by default, without what is ignored, and counts that", async () => {
    expect(await server.says("list_directory")).toBe(
      "./ · 1 directory, 6 files\n.gitignore\n.hidden\na.txt\nb.txt\nlink -> a.txt\npipe (fifo)\nsrc/\n[left out: 2 ignored]",
    );
  });

  it("goes down by levels, indented", async () => {
    const said = await server.says("list_directory", { path: "src", depth: 2 });
    expect(said).toBe("src/ · 1 directory, 3 files\nlib/\n  util.ts\n  Über.ts\nmain.ts");
  });

  it("shows ignored and leaves out hidden entries as asked; .git never", async () => {
    const all = await server.says("list_directory", { ignored: true });
    expect(all).toContain("\nignored/\n");
    expect(all).toContain("\nx.log");
    expect(all).not.toContain(".git/");
    const plain = await server.says("list_directory", { hidden: false });
    expect(plain).not.toContain(".hidden");
    expect(plain).toMatch(/\[left out: \d+ ignored or hidden\]$/);
  });

  it("sorts by name, size and time, the largest and newest first", async () => {
    const order = async (sort: string) =>
      (await server.says("list_directory", { sort, hidden: false }))
        .split("\n")
        .filter(line => /^[ab]\.txt/.test(line));
    expect(await order("name")).toEqual(["a.txt", "b.txt"]);
    expect(await order("size")).toEqual(["b.txt", "a.txt"]);
    expect(await order("modified")).toEqual(["a.txt", "b.txt"]);
  });

  it("reports size, time and mode with details", async () => {
    const said = await server.says("list_directory", { details: true });
    expect(said).toMatch(/\na\.txt {2}1 B {2}1970-01-01 00:50 {2}rw-/);
    expect(said).toMatch(/\nsrc\/ {2}- {2}/);
  });

  it("collapses directories that do not fit, and counts what is in them", async () => {
    mkdirSync(fixture.path("wide/inner"), { recursive: true });
    for (let i = 0; i < 30; i++) writeFileSync(fixture.path(`wide/inner/f${i}`), "");
    const said = await server.says("list_directory", { path: "wide", depth: 3, limit: 10 });
    expect(said).toBe(
      "wide/ · 1 directory, 30 files\ninner/ (30 entries)\n[1 directory collapsed; list them one by one, or raise limit]",
    );
    const cut = await server.says("list_directory", { path: "wide/inner", limit: 10 });
    expect(cut.split("\n")).toHaveLength(12);
    expect(cut).toMatch(/\[20 more entries here; raise limit, or use find_files\]$/);
  });

  it("answers in bounded size at any depth of a tree of many files, most of them ignored", async () => {
    await using large = new Fixture({ ".gitignore": "junk/\n" });
    // 9,000 ignored and 1,000 others; the same shape as a repository of 100,000.
    for (let d = 0; d < 90; d++) {
      mkdirSync(large.path(`junk/d${d}`), { recursive: true });
      for (let i = 0; i < 100; i++) writeFileSync(large.path(`junk/d${d}/f${i}`), "");
    }
    for (let d = 0; d < 20; d++) {
      mkdirSync(large.path(`src/d${d}/deep`), { recursive: true });
      for (let i = 0; i < 50; i++) writeFileSync(large.path(`src/d${d}/deep/file-${i}.ts`), "");
    }
    const other = await large.serve();
    for (const depth of [1, 2, 3, 4, 50]) {
      const said = await other.says("list_directory", { depth });
      expect(Buffer.byteLength(said)).toBeLessThan(64_000);
      expect(said.split("\n").length).toBeLessThan(520);
      expect(said).toContain("[left out: 1 ignored]");
      if (depth >= 4) {
        expect(said).toMatch(/^\.\/ · 41 directories, 1,001 files\n/);
        expect(said).toMatch(/deep\/ \(50 entries\)/);
        expect(said).toMatch(/\[\d+ directories collapsed; /);
      }
    }
    const everything = await other.says("list_directory", { depth: 9, ignored: true, limit: 100_000 });
    expect(Buffer.byteLength(everything)).toBeLessThan(64_000);
    expect(everything).toMatch(/^\.\/ · 132 directories, 10,001 files\n/);
  });
});

describe("find_files", () => {
  it("finds by a glob without a slash at any depth", async () => {
    expect(await server.says("find_files", { pattern: "*.ts", sort: "path" })).toBe(
      "src/lib/util.ts\nsrc/lib/Über.ts\nsrc/main.ts\n[3 found]",
    );
  });

  it("finds by a glob with a slash from the path on", async () => {
    expect(await server.says("find_files", { pattern: "src/*.ts" })).toBe("src/main.ts\n[1 found]");
    expect(await server.says("find_files", { pattern: "lib/*.ts", path: "src", sort: "path" })).toMatch(
      /^src\/lib\/util\.ts\n/,
    );
    expect(await server.says("find_files", { pattern: `${fixture.root}/src/*.ts` })).toMatch(
      /^src\/main\.ts\n/,
    );
  });

  it("finds by a part of the name, whatever its case and Unicode form; with a slash, by a part of the path", async () => {
    expect(await server.says("find_files", { pattern: "UTIL" })).toMatch(/^src\/lib\/util\.ts\n/);
    expect(await server.says("find_files", { pattern: "über".normalize("NFD") })).toMatch(
      /^src\/lib\/Über\.ts\n/,
    );
    expect(await server.says("find_files", { pattern: "lib/u" })).toMatch(/^src\/lib\/util\.ts\n/);
  });

  it("finds directories by a final slash", async () => {
    expect(await server.says("find_files", { pattern: "lib/" })).toBe("src/lib/\n[1 found]");
  });

  it("sorts by time unless told otherwise, and by size", async () => {
    const first = async (sort?: string) =>
      (await server.says("find_files", { pattern: "*.t*", ...(sort && { sort }) })).split("\n");
    const byTime = await first();
    expect(byTime.indexOf("a.txt")).toBeLessThan(byTime.indexOf("src/main.ts"));
    expect(byTime.indexOf("src/main.ts")).toBeLessThan(byTime.indexOf("b.txt"));
    expect((await first("size"))[0]).toBe("src/main.ts");
  });

  it("gives pages", async () => {
    const page = await server.says("find_files", { pattern: "*.ts", sort: "path", limit: 2 });
    expect(page).toBe("src/lib/util.ts\nsrc/lib/Über.ts\n[1-2 of 3; go on with offset=2]");
    expect(await server.says("find_files", { pattern: "*.ts", sort: "path", offset: 2 })).toBe(
      "src/main.ts\n[3 found]",
    );
    expect(await server.says("find_files", { pattern: "*.ts", offset: 9 })).toBe(
      "[nothing at offset 9; 3 found]",
    );
  });

  it("leaves ignored files out unless asked, hidden ones only if asked", async () => {
    expect(await server.says("find_files", { pattern: "one" })).toMatch(
      /^\[nothing found; \d+ ignored or hidden left out\]$/,
    );
    expect(await server.says("find_files", { pattern: "one", ignored: true })).toMatch(/^ignored\/one\.ts\n/);
    expect(await server.says("find_files", { pattern: "hidden" })).toMatch(/^\.hidden\n/);
    expect(await server.says("find_files", { pattern: "hidden", hidden: false })).toMatch(/^\[nothing found/);
    expect(await server.says("find_files", { pattern: "config", ignored: true })).toMatch(/^\[nothing found/);
  });

  it("says that a glob with a slash starts at path, where it finds nothing; search_text too", async () => {
    const hint = "[a glob with a slash starts at path; **/lib/*.ts matches at any depth]";
    const found = await server.says("find_files", { pattern: "lib/*.ts" });
    expect(found.split("\n").at(-1)).toBe(hint);
    expect(await server.says("search_text", { pattern: "m", glob: "lib/*.ts" })).toBe(
      `[no matches]\n${hint}`,
    );
    expect(await server.says("find_files", { pattern: "**/lib/*.ts" })).toContain("src/lib/util.ts");
    for (const pattern of ["**/none/*.ts", "*.none", "none/", "src/none"])
      expect(await server.says("find_files", { pattern })).toMatch(/^\[nothing found[^\n]*\]$/);
  });

  it("refuses globs that lead outside, and broken ones", async () => {
    for (const pattern of ["../*", "src/../../*", "{a,..}/*", "~/*", "[a", "@(a|b)"])
      expect((await server.refuses("find_files", { pattern }))[0], pattern).toMatch(/^invalid_input: /);
  });
});

describe("list_roots", () => {
  it("reports which roots are writable and which are read-only", async () => {
    await using other = new Fixture({ "ro.txt": "" });
    const both = await fixture.serve({ roots: [], args: [fixture.root, "--allow-read", other.root] });
    expect(await both.says("list_roots")).toBe(`${fixture.root} (read-write)\n${other.root} (read-only)`);
    expect(await both.says("read_file", { path: `${other.root}/ro.txt` })).toMatch(
      new RegExp(`^${other.root}/ro\\.txt · `),
    );
  });
});
