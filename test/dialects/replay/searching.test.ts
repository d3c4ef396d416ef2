// Searching names and contents by the `replay` contract, over the wire.
import { symlinkSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({}));

const under = (...paths: string[]) => paths.map(path => fixture.path(path)).join("\n");

describe("search_files", () => {
  beforeEach(() => {
    for (const path of ["note/deep.txt", "note.txt", "x/My-NOTES.md", ".git/note", "node_modules/p/note.js"])
      fixture.write(path, "");
    fixture.write(".gitignore", "note.txt\n");
  });

  it("finds files and directories by a part of their name, depth first", async () => {
    symlinkSync("note.txt", fixture.path("zz-note"));
    expect(await fixture.says("search_files", { directory: fixture.root, nameContains: "Note" })).toBe(
      under(".git/note", "node_modules/p/note.js", "note", "note.txt", "x/My-NOTES.md", "zz-note"),
    );
    fixture.write("note/a-note", "");
    expect(await fixture.says("search_files", { directory: fixture.root, nameContains: "note" })).toMatch(
      new RegExp(`${fixture.root}/note\n${fixture.root}/note/a-note\n${fixture.root}/note\\.txt\n`),
    );
  });

  it("takes the name literally, and leaves out what is excluded", async () => {
    expect(await fixture.says("search_files", { directory: fixture.root, nameContains: "note*" })).toBe(
      "(no matches found)",
    );
    const excludeGlobs = ["node_modules", ".git/**", "*.MD", fixture.path("note")];
    expect(
      await fixture.says("search_files", { directory: fixture.root, nameContains: "note", excludeGlobs }),
    ).toBe(under("note.txt"));
  });

  it("takes the old names of its parameters; the proper ones win", async () => {
    const old = { path: fixture.root, pattern: "my-notes", excludePatterns: ["nope"] };
    expect(await fixture.says("search_files", old)).toBe(under("x/My-NOTES.md"));
    const both = { ...old, path: fixture.outside, directory: fixture.root, nameContains: "deep" };
    expect(await fixture.says("search_files", both)).toBe(under("note/deep.txt"));
  });

  it("reports errors by code", async () => {
    const [directory, nameContains] = [fixture.outside, "x"];
    expect(await fixture.fails("search_files", { directory, nameContains })).toEqual(notAllowed(directory));
    expect(await fixture.fails("search_files", { directory })).toEqual({
      code: -32602,
      message: "Missing required param: nameContains",
    });
    expect(await fixture.fails("search_files", { nameContains })).toEqual({
      code: -32602,
      message: "Missing required param: directory",
    });
  });
});

describe("glob_search", () => {
  beforeEach(() => {
    for (const path of ["a.ts", "B.TS", "src/c.ts", "src/deep/d.tsx", "src/.e.ts", "dist/f.ts", "x[1].ts"])
      fixture.write(path, "");
  });
  const glob = (globs: string[], more: object = {}) =>
    fixture.says("glob_search", { directory: fixture.root, globs, ...more });

  it("matches a bare pattern with the name at any depth, whatever the case", async () => {
    expect(await glob(["*.ts"])).toBe(under("B.TS", "a.ts", "dist/f.ts", "src/.e.ts", "src/c.ts", "x[1].ts"));
  });

  it("matches a pattern with a slash with the path", async () => {
    expect(await glob(["src/*.ts"])).toBe(under("src/.e.ts", "src/c.ts"));
    expect(await glob(["SRC/**/*.{ts,tsx}"])).toBe(under("src/.e.ts", "src/c.ts", "src/deep/d.tsx"));
    expect(await glob(["**/?.ts"])).toBe(under("B.TS", "a.ts", "dist/f.ts", "src/c.ts"));
    expect(await glob(["[ab].ts", "src/deep/**"])).toBe(under("B.TS", "a.ts", "src/deep/d.tsx"));
    expect(await glob([`${fixture.root}/dist/*`])).toBe(under("dist/f.ts"));
  });

  it("gives files only, and links that lead to files inside", async () => {
    symlinkSync("a.ts", fixture.path("link.ts"));
    symlinkSync("src", fixture.path("link-src.ts"));
    symlinkSync("/etc/passwd", fixture.path("out.ts"));
    expect(await glob(["l*", "o*", "s*"])).toBe(under("link.ts"));
  });

  it("excludes paths, and stops at the limit", async () => {
    expect(await glob(["*.ts"], { excludeGlobs: ["src", "dist/**", "x*"] })).toBe(under("B.TS", "a.ts"));
    const [found, notice] = await fixture.items("glob_search", {
      directory: fixture.root,
      globs: ["*.ts"],
      max: 2,
    });
    expect(found?.text).toBe(under("B.TS", "a.ts"));
    expect(notice?.text).toContain("max");
    expect((await glob(["*.ts"], { max: 0 })).split("\n")).toHaveLength(6);
    expect(await glob(["*.zig"])).toBe("(no matches)");
  });

  it("never leaves its directory", async () => {
    fixture.write(`${fixture.outside}/secret.ts`, "");
    symlinkSync(fixture.outside, fixture.path("out"));
    for (const way of [
      "../outside/*",
      `${fixture.outside}/*`,
      "out/*",
      "**/../../outside/*",
      "/**/secret.ts",
    ]) {
      expect(await glob([way]), way).toBe("(no matches)");
    }
  });

  it("reports errors by code", async () => {
    expect(await fixture.fails("glob_search", { directory: fixture.outside, globs: ["*"] })).toEqual(
      notAllowed(fixture.outside),
    );
    expect(await fixture.fails("glob_search", { directory: fixture.root })).toMatchObject({ code: -32602 });
    expect(await fixture.fails("glob_search", { globs: ["*"] })).toMatchObject({ code: -32602 });
    const many = "{a,b}".repeat(25);
    expect(await fixture.fails("glob_search", { directory: fixture.root, globs: [many] })).toMatchObject({
      code: -32603,
    });
  });
});

describe("grep_files", () => {
  const grep = (params: object) => fixture.says("grep_files", params);
  const lines = (...some: string[]) => some.join("\n");

  beforeEach(() => {
    fixture.write("a.txt", "one\ntwo TODO\nthree\nfour\nfive\nsix TODO todo\nseven\n");
    fixture.write("src/b.ts", "// TODO: x\r\nlet y;\r\n");
  });

  it("prints matching lines as grep does, and counts them", async () => {
    const [a, b] = [fixture.path("a.txt"), fixture.path("src/b.ts")];
    expect(await grep({ regex: "TODO", directory: fixture.root })).toBe(
      lines(`${a}:2:two TODO`, `${a}:6:six TODO todo`, `${b}:1:// TODO: x`, "[3 matches]"),
    );
    expect(await grep({ regex: "^// \\w+: x$", directory: fixture.root })).toBe(
      lines(`${b}:1:// TODO: x`, "[1 match]"),
    );
  });

  it("shows context, and a line between groups that do not touch", async () => {
    const [a, b] = [fixture.path("a.txt"), fixture.path("src/b.ts")];
    expect(await grep({ regex: "TODO", directory: fixture.root, contextLines: 1 })).toBe(
      lines(
        `${a}-1-one`,
        `${a}:2:two TODO`,
        `${a}-3-three`,
        "--",
        `${a}-5-five`,
        `${a}:6:six TODO todo`,
        `${a}-7-seven`,
        "--",
        `${b}:1:// TODO: x`,
        `${b}-2-let y;`,
        "[3 matches]",
      ),
    );
    const touching = await grep({
      regex: "TODO",
      directory: fixture.root,
      globs: ["a.txt"],
      contextLines: 2,
    });
    expect(touching).not.toContain("--");
    expect(touching.split("\n")).toHaveLength(8);
  });

  it("stops at maxResults, and says so first", async () => {
    const a = fixture.path("a.txt");
    const said = (
      await grep({ regex: "TODO", directory: fixture.root, maxResults: 1, contextLines: 4 })
    ).split("\n");
    expect(said[0]).toMatch(/^\[truncated/);
    expect(said.slice(1)).toEqual([
      `${a}-1-one`,
      `${a}:2:two TODO`,
      `${a}-3-three`,
      `${a}-4-four`,
      `${a}-5-five`,
      `${a}-6-six TODO todo`,
      "[1 match]",
    ]);
    expect(await grep({ regex: "TODO", directory: fixture.root, maxResults: 2 })).toMatch(/^\[truncated/);
    expect(await grep({ regex: "TODO", directory: fixture.root, maxResults: 3 })).not.toContain("truncated");
    expect(
      await grep({ regex: "TODO", directory: fixture.root, maxResults: 99_999, contextLines: 99 }),
    ).toContain("[3 matches]");
  });

  it("is JavaScript's: look-around, back-references, units, case by flag", async () => {
    fixture.write("js.txt", "abab\nprice: 5€\n😀\nKelvin \u212a\n");
    const count = async (regex: string, more: object = {}) =>
      /\[(\d+) match/.exec(await grep({ regex, directory: fixture.root, globs: ["js.txt"], ...more }))?.[1];
    expect(await count("(ab)\\1")).toBe("1");
    expect(await count("(?<=: )\\d(?=€)")).toBe("1");
    expect(await count("^..$")).toBe("1");
    expect(await count("^.$")).toBeUndefined();
    expect(await count("kelvin k$", { caseInsensitive: true })).toBeUndefined();
    expect(await count("KELVIN", { caseInsensitive: true })).toBe("1");
    expect(await count("\\u20ac$")).toBe("1");
    expect(await count("^$|zzz")).toBeUndefined();
  });

  it("finds in files that are not UTF-8, and strips their marks", async () => {
    fixture.write("latin1.txt", Buffer.from("caf\xe9 TODO\n", "latin1"));
    fixture.write("marked.txt", "\ufeffTODO\n");
    expect(await grep({ regex: "caf. T|^TODO$", directory: fixture.root })).toBe(
      lines(
        `${fixture.path("latin1.txt")}:1:caf\ufffd TODO`,
        `${fixture.path("marked.txt")}:1:TODO`,
        "[2 matches]",
      ),
    );
  });

  it("skips files with a NUL in their first 4 KB", async () => {
    fixture.reset({ early: `TODO\n${"x".repeat(4000)}\0`, late: `TODO\n${"x".repeat(4091)}\0` });
    expect(await grep({ regex: "TODO", directory: fixture.root })).toBe(
      lines(`${fixture.path("late")}:1:TODO`, "[1 match]"),
    );
  });

  it("searches hidden and ignored files, and follows no links", async () => {
    fixture.write(".hidden/x", "TODO\n");
    fixture.write(".gitignore", "a.txt\n");
    fixture.write(`${fixture.outside}/secret`, "TODO secret\n");
    symlinkSync(fixture.outside, fixture.path("out"));
    symlinkSync(`${fixture.outside}/secret`, fixture.path("out-file"));
    const said = await grep({ regex: "TODO", directory: fixture.root });
    expect(said).toContain(`${fixture.path(".hidden/x")}:1:TODO`);
    expect(said).toContain("a.txt:2:");
    expect(said).not.toContain("secret");
  });

  it("reads relative globs against the directory, or the project; absolute ones as they are", async () => {
    fixture.write(`${fixture.readOnly}/r.ts`, "TODO ref\n");
    const b = `${fixture.path("src/b.ts")}:1:// TODO: x`;
    const r = `${fixture.readOnly}/r.ts:1:TODO ref`;
    expect(await grep({ regex: "TODO", globs: ["**/*.TS"] })).toBe(lines(b, "[1 match]"));
    expect(await grep({ regex: "TODO", directory: fixture.path("src"), globs: ["*.ts"] })).toBe(
      lines(b, "[1 match]"),
    );
    expect(await grep({ regex: "TODO", directory: fixture.readOnly, globs: ["*.ts"] })).toBe(
      lines(r, "[1 match]"),
    );
    expect(await grep({ regex: "TODO", globs: [`${fixture.readOnly}/*.ts`, "src/*", "*.ts"] })).toBe(
      lines(b, r, "[2 matches]"),
    );
    expect(await grep({ regex: "TODO", globs: [fixture.path("src/b.ts")] })).toBe(lines(b, "[1 match]"));
    expect(
      await grep({ regex: "TODO", directory: fixture.root, excludeGlobs: ["a.*", fixture.path("src")] }),
    ).toBe("(no files to search)");
    expect(
      await grep({ regex: "TODO", globs: [`${fixture.root}/**`], excludeGlobs: ["src/*.ts"] }),
    ).toContain("[2 matches]");
  });

  it("skips what globs name outside, and says so", async () => {
    fixture.write(`${fixture.outside}/secret.ts`, "TODO secret\n");
    const skipped = "[1 path(s) skipped: outside the allowed directories]";
    for (const way of [`${fixture.outside}/*.ts`, "/etc/**", `${fixture.root}/../outside/*`]) {
      expect(await grep({ regex: "TODO", globs: [way] }), way).toBe(lines("(no files to search)", skipped));
    }
    const wide = await grep({ regex: "TODO", globs: [`${fixture.base}/*/*.ts`, `${fixture.base}/**/b.ts`] });
    expect(wide).toBe(
      lines(
        `${fixture.path("src/b.ts")}:1:// TODO: x`,
        "[1 match]",
        "[2 path(s) skipped: outside the allowed directories]",
      ),
    );
  });

  it("distinguishes a search without hits from one without files", async () => {
    expect(await grep({ regex: "nothing like it", directory: fixture.root })).toBe("(no matches found)");
    expect(await grep({ regex: "TODO", directory: fixture.root, globs: ["*.zig"] })).toBe(
      "(no files to search)",
    );
  });

  it("reports errors by code", async () => {
    const directory = fixture.root;
    expect(await fixture.fails("grep_files", { regex: "(", directory })).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Invalid regex: .+/),
    });
    expect(await fixture.fails("grep_files", { regex: "x" })).toMatchObject({ code: -32602 });
    expect(await fixture.fails("grep_files", { regex: "x", globs: [] })).toMatchObject({ code: -32602 });
    expect(await fixture.fails("grep_files", { directory })).toEqual({
      code: -32602,
      message: "Missing required param: regex",
    });
    expect(await fixture.fails("grep_files", { regex: true, directory })).toMatchObject({
      code: -32602,
      message: expect.stringContaining("pattern"),
    });
    expect(await fixture.fails("grep_files", { regex: "x", directory: fixture.outside })).toEqual(
      notAllowed(fixture.outside),
    );
    expect(await fixture.fails("grep_files", { regex: "x", directory: fixture.path("nope") })).toMatchObject({
      code: -32002,
    });
  });

  it("searches a few hundred files in order, with and without a hint for ripgrep", async () => {
    for (let i = 0; i < 300; i++)
      fixture.write(`many/${i % 7}/${i}.txt`, `${"filler\n".repeat(300)}hit ${i}\n`);
    const found = await grep({ regex: "hit \\d+", directory: fixture.path("many") });
    expect(found).toContain("[300 matches]");
    // Without a character that must occur, everything is read.
    expect(await grep({ regex: "(?:hit)? ?(?=\\d)\\S*(?<=hit \\d+)", directory: fixture.path("many") })).toBe(
      found,
    );
    const paths = found
      .split("\n")
      .slice(0, -1)
      .map(line => line.split(":")[0] ?? "");
    expect(paths).toEqual(paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  });
});
