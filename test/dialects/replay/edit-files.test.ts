// `edit_files` by the `replay` contract, over the wire.
import { symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Ground, notAllowed } from "./ground.ts";

let ground: Ground;
beforeAll(async () => {
  ground = await Ground.open();
});
afterAll(() => ground[Symbol.asyncDispose]());
beforeEach(() => ground.reset({ "a.txt": "old\n", "sub/b.TXT": "old\r\n", "sub/c.md": "old" }));

const edits = [{ oldText: "old", newText: "new" }];
const texts = async (params: object) => (await ground.items("edit_files", params)).map(({ text }) => text);

describe("edit_files", () => {
  it("edits paths and globs, each file once, in order", async () => {
    symlinkSync("c.md", ground.path("sub/link.md"));
    const paths = [ground.path("sub/c.md"), `${ground.root}/**/*.txt`, ground.path("a.txt"), "*.md"];
    expect(await texts({ paths, edits })).toEqual(
      ["sub/c.md", "a.txt", "sub/b.TXT"].map(path => `Successfully edited ${ground.path(path)}`),
    );
    expect(ground.read("sub/b.TXT")).toBe("new\r\n");
    expect(ground.read("sub/c.md")).toBe("new");
  });

  it("does five hundred files, and reports the one that fails in its place", async () => {
    const name = (i: number) => `many/${String(i).padStart(3, "0")}.js`;
    for (let i = 0; i < 500; i++) ground.write(name(i), i === 250 ? "nothing\n" : `let v = ${i};\r\n`);
    const regex = [{ oldText: "^let v = (\\d+);$", newText: "const v = $1;", isRegex: true }];
    const said = await texts({ paths: [`${ground.root}/many/*.js`], edits: regex });
    expect(said).toHaveLength(500);
    for (const [i, text] of said.entries()) {
      const path = ground.path(name(i));
      if (i !== 250) expect(text).toBe(`Successfully edited ${path}`);
      else expect(text).toBe(`${path}: [error -32603] pattern not found: ^let v = (\\d+);$`);
      expect(ground.read(name(i))).toBe(i === 250 ? "nothing\n" : `const v = ${i};\r\n`);
    }
  });

  it("reports a missing path in its place", async () => {
    expect(await texts({ paths: [ground.path("nope"), ground.path("a.txt")], edits })).toEqual([
      `${ground.path("nope")}: [error -32002] File not found: ${ground.path("nope")}`,
      `Successfully edited ${ground.path("a.txt")}`,
    ]);
  });

  it("previews each file and writes nothing", async () => {
    const paths = [ground.path("a.txt"), ground.path("sub/c.md")];
    const same = [{ oldText: "(old)\\n?", newText: "$1\\n", isRegex: true }];
    const file = ground.path("sub/c.md");
    expect(await texts({ paths, edits: same, dryRun: true })).toEqual([
      `${ground.path("a.txt")}: (no changes)`,
      `--- ${file}\n+++ ${file}\n@@ -1 +1 @@\n-old\n\\ No newline at end of file\n+old\n`,
    ]);
    expect(ground.read("sub/c.md")).toBe("old");
  });
});

describe("edit_files fails as a whole, before anything is written,", () => {
  const unchanged = () => {
    expect(ground.read("a.txt")).toBe("old\n");
    expect(ground.read(`${ground.outside}/a.txt`)).toBe("old\n");
  };
  beforeEach(() => ground.write(`${ground.outside}/a.txt`, "old\n"));

  it("where a glob matches nothing", async () => {
    const glob = `${ground.root}/**/*.zig`;
    expect(await ground.fails("edit_files", { paths: [ground.path("a.txt"), glob], edits })).toEqual({
      code: -32002,
      message: `Glob matched no files: ${glob}`,
    });
    unchanged();
  });

  it("where a path or a glob leads out of the allowed directories", async () => {
    const { base, root, outside } = ground;
    symlinkSync(outside, ground.path("out"));
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
      const { code } = await ground.fails("edit_files", { paths: [ground.path("a.txt"), way], edits });
      // What climbs up behind a wildcard matches nothing: names in a tree are never `..`.
      expect(code, way).toBe(way.startsWith("../") ? -32002 : -32001);
      unchanged();
    }
    const wild = `${root}/*/../../outside/*.txt`;
    expect(await ground.fails("edit_files", { paths: [ground.path("a.txt"), wild], edits })).toMatchObject({
      code: -32002,
    });
    unchanged();
  });

  it("where a glob meets a link that leads out", async () => {
    symlinkSync(`${ground.outside}/a.txt`, ground.path("linked.txt"));
    const paths = [`${ground.root}/*.txt`];
    expect(await ground.fails("edit_files", { paths, edits })).toEqual(notAllowed(ground.path("linked.txt")));
    unchanged();
  });

  it("where a parameter is missing", async () => {
    expect(await ground.fails("edit_files", { edits })).toEqual({
      code: -32602,
      message: "Missing required param: paths",
    });
    expect(await ground.fails("edit_files", { paths: [ground.path("a.txt")], edits: [{}] })).toMatchObject({
      code: -32602,
    });
    unchanged();
  });
});
