// `glob` and `grep` of the `agent-tools` contract, sentence by sentence.
import { symlinkSync, truncateSync, utimesSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  fixture = new Fixture({
    "old.ts": "const needle = 1;\n",
    "new.ts": "needle\nsecond needle needle\nthird\n",
    "src/a.ts": "one\ntwo\nneedle\nfour\nfive\nsix\nseven\nneedle\nnine\n",
    "src/deep/b.ts": "Needle\n",
    "src/deep/c.txt": "needle\n",
    ".hidden/h.ts": "needle\n",
    ".gitignore": "build/\n*.log\n",
    "build/out.ts": "needle\n",
    "trace.log": "needle\n",
    ".git/config.ts": "needle\n",
    "binary.ts": Buffer.from("needle\0"),
    "wide.txt": Buffer.from(`\ufeffneedle in UTF-16\n`, "utf16le"),
    "digits.md": "abc 123\nABC\n<p>\n</p>\n",
  });
  fixture.write("oversized.ts", "needle\n");
  truncateSync(fixture.path("oversized.ts"), 20_000_001);
  utimesSync(fixture.path("old.ts"), 1000, 1000);
  utimesSync(fixture.path("src/a.ts"), 3000, 3000);
  utimesSync(fixture.path("new.ts"), 2000, 2000);
  utimesSync(fixture.path("src/deep/b.ts"), 2000, 2000);
  symlinkSync("/etc", fixture.path("out"));
  symlinkSync("old.ts", fixture.path("link.ts"));
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const lines = (text: string) => text.split("\n");

describe("glob", () => {
  const glob = async (params: object) => lines(await server.says("glob", params));

  it("finds files, the newest first, then by path, relative to the workspace", async () => {
    expect(await glob({ pattern: "{src/**/,}{a,b,old,new}.ts" })).toEqual([
      "src/a.ts",
      "new.ts",
      "src/deep/b.ts",
      "old.ts",
    ]);
  });

  it("does not reach into subdirectories without a slash", async () => {
    expect((await glob({ pattern: "*.ts" })).sort()).toEqual([
      "binary.ts",
      "new.ts",
      "old.ts",
      "oversized.ts",
    ]);
    expect(await glob({ pattern: "*.ts", path: "src" })).toEqual(["src/a.ts"]);
  });

  it("reads the pattern relative to path, and names what it finds relative to the workspace", async () => {
    expect(await glob({ pattern: "deep/*", path: "src" })).toHaveLength(2);
    expect(await glob({ pattern: "**/c.txt", path: fixture.path("src") })).toEqual(["src/deep/c.txt"]);
    expect(await glob({ pattern: `${fixture.root}/src/*.ts` })).toEqual(["src/a.ts"]);
  });

  it("finds hidden files but no ignored ones, no directories, and nothing in .git", async () => {
    const found = await glob({ pattern: "**" });
    expect(found).toContain(".hidden/h.ts");
    expect(found).toContain(".gitignore");
    for (const missing of [
      "build/out.ts",
      "trace.log",
      ".git/config.ts",
      "src",
      "src/deep",
      "out",
      "link.ts",
    ]) {
      expect(found).not.toContain(missing);
    }
  });

  it("finds ignored files where asked to, but still nothing in .git", async () => {
    const found = await glob({ pattern: "**", respect_gitignore: false });
    expect(found).toContain("build/out.ts");
    expect(found).toContain("trace.log");
    expect(found.filter(path => path.startsWith(".git/"))).toEqual([]);
  });

  it("says that nothing was found, as a success", async () => {
    expect(await glob({ pattern: "*.rs" })).toEqual(["(no matches)"]);
  });

  it("refuses a bad glob, a missing base, and one outside", async () => {
    for (const pattern of ["[a", "{a,b", ""]) {
      expect(await server.refuses("glob", { pattern })).toMatchObject({ error: "invalid_input" });
    }
    expect(await server.refuses("glob", { pattern: "*", path: "nope" })).toMatchObject({
      error: "not_found",
    });
    expect(await server.refuses("glob", { pattern: "*", path: "old.ts" })).toMatchObject({
      error: "not_a_file",
    });
    expect(await server.refuses("glob", { pattern: "*", path: "out" })).toMatchObject({
      error: "path_escape",
    });
    expect(await glob({ pattern: "../*" })).toEqual(["(no matches)"]);
  });
});

describe("grep", () => {
  const grep = async (params: object) => lines(await server.says("grep", { pattern: "needle", ...params }));
  const everywhere = [".hidden/h.ts", "new.ts", "old.ts", "src/a.ts", "src/deep/c.txt", "wide.txt"];

  it("lists the files that match: hidden ones too, no ignored, binary or oversized ones, nothing in .git", async () => {
    expect(await grep({})).toEqual(everywhere);
  });

  it("prints path:line:text, sorted by path, then line", async () => {
    expect(await grep({ output_mode: "content", path: "new.ts" })).toEqual([
      "new.ts:1:needle",
      "new.ts:2:second needle needle",
    ]);
    expect(await grep({ output_mode: "content", glob: "*.ts" })).toEqual([
      ".hidden/h.ts:1:needle",
      "new.ts:1:needle",
      "new.ts:2:second needle needle",
      "old.ts:1:const needle = 1;",
      "src/a.ts:3:needle",
      "src/a.ts:8:needle",
    ]);
  });

  it("counts matching lines, not matches", async () => {
    expect(await grep({ output_mode: "count", glob: "{new,a}.ts" })).toEqual(["new.ts:2", "src/a.ts:2"]);
  });

  it("adds context, with -- between groups; each side can be overridden", async () => {
    const here = { output_mode: "content", glob: "{a,old}.ts" };
    expect(await grep({ ...here, context: 1 })).toEqual([
      "old.ts:1:const needle = 1;",
      "--",
      "src/a.ts-2-two",
      "src/a.ts:3:needle",
      "src/a.ts-4-four",
      "--",
      "src/a.ts-7-seven",
      "src/a.ts:8:needle",
      "src/a.ts-9-nine",
    ]);
    expect(await grep({ ...here, path: "src", context: 1, before_context: 0 })).toEqual([
      "src/a.ts:3:needle",
      "src/a.ts-4-four",
      "--",
      "src/a.ts:8:needle",
      "src/a.ts-9-nine",
    ]);
    expect(await grep({ ...here, path: "src", after_context: 4 })).toEqual([
      "src/a.ts:3:needle",
      "src/a.ts-4-four",
      "src/a.ts-5-five",
      "src/a.ts-6-six",
      "src/a.ts-7-seven",
      "src/a.ts:8:needle",
      "src/a.ts-9-nine",
    ]);
  });

  it("ignores context outside content mode", async () => {
    expect(await grep({ context: 3, glob: "a.ts" })).toEqual(["src/a.ts"]);
    expect(await grep({ context: 3, glob: "a.ts", output_mode: "count" })).toEqual(["src/a.ts:2"]);
  });

  it("matches case only unless told otherwise", async () => {
    expect(await grep({ path: "src/deep" })).toEqual(["src/deep/c.txt"]);
    expect(await grep({ path: "src/deep", ignore_case: true })).toEqual(["src/deep/b.ts", "src/deep/c.txt"]);
  });

  it("matches a glob without a slash at any depth, and one with a slash from path on", async () => {
    expect(await grep({ glob: "c.txt" })).toEqual(["src/deep/c.txt"]);
    expect(await grep({ glob: "deep/*", path: "src" })).toEqual(["src/deep/c.txt"]);
    expect(await grep({ glob: "deep/*" })).toEqual(["(no matches)"]);
    expect(await grep({ path: "new.ts", glob: "*.md" })).toEqual(["(no matches)"]);
  });

  it("matches across lines where asked to, with ^ and $ at line bounds", async () => {
    const here = { path: "digits.md", output_mode: "content" };
    expect(await grep({ ...here, pattern: "<p>.*</p>" })).toEqual(["(no matches)"]);
    expect(await grep({ ...here, pattern: "<p>.*</p>", multiline: true })).toEqual([
      "digits.md:3:<p>",
      "</p>",
    ]);
    expect(await grep({ ...here, pattern: "^ABC$", multiline: true })).toEqual(["digits.md:2:ABC"]);
  });

  it("takes a match across lines as one result, for pages and counts too", async () => {
    await using other = new Fixture({
      "many.txt": "foo(foo)\n".repeat(90),
      "tags.txt": "<a>\n1\n</a>\n<a>\n2\n</a>\n",
    });
    const served = await other.serve();
    const says = async (params: object) => lines(await served.says("grep", { multiline: true, ...params }));
    const tags = { pattern: "<a>.*?</a>", path: "tags.txt" };
    expect(await says({ ...tags, output_mode: "content", head_limit: 1 })).toEqual([
      "tags.txt:1:<a>",
      "1",
      "</a>",
      "[... showing 0..1 of 2; call again with offset=1 for more ...]",
    ]);
    expect(await says({ ...tags, output_mode: "content", offset: 1 })).toEqual([
      "tags.txt:4:<a>",
      "2",
      "</a>",
    ]);
    expect(await says({ ...tags, output_mode: "count" })).toEqual(["tags.txt:2"]);
    const page = await says({ pattern: "f.o", path: "many.txt", output_mode: "content", head_limit: 60 });
    expect(page).toHaveLength(61);
    expect(page.at(-1)).toContain("showing 0..60 of 180");
  });

  it("skips a named file that is too large, as it does in a directory", async () => {
    for (const pattern of ["needle", "needl[e]"])
      expect(await grep({ pattern, path: "oversized.ts" })).toEqual(["(no matches)"]);
  });

  it("accepts Rust's regex syntax", async () => {
    const here = { path: "digits.md", output_mode: "content" };
    expect(await grep({ ...here, pattern: "[[:digit:]]+" })).toEqual(["digits.md:1:abc 123"]);
    expect(await grep({ ...here, pattern: "(?i)^ABC" })).toEqual(["digits.md:1:abc 123", "digits.md:2:ABC"]);
    expect(await grep({ ...here, pattern: "-e" })).toEqual(["(no matches)"]);
  });

  it("pages over files and over matching lines, and says where the page is", async () => {
    expect(await grep({ head_limit: 2 })).toEqual([
      ...everywhere.slice(0, 2),
      "[... showing 0..2 of 6; call again with offset=2 for more ...]",
    ]);
    expect(await grep({ head_limit: 4, offset: 2 })).toEqual(everywhere.slice(2));
    expect(await grep({ output_mode: "content", path: "src/a.ts", head_limit: 1, context: 1 })).toEqual([
      "src/a.ts-2-two",
      "src/a.ts:3:needle",
      "src/a.ts-4-four",
      "[... showing 0..1 of 2; call again with offset=1 for more ...]",
    ]);
    expect(await grep({ output_mode: "content", path: "src/a.ts", offset: 1 })).toEqual([
      "src/a.ts:8:needle",
    ]);
    expect(await grep({ offset: 6 })).toEqual(["(no results at offset 6; 6 total)"]);
    expect(await server.refuses("grep", { pattern: "x", head_limit: 0 })).toMatchObject({
      error: "invalid_input",
    });
  });

  it("shows a nearby match of the next page as context, and never twice", async () => {
    const here = { output_mode: "content", path: "new.ts", context: 1 };
    expect(await grep({ ...here, head_limit: 1 })).toEqual([
      "new.ts:1:needle",
      "new.ts-2-second needle needle",
      "[... showing 0..1 of 2; call again with offset=1 for more ...]",
    ]);
    expect(await grep({ ...here, offset: 1 })).toEqual([
      "new.ts-1-needle",
      "new.ts:2:second needle needle",
      "new.ts-3-third",
    ]);
  });

  it("counts all results, however few of them a page shows", async () => {
    await using many = new Fixture({ "one.txt": "needle\n".repeat(5000) });
    const other = await many.serve();
    const footer = async (args: object) =>
      lines(await other.says("grep", { pattern: "needle", output_mode: "content", ...args })).at(-1);
    expect(await footer({ head_limit: 3 })).toBe(
      "[... showing 0..3 of 5000; call again with offset=3 for more ...]",
    );
    expect(await footer({ head_limit: 1, offset: 4500 })).toBe(
      "[... showing 4500..4501 of 5000; call again with offset=4501 for more ...]",
    );
    expect(await footer({ head_limit: 1, offset: 9000 })).toBe("(no results at offset 9000; 5000 total)");
    for (const pattern of ["needle", "n[e]edle"]) {
      const first = "[... showing 0..1 of 5000; call again with offset=1 for more ...]";
      expect(await footer({ head_limit: 1, pattern })).toBe(first);
      expect(await footer({ head_limit: 1, pattern, path: "one.txt" })).toBe(first);
    }
  });

  it("says that nothing was found, whatever the offset", async () => {
    expect(await grep({ pattern: "nowhere" })).toEqual(["(no matches)"]);
    expect(await grep({ pattern: "nowhere", offset: 5 })).toEqual(["(no matches)"]);
  });

  it("stops at a whole result where the answer would pass the cap, and the next page goes on from there", async () => {
    await using many = new Fixture(
      Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`file-${i}.txt`, "needle\n".repeat(3)])),
    );
    const limited = await many.serve({ env: { MAX_OUTPUT_BYTES: "1000" } });
    const seen: string[] = [];
    for (let offset = 0; ; ) {
      const page = await limited.says("grep", { pattern: "needle", output_mode: "content", offset });
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(1000);
      const [, end] =
        /\n\[\.\.\. showing \d+\.\.(\d+) of 600; call again with offset=\1 for more \.\.\.\]$/.exec(page) ??
        [];
      seen.push(...lines(page).filter(line => !line.startsWith("[...")));
      if (end === undefined) break;
      expect(Number(end)).toBe(seen.length);
      offset = Number(end);
    }
    expect(seen).toHaveLength(600);
    expect(new Set(seen).size).toBe(600);
  });

  it("shows a match without its context where that alone would fill the answer", async () => {
    const wide = `${"x".repeat(900)}\nneedle\n${"y".repeat(900)}\n`;
    await using other = new Fixture({ "wide.txt": wide.repeat(2) });
    const limited = await other.serve({ env: { MAX_OUTPUT_BYTES: "1000" } });
    const params = { pattern: "needle", output_mode: "content", context: 1 };
    for (const [offset, line, footer] of [
      [0, 2, ["[... showing 0..1 of 2; call again with offset=1 for more ...]"]],
      [1, 5, []],
    ] as const)
      expect(lines(await limited.says("grep", { ...params, offset }))).toEqual([
        `wide.txt:${line}:needle`,
        "[... no room for the context of this match ...]",
        ...footer,
      ]);
  });

  it("counts hundreds of thousands of results exactly, and names a page as incomplete that cannot be held", async () => {
    const file = "a\n".repeat(200_000);
    await using vast = new Fixture({ "1.txt": file, "2.txt": file, "3.txt": file });
    const other = await vast.serve();
    const everything = { pattern: "(a|b)+", output_mode: "content" };
    const found = lines(await other.says("grep", everything));
    expect(found[0]).toBe("1.txt:1:a");
    expect(found.at(-1)).toMatch(
      /^\[\.\.\. showing 0\.\.(\d+) of 600000; call again with offset=\1 for more \.\.\.\]$/,
    );
    const late = lines(await other.says("grep", { ...everything, offset: 550_000 }));
    expect(late.at(-1)).toMatch(/^\[\.\.\. warning: search incomplete/);
    expect(lines(await other.says("grep", { pattern: "a", output_mode: "count" }))).toEqual([
      "1.txt:200000",
      "2.txt:200000",
      "3.txt:200000",
    ]);
    expect(lines(await other.says("grep", { pattern: "a" }))).toEqual(["1.txt", "2.txt", "3.txt"]);
    expect(await other.says("grep", { pattern: "a", path: "1.txt", output_mode: "count" })).toBe(
      "1.txt:200000",
    );
  });

  it("refuses a bad pattern, a bad glob, a missing path, and one outside", async () => {
    expect(await server.refuses("grep", { pattern: "a(" })).toMatchObject({
      error: "invalid_input",
      message: expect.stringMatching(/^Invalid regex: a\( \(unclosed group; Rust syntax: escape/),
    });
    expect(await server.refuses("grep", { pattern: "x", glob: "[" })).toMatchObject({
      error: "invalid_input",
    });
    expect(await server.refuses("grep", { pattern: "x", path: "nope" })).toMatchObject({
      error: "not_found",
    });
    expect(await server.refuses("grep", { pattern: "x", output_mode: "all" })).toMatchObject({
      error: "invalid_input",
    });
    for (const path of ["..", "out", "out/passwd"]) {
      expect(await server.refuses("grep", { pattern: "x", path })).toMatchObject({ error: "path_escape" });
    }
  });

  it("does not see a write's temporary file, nor do glob and list_dir", async () => {
    const name = `.polyfs-${"0".repeat(32)}.tmp`;
    await using other = new Fixture({ "a.txt": "needle\n", [name]: "needle\n" });
    const beside = await other.serve();
    expect(await beside.says("grep", { pattern: "needle" })).toBe("a.txt");
    expect(await beside.says("glob", { pattern: "**" })).toBe("a.txt");
    expect(await beside.says("list_dir")).toBe("a.txt\t7");
  });

  it("searches an ignored file that is named", async () => {
    expect(await grep({ path: "trace.log" })).toEqual(["trace.log"]);
    expect(await grep({ path: "link.ts", output_mode: "content" })).toEqual(["link.ts:1:const needle = 1;"]);
  });
});
