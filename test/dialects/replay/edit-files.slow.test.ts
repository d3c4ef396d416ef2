// `edit_files` by the `replay` contract, over the wire.
import { symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({ "a.txt": "old\n", "sub/b.TXT": "old\r\n", "sub/c.md": "old" }));

const edits = [{ oldText: "old", newText: "new" }];
const texts = async (params: object) => (await fixture.items("edit_files", params)).map(({ text }) => text);

describe("edit_files", () => {
  it("edits paths and globs, each file once, in order", async () => {
    symlinkSync("c.md", fixture.path("sub/link.md"));
    const paths = [fixture.path("sub/c.md"), `${fixture.root}/**/*.txt`, fixture.path("a.txt"), "*.md"];
    expect(await texts({ paths, edits })).toEqual(
      ["sub/c.md", "a.txt", "sub/b.TXT"].map(path => `Successfully edited ${fixture.path(path)}`),
    );
    expect(fixture.read("sub/b.TXT")).toBe("new\r\n");
    expect(fixture.read("sub/c.md")).toBe("new");
  });

  it("does five hundred files, and reports the one that fails in its place", async () => {
    const name = (i: number) => `many/${String(i).padStart(3, "0")}.js`;
    for (let i = 0; i < 500; i++) fixture.write(name(i), i === 250 ? "nothing\n" : `let v = ${i};\r\n`);
    const regex = [{ oldText: "^let v = (\\d+);$", newText: "const v = $1;", isRegex: true }];
    const said = await texts({ paths: [`${fixture.root}/many/*.js`], edits: regex });
    expect(said).toHaveLength(500);
    for (const [i, text] of said.entries()) {
      const path = fixture.path(name(i));
      if (i !== 250) expect(text).toBe(`Successfully edited ${path}`);
      else expect(text).toBe(`${path}: [error -32603] pattern not found: ^let v = (\\d+);$`);
      expect(fixture.read(name(i))).toBe(i === 250 ? "nothing\n" : `const v = ${i};\r\n`);
    }
  });

  it("reports a missing path in its place", async () => {
    expect(await texts({ paths: [fixture.path("nope"), fixture.path("a.txt")], edits })).toEqual([
      `${fixture.path("nope")}: [error -32002] File not found: ${fixture.path("nope")}`,
      `Successfully edited ${fixture.path("a.txt")}`,
    ]);
  });

  it("previews each file and writes nothing", async () => {
    const paths = [fixture.path("a.txt"), fixture.path("sub/c.md")];
    const same = [{ oldText: "(old)\\n?", newText: "$1\\n", isRegex: true }];
    const file = fixture.path("sub/c.md");
    expect(await texts({ paths, edits: same, dryRun: true })).toEqual([
      `${fixture.path("a.txt")}: (no changes)`,
      `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+old\n`,
    ]);
    expect(fixture.read("sub/c.md")).toBe("old");
  });
});

describe("edit_files fails as a whole, before anything is written,", () => {
  const unchanged = () => {
    expect(fixture.read("a.txt")).toBe("old\n");
    expect(fixture.read(`${fixture.outside}/a.txt`)).toBe("old\n");
  };
  beforeEach(() => fixture.write(`${fixture.outside}/a.txt`, "old\n"));

  it("where a glob matches nothing", async () => {
    const glob = `${fixture.root}/**/*.zig`;
    expect(await fixture.fails("edit_files", { paths: [fixture.path("a.txt"), glob], edits })).toEqual({
      code: -32002,
      message: `Glob matched no files: ${glob}`,
    });
    unchanged();
  });

  it("where a path or a glob leads out of the allowed directories", async () => {
    const { base, root, outside } = fixture;
    symlinkSync(outside, fixture.path("out"));
    for (const way of [
      `${outside}/a.txt`,
      `${outside}/*.txt`,
      `${base}/*/a.txt`,
      `${base}/{outside,project}/a.txt`,
      `{${outside},${root}}/*.txt`,
      `${root}/../outside/*.txt`,
      `${root}/out/*.txt`,
      "/**/a.txt",
      "../outside/*.txt",
    ]) {
      const { code } = await fixture.fails("edit_files", { paths: [fixture.path("a.txt"), way], edits });
      // What climbs up after a wildcard matches nothing: names in a tree are never `..`.
      expect(code, way).toBe(way.startsWith("../") ? -32002 : -32001);
      unchanged();
    }
    const wild = `${root}/*/../../outside/*.txt`;
    expect(await fixture.fails("edit_files", { paths: [fixture.path("a.txt"), wild], edits })).toMatchObject({
      code: -32002,
    });
    unchanged();
  });

  it("where a glob meets a link that leads out", async () => {
    symlinkSync(`${fixture.outside}/a.txt`, fixture.path("linked.txt"));
    const paths = [`${fixture.root}/*.txt`];
    expect(await fixture.fails("edit_files", { paths, edits })).toEqual(
      notAllowed(fixture.path("linked.txt")),
    );
    unchanged();
  });

  it("where a parameter is missing", async () => {
    expect(await fixture.fails("edit_files", { edits })).toEqual({
      code: -32602,
      message: "Missing required param: paths",
    });
    expect(await fixture.fails("edit_files", { paths: [fixture.path("a.txt")], edits: [{}] })).toMatchObject({
      code: -32602,
    });
    unchanged();
  });
});
