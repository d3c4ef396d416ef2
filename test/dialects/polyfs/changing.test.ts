// Writing, replacing in many files, patching, moving, copying, deleting: all or none, and small answers.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeIn, Fixture, type Server, versionIn } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture();
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": "one\ntwo\n" }));

describe("write_file", () => {
  it("that appends to a file without a final newline says that it continues the last line", async () => {
    fixture.write("open.txt", "one");
    const append = (content: string) =>
      server.says("write_file", { path: "open.txt", content, mode: "append" });
    const note = "[the file had no final newline: the content continues its last line]";
    expect(await append(" and two\n")).toContain(note);
    expect(await append("three\n")).not.toContain(note);
    expect(fixture.read("open.txt")).toBe("one and two\nthree\n");
  });

  it("creates, with parents, and reports lines, size and version", async () => {
    const said = await server.says("write_file", { path: "x/y/z.txt", content: "a\nb\n" });
    expect(said).toMatch(/^created x\/y\/z\.txt · 2 lines · 4 B · v:\w{12}\nchange \w+ \(undo reverts it\)$/);
    expect(fixture.read("x/y/z.txt")).toBe("a\nb\n");
    expect(await server.version("x/y/z.txt")).toBe(versionIn(said));
  });

  it("overwrites, appends, and creates only if the path does not exist", async () => {
    expect(await server.says("write_file", { path: "a.txt", content: "new\n" })).toMatch(
      /^overwrote a\.txt · 1 line/,
    );
    expect(await server.says("write_file", { path: "a.txt", content: "more\n", mode: "append" })).toMatch(
      /^appended to a\.txt · 2 lines/,
    );
    expect(fixture.read("a.txt")).toBe("new\nmore\n");
    expect((await server.refuses("write_file", { path: "a.txt", content: "x", mode: "create" }))[0]).toBe(
      "exists: a.txt already exists",
    );
    expect(await server.says("write_file", { path: "b.txt", content: "x", mode: "create" })).toMatch(
      /^created /,
    );
    expect(await server.says("write_file", { path: "c.txt", content: "x", mode: "append" })).toMatch(
      /^created /,
    );
    expect(fixture.read("a.txt")).toBe("new\nmore\n");
  });

  it("says if whole contents bring other line endings", async () => {
    const note = "[the line endings were CRLF, and are LF now]";
    fixture.write("a.txt", "one\r\ntwo\r\n");
    const version = versionIn(await server.says("read_file", { path: "a.txt" }));
    const content = "one\nTWO\n";
    expect(await server.says("write_file", { path: "a.txt", content, if_version: version })).toContain(note);
    fixture.write("a.txt", "one\r\ntwo\r\n");
    expect(await server.says("write_file", { path: "a.txt", content })).toContain(note);
    expect(fixture.read("a.txt")).toBe(content);
    for (const other of ["x", "x\ny\n"])
      expect(await server.says("write_file", { path: "a.txt", content: other })).not.toContain("endings");
  });

  it("appends with the line endings of the file", async () => {
    fixture.write("a.txt", "one\r\ntwo\r\n");
    await server.says("write_file", { path: "a.txt", content: "three\nfour\n", mode: "append" });
    expect(fixture.read("a.txt")).toBe("one\r\ntwo\r\nthree\r\nfour\r\n");
    await server.says("write_file", { path: "a.txt", content: "five\r\n", mode: "append" });
    expect(fixture.read("a.txt")).toBe("one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
    fixture.write("b.txt", "one\n");
    await server.says("write_file", { path: "b.txt", content: "two\r\n", mode: "append" });
    expect(fixture.read("b.txt")).toBe("one\ntwo\n");
    fixture.write("c.txt", "");
    await server.says("write_file", { path: "c.txt", content: "one\r\n", mode: "append" });
    expect(fixture.read("c.txt")).toBe("one\r\n");
  });

  it("writes the content as it is, in the encoding that is named or that the file has", async () => {
    await server.says("write_file", { path: "new.txt", content: "é\r\n", encoding: "latin1" });
    expect(fixture.bytes("new.txt")).toEqual(Buffer.from([0xe9, 13, 10]));
    fixture.write("wide.txt", Buffer.from("\ufeffold\n", "utf16le"));
    expect(await server.says("write_file", { path: "wide.txt", content: "neu\n" })).toContain("utf-16le");
    expect(fixture.bytes("wide.txt")).toEqual(Buffer.from("\ufeffneu\n", "utf16le"));
    const lines = await server.refuses("write_file", { path: "new.txt", content: "☃", encoding: "latin1" });
    expect(lines[0]).toMatch(/^unencodable: "☃" \(line 1\) cannot be written in iso-8859-1/);
    expect((await server.refuses("write_file", { path: "q", content: "", encoding: "klingon" }))[0]).toMatch(
      /^invalid_input: 'encoding'/,
    );
  });

  it("writes through links, keeps the mode, and refuses directories", async () => {
    symlinkSync("a.txt", fixture.path("link"));
    chmodSync(fixture.path("a.txt"), 0o700);
    await server.says("write_file", { path: "link", content: "by link" });
    expect(readlinkSync(fixture.path("link"))).toBe("a.txt");
    expect(fixture.read("a.txt")).toBe("by link");
    expect(statSync(fixture.path("a.txt")).mode & 0o777).toBe(0o700);
    expect((await server.refuses("write_file", { path: ".", content: "" }))[0]).toMatch(/^not_a_file: /);
  });
});

describe("replace_in_files", () => {
  beforeEach(() =>
    fixture.reset({
      ".gitignore": "out/\n",
      "src/a.ts": "foo foo\n",
      "src/b.ts": "Foo\r\n",
      "src/c.md": "foo\n",
      "out/d.ts": "foo\n",
      "e.bin": Buffer.from("foo\0"),
    }),
  );

  it("takes a file whose name looks like a glob", async () => {
    fixture.write("odd [x] {y}*.txt", "one\n");
    fixture.write("odd x y.txt", "one\n");
    await server.says("replace_in_files", { paths: ["odd [x] {y}*.txt"], old: "one", new: "two" });
    expect([fixture.read("odd [x] {y}*.txt"), fixture.read("odd x y.txt")]).toEqual(["two\n", "one\n"]);
  });

  it("says that a file is too large, instead of that the text is not in it", async () => {
    fixture.reset({ "big/line.txt": "needle", "big/small.txt": "hay\n" });
    truncateSync(fixture.path("big/line.txt"), 100 * 1024 * 1024);
    const replace = { paths: ["big"], old: "needle", new: "pin" };
    expect((await server.refuses("replace_in_files", replace))[0]).toMatch(/^too_large: big\/line\.txt /);
    fixture.write("big/small.txt", "a needle\n");
    expect(await server.says("replace_in_files", replace)).toContain("[1 file left out: too large]");
    expect(fixture.read("big/small.txt")).toBe("a pin\n");
  });

  it("replaces every occurrence in all matching files, and reports each with its version", async () => {
    const said = await server.says("replace_in_files", {
      paths: ["*.ts", "src/*.md"],
      old: "foo",
      new: "bar",
    });
    expect(said).toMatch(
      /^replaced 3 occurrences in 2 files\nsrc\/a\.ts: 2 · v:\w{12}\n {2}1- foo foo\n {2}1\+ bar bar\nsrc\/c\.md: 1 · v:\w{12}\n {2}1- foo\n {2}1\+ bar\nchange \w+ \(undo reverts it\)$/,
    );
    expect([fixture.read("src/a.ts"), fixture.read("src/c.md"), fixture.read("out/d.ts")]).toEqual([
      "bar bar\n",
      "bar\n",
      "foo\n",
    ]);
    await server.says("undo");
    expect(fixture.read("src/a.ts")).toBe("foo foo\n");
  });

  it("takes directories and files, can ignore case, and accepts regular expressions", async () => {
    await server.says("replace_in_files", { paths: ["src"], old: "FOO", new: "x", ignore_case: true });
    expect(fixture.read("src/b.ts")).toBe("x\r\n");
    await server.says("replace_in_files", {
      paths: ["src/a.ts"],
      old: "(x) x",
      new: "$1-$1",
      match: "regex",
    });
    expect(fixture.read("src/a.ts")).toBe("x-x\n");
  });

  it("only reports in a dry run", async () => {
    const said = await server.says("replace_in_files", {
      paths: ["**/*"],
      old: "foo",
      new: "bar",
      dry_run: true,
    });
    expect(said).toMatch(
      /^would replace 3 occurrences in 2 files\n[\s\S]*\n\[dry run: nothing was written\]$/,
    );
    expect(fixture.read("src/a.ts")).toBe("foo foo\n");
  });

  it.each([
    ["a line", "foo\n\n"],
    ["all lines", "foo\n"],
  ])("shows no line as removed without its replacement, however many there are: %s", async (_, line) => {
    for (let i = 0; i < 40; i++) fixture.write(`many/${i}.txt`, line.repeat(i < 20 ? 37 : 250));
    const said = await server.says("replace_in_files", {
      paths: ["many"],
      old: "foo",
      new: "a longer word, for the lines to differ in length",
      dry_run: true,
    });
    expect(said).toContain("[not all changed lines are shown]");
    const numbers = (sign: string) =>
      said.split("\n").flatMap(one => new RegExp(`^ {2}(\\d+)[${sign}] `).exec(one)?.[1] ?? []);
    expect(numbers("-").length).toBeGreaterThan(50);
    expect(numbers("+")).toEqual(numbers("-"));
  });

  it("changes nothing if more files than allowed would change", async () => {
    const lines = await server.refuses("replace_in_files", {
      paths: ["src"],
      old: "foo",
      new: "bar",
      max_files: 1,
    });
    expect(lines[0]).toBe("too_large: it is in 2 files, more than max_files (1); nothing was changed");
    expect(fixture.read("src/a.ts")).toBe("foo foo\n");
  });

  it("refuses patterns without a match, and globs that lead outside", async () => {
    const first = async (params: Record<string, unknown>) =>
      (await server.refuses("replace_in_files", { paths: ["src"], old: "a", new: "b", ...params }))[0];
    expect(await first({ old: "nowhere" })).toBe("no_match: old is not in src");
    expect(await first({ paths: ["*.zig"] })).toBe("not_found: no file matches *.zig");
    expect(await first({ paths: ["nope.txt"] })).toMatch(/^not_found: /);
    expect(await first({ paths: ["../*"] })).toMatch(/^outside_roots: /);
    expect(await first({ paths: ["/etc/*"] })).toMatch(/^outside_roots: /);
    expect(await first({ paths: ["src/../../*"] })).toMatch(/^outside_roots: /);
    expect(await first({ old: "same", new: "same" })).toMatch(/^invalid_input: /);
    expect(await first({ paths: [] })).toMatch(/^invalid_input: /);
  });
});

describe("apply_patch", () => {
  beforeEach(() => fixture.reset({ "a.txt": "one\ntwo\nthree\n", "b.txt": "bee\n", "c.txt": "sea\n" }));

  const unified = [
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
    "--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1 @@\n+fresh\n",
    "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bee\n",
    "diff --git a/c.txt b/d.txt\nrename from c.txt\nrename to d.txt\n",
  ].join("");
  const envelope = [
    "*** Begin Patch",
    "*** Update File: a.txt",
    "@@",
    " one",
    "-two",
    "+TWO",
    "*** Add File: new/n.txt",
    "+fresh",
    "*** Delete File: b.txt",
    "*** Update File: c.txt",
    "*** Move to: d.txt",
    "*** End Patch",
  ].join("\n");

  it.each([
    ["a unified diff", unified, "+1 -1", "+0 -0"],
    ["an envelope", envelope, "+1 -1", "+0 -0"],
  ])("applies %s to several files", async (_, patch, modified) => {
    const said = await server.says("apply_patch", { patch });
    expect(said.split("\n")).toEqual([
      expect.stringMatching(new RegExp(`^M a\\.txt ${modified.replace("+", "\\+")} · v:\\w{12}$`)),
      expect.stringMatching(/^A new\/n\.txt \+1 -0 · v:\w{12}$/),
      "D b.txt",
      expect.stringMatching(/^R c\.txt -> d\.txt \+0 -0/),
      expect.stringMatching(/^change \w+ \(undo reverts it\)$/),
    ]);
    expect(fixture.read("a.txt")).toBe("one\nTWO\nthree\n");
    expect(fixture.read("new/n.txt")).toBe("fresh\n");
    expect([fixture.has("b.txt"), fixture.has("c.txt"), fixture.read("d.txt")]).toEqual([
      false,
      false,
      "sea\n",
    ]);
    expect(await server.version("a.txt")).toBe(versionIn(said));
    await server.says("undo", { change: changeIn(said) });
    expect([fixture.read("a.txt"), fixture.read("b.txt"), fixture.read("c.txt")]).toEqual([
      "one\ntwo\nthree\n",
      "bee\n",
      "sea\n",
    ]);
    expect([fixture.has("new"), fixture.has("d.txt")]).toEqual([false, false]);
  });

  it("only reports in a dry run", async () => {
    expect(await server.says("apply_patch", { patch: unified, dry_run: true })).toMatch(
      /\n\[dry run: nothing was written\]$/,
    );
    expect([fixture.read("a.txt"), fixture.has("new"), fixture.has("b.txt")]).toEqual([
      "one\ntwo\nthree\n",
      false,
      true,
    ]);
  });

  it("names a hunk that went to another line, or that matches only without trailing whitespace", async () => {
    fixture.write("a.txt", "new\nnew\none\ntwo\nthree\n");
    const unified = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    const dry = await server.says("apply_patch", { patch: unified.replaceAll("1,3", "2,3"), dry_run: true });
    expect(dry.split("\n")[1]).toBe("  [hunk 1: applied at line 3, not 2: lines have moved]");
    expect(await server.says("apply_patch", { patch: unified.replaceAll("1,3", "3,3") })).not.toContain(
      "[hunk",
    );
    fixture.write("a.txt", "one  \ntwo\nthree\n");
    const envelope = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+TWO\n three\n*** End Patch\n";
    const said = await server.says("apply_patch", { patch: envelope });
    expect(said.split("\n")[1]).toBe("  [hunk 1: no exact match; matched ignoring trailing whitespace]");
    expect(fixture.read("a.txt")).toBe("one  \nTWO\nthree\n");
  });

  it("refuses a hunk that does not apply, shows the current lines, and changes nothing", async () => {
    const patch = unified.replace("-two", "-TOO");
    expect(await server.refuses("apply_patch", { patch })).toEqual([
      "conflict: hunk 1 does not apply to a.txt; nothing was changed",
      "Make the hunk from the current lines:",
      "1: one",
      "2: two",
      "3: three",
    ]);
    expect([fixture.has("new"), fixture.has("b.txt"), fixture.has("c.txt")]).toEqual([false, true, true]);
  });

  it("shows the lines where most of the lines of a hunk are, if it names no line", async () => {
    const lines = Array.from({ length: 400 }, (_, i) => `  line ${i + 1}`);
    lines[324] = "  function render(view) {";
    lines[325] = "    return view.engine(view.path, options);";
    fixture.write("long.txt", `${lines.join("\n")}\n`);
    const hunk =
      "   function render(view) {\n-    return view.engine(view.path, settings, done);\n+    return done();\n";
    const patch = `*** Begin Patch\n*** Update File: long.txt\n@@\n${hunk}*** End Patch\n`;
    expect((await server.refuses("apply_patch", { patch })).slice(2)).toEqual([
      "325:   function render(view) {",
      "326:     return view.engine(view.path, options);",
    ]);
  });

  it("says what to do about a hunk whose header counts other lines", async () => {
    for (const counts of ["-1,2 +1,2", "-1,3 +1,4", "-1,9 +1,9"]) {
      const patch = `--- a/a.txt\n+++ b/a.txt\n@@ ${counts} @@\n one\n-two\n+2\n three\n`;
      const [what, todo] = await server.refuses("apply_patch", { patch });
      expect(what, counts).toMatch(/^invalid_input: line \d+ of the patch: /);
      expect(todo, counts).toMatch(/^Correct the counts in the @@ line .*\*\*\* Begin Patch/);
    }
  });

  it("says that a hunk is already applied, where the new lines are there", async () => {
    const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    await server.says("apply_patch", { patch });
    expect((await server.refuses("apply_patch", { patch })).slice(0, 2)).toEqual([
      "conflict: hunk 1 is already applied to a.txt: its new lines are there; nothing was changed",
      "Leave the hunk out. The current lines:",
    ]);
    expect(fixture.read("a.txt")).toBe("one\nTWO\nthree\n");
  });

  it.each([
    ["no patch", "hello", /^invalid_input: line 1 of the patch/],
    [
      "a file twice",
      "*** Begin Patch\n*** Delete File: b.txt\n*** Delete File: b.txt\n*** End Patch",
      /^invalid_input: b\.txt is named twice/,
    ],
    ["a missing file", "*** Begin Patch\n*** Delete File: nope\n*** End Patch", /^not_found: nope/],
    [
      "a new file that is there",
      "*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch",
      /^exists: b\.txt/,
    ],
    [
      "a file outside, deleted",
      "*** Begin Patch\n*** Delete File: ../../etc/hosts\n*** End Patch",
      /^outside_roots: /,
    ],
    ["a file outside, made", "--- /dev/null\n+++ b/../out.txt\n@@ -0,0 +1 @@\n+x\n", /^outside_roots: /],
    [
      "a file moved out",
      "*** Begin Patch\n*** Update File: b.txt\n*** Move to: ../out.txt\n*** End Patch",
      /^outside_roots: /,
    ],
    [
      "an absolute path outside",
      "*** Begin Patch\n*** Add File: /tmp/polyfs-out.txt\n+x\n*** End Patch",
      /^outside_roots: /,
    ],
  ])("refuses %s", async (_, patch, first) => {
    expect((await server.refuses("apply_patch", { patch }))[0]).toMatch(first);
    expect(fixture.read("b.txt")).toBe("bee\n");
    expect(existsSync(fixture.path("../out.txt"))).toBe(false);
    expect(existsSync("/tmp/polyfs-out.txt")).toBe(false);
  });
});

describe("move_path and copy_path", () => {
  beforeEach(() => fixture.reset({ "a.txt": "a\n", "b.txt": "b\n", "dir/sub/f.txt": "f\n" }));

  it("move and copy files and directories, making parents", async () => {
    expect(await server.says("move_path", { from: "a.txt", to: "x/y.txt" })).toMatch(
      /^moved a\.txt -> x\/y\.txt\nchange \w+/,
    );
    expect(await server.says("copy_path", { from: "dir", to: "dir2" })).toMatch(
      /^copied dir -> dir2\nchange \w+/,
    );
    expect([
      fixture.read("x/y.txt"),
      fixture.has("a.txt"),
      fixture.read("dir2/sub/f.txt"),
      fixture.has("dir"),
    ]).toEqual(["a\n", false, "f\n", true]);
  });

  it("replace only where asked", async () => {
    for (const tool of ["move_path", "copy_path"])
      expect((await server.refuses(tool, { from: "a.txt", to: "b.txt" }))[0]).toBe(
        "exists: b.txt already exists",
      );
    for (const tool of ["move_path", "copy_path"])
      expect((await server.refuses(tool, { from: "a.txt", to: "b.txt" }))[1]).toBe(
        "Use another path, or set overwrite: true.",
      );
    await server.says("copy_path", { from: "a.txt", to: "b.txt", overwrite: true });
    expect(fixture.read("b.txt")).toBe("a\n");
    await server.says("move_path", { from: "b.txt", to: "a.txt", overwrite: true });
    expect([fixture.read("a.txt"), fixture.has("b.txt")]).toEqual(["a\n", false]);
  });

  it("never replace a directory, and say what to do instead", async () => {
    for (const tool of ["move_path", "copy_path"])
      for (const overwrite of [false, true])
        expect((await server.refuses(tool, { from: "a.txt", to: "dir", overwrite }))[1]).toBe(
          "Directories are not replaced. Name a path inside it (dir/NAME), or delete it first with delete_path.",
        );
  });

  it("refuse missing paths, a destination inside its source, and roots", async () => {
    for (const tool of ["move_path", "copy_path"]) {
      expect((await server.refuses(tool, { from: "nope", to: "x" }))[0]).toMatch(/^not_found: nope/);
      expect((await server.refuses(tool, { from: "dir", to: "dir/sub/in" }))[0]).toMatch(/^invalid_input: /);
      expect((await server.refuses(tool, { from: "a.txt", to: "../x" }))[0]).toMatch(/^outside_roots: /);
    }
    expect((await server.refuses("move_path", { from: ".", to: "x" }))[0]).toMatch(
      /^(denied|invalid_input): /,
    );
  });

  it("move only the version that was read, where one is named", async () => {
    const version = await server.version("a.txt");
    fixture.write("a.txt", "changed\n");
    const lines = await server.refuses("move_path", { from: "a.txt", to: "m.txt", if_version: version });
    expect(lines[0]).toMatch(/^stale: a\.txt is not that version, but v:\w{12}$/);
    await server.says("move_path", { from: "a.txt", to: "m.txt", if_version: versionIn(lines[0] ?? "") });
    expect(fixture.read("m.txt")).toBe("changed\n");
  });

  it("say that a directory has no version, and do not suggest deleting it", async () => {
    const if_version = await server.version("a.txt");
    for (const [tool, params] of [
      ["move_path", { from: "dir", to: "moved" }],
      ["delete_path", { path: "dir", recursive: true }],
    ] as const)
      expect(await server.refuses(tool, { ...params, if_version })).toEqual([
        "invalid_input: dir is a directory, and only files have versions",
        "Leave if_version out.",
      ]);
  });
});

describe("delete_path and create_directory", () => {
  beforeEach(() => fixture.reset({ "a.txt": "a\n", "dir/sub/f.txt": "f\n" }));

  it("delete files, and directories with all that they hold only where asked", async () => {
    expect(await server.says("delete_path", { path: "a.txt" })).toMatch(
      /^deleted a\.txt\nchange \w+ \(undo reverts it\)$/,
    );
    expect((await server.refuses("delete_path", { path: "dir" }))[1]).toContain("recursive: true");
    const said = await server.says("delete_path", { path: "dir", recursive: true });
    expect(said).toMatch(/^deleted dir\/ \(2 entries\)\n/);
    expect(fixture.has("dir")).toBe(false);
    await server.says("undo", { change: changeIn(said) });
    expect(fixture.read("dir/sub/f.txt")).toBe("f\n");
  });

  it("delete only a link, never what it leads to; never a root", async () => {
    symlinkSync("dir", fixture.path("link"));
    expect(await server.says("delete_path", { path: "link", recursive: true })).toMatch(
      /^deleted link \(a link\)/,
    );
    expect(fixture.read("dir/sub/f.txt")).toBe("f\n");
    expect((await server.refuses("delete_path", { path: ".", recursive: true }))[0]).toMatch(/^denied: /);
    expect((await server.refuses("delete_path", { path: "nope" }))[0]).toMatch(/^not_found: /);
  });

  it("delete only the version that was read, where one is named", async () => {
    const version = await server.version("a.txt");
    fixture.write("a.txt", "other\n");
    expect((await server.refuses("delete_path", { path: "a.txt", if_version: version }))[0]).toMatch(
      /^stale: /,
    );
    expect(fixture.read("a.txt")).toBe("other\n");
    await server.says("delete_path", { path: "a.txt", if_version: await server.version("a.txt") });
    expect(fixture.has("a.txt")).toBe(false);
  });

  it("refuse to delete a file that is too large for the history, because undo could not restore it", async () => {
    fixture.write("dir/huge.bin", "");
    truncateSync(fixture.path("dir/huge.bin"), 100 * 1024 * 1024);
    for (const path of ["dir/huge.bin", "dir"]) {
      const lines = await server.refuses("delete_path", { path, recursive: true });
      expect(lines[0]).toMatch(
        /^denied: dir.* has 100 MB, more than undo keeps \(64 MB in a file, 512 MB in all\)/,
      );
    }
    expect(fixture.has("dir/huge.bin")).toBe(true);
  });

  it("refuse to delete what undo could not restore, unless the server was started with the option", async () => {
    const half = Array(12).fill("n".repeat(200)).join("/");
    const prepare = () => {
      fixture.reset({ "pipe/a": "a\n", "deep/a": "a\n" });
      execFileSync("mkfifo", [fixture.path("pipe/p")]);
      // No path reaches all of it.
      mkdirSync(fixture.path(`half/${half}`), { recursive: true });
      mkdirSync(fixture.path(`deep/${half}`), { recursive: true });
      renameSync(fixture.path("half"), fixture.path(`deep/${half}/half`));
    };
    prepare();
    for (const [path, why] of [
      ["pipe", /p is a fifo/],
      ["pipe/p", /p is a fifo/],
      ["deep", /a path is too long/],
    ] as const) {
      const [line] = await server.refuses("delete_path", { path, recursive: true });
      expect(line).toMatch(/^denied: /);
      expect(line).toMatch(why);
      expect(line).toContain("--allow-irrevocable");
    }
    expect(fixture.read("pipe/a")).toBe("a\n");
    expect(fixture.read("deep/a")).toBe("a\n");
    const allowed = await fixture.serve({ args: ["--allow-irrevocable"] });
    for (const path of ["pipe", "deep"]) {
      const said = await allowed.says("delete_path", { path, recursive: true });
      expect(said).not.toContain("undo reverts it");
      expect(fixture.has(path)).toBe(false);
    }
  });

  it("make directories with their parents, and accept existing ones", async () => {
    expect(await server.says("create_directory", { path: "p/q/r" })).toMatch(
      /^created p\/q\/r\/\nchange \w+ /,
    );
    expect(await server.says("create_directory", { path: "p/q/r" })).toBe("exists p/q/r/");
    expect(lstatSync(fixture.path("p/q/r")).isDirectory()).toBe(true);
    expect((await server.refuses("create_directory", { path: "a.txt" }))[0]).toMatch(/^exists: /);
  });
});
