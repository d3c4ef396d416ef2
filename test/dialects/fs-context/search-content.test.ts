// `search_content` over the wire.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;

beforeAll(async () => {
  fixture = await Fixture.with({
    "a.txt": "zero\none TODO\ntwo\nthree fixme, todo\nfour\nfive\n",
    "src/b.ts": "const total = 1; // TODO: totals\r\nconst Totals = 2;\r\nlast $price (x)",
    "src/words.ts": "naïve na\nfoo foobar\nfoo_bar\n",
    "node_modules/m.js": "TODO\n",
    ".hidden/h.txt": "TODO\n",
    "image.png": "TODO\n",
    "nul.dat": "TODO\0\n",
    "large.txt": `${"x".repeat(1024 * 1024)}\nTODO\n`,
    "utf16.txt": Buffer.from("\ufeffTODO wide\n", "utf16le"),
  });
  fixture.link("/etc/passwd", "link-out");
  fixture.link("a.txt", "link-in");
});
afterAll(() => fixture[Symbol.asyncDispose]());

const search = (args: object) => fixture.done("search_content", { path: ".", ...args });
const lines = async (args: object) =>
  (await search(args)).matches.map(({ file, line }) => `${file.slice(fixture.path.length + 1)}:${line}`);

describe("what is counted", () => {
  it("is whole words where they are asked for, also of plain text", async () => {
    const args = { pattern: "foo", isLiteral: true, wholeWord: true, filePattern: "src/words.ts" };
    const { matches } = await search(args);
    expect(matches.map(({ line, matchCount }) => [line, matchCount])).toEqual([[2, 1]]);
  });
});

describe("a line that is too long to be shown", () => {
  it("is cut with a mark, and all its matches are counted, however it is searched", async () => {
    await using long = await Fixture.with({ "long.txt": `${"word ".repeat(1000)}\nnear\n` });
    for (const pattern of ["word", "w[o]rd", "word(?=\\s)"]) {
      const args = { path: ".", pattern, contextLines: 1 };
      const [match] = (await long.done("search_content", args)).matches;
      expect(match, pattern).toMatchObject({ line: 1, matchCount: 1000, contextAfter: ["near"] });
      expect(match?.content).toBe(`${"word ".repeat(400)} [line cut]`);
    }
    const [near] = (await long.done("search_content", { path: ".", pattern: "near", contextLines: 1 }))
      .matches;
    expect(near?.contextBefore?.[0]).toMatch(/word {2}\[line cut\]$/);
  });
});

describe("a file without a line feed", () => {
  it("has the lines that read_file counts, however it is searched", async () => {
    const text = "first\rsecond\r";
    await using old = await Fixture.with({
      "8.txt": text,
      "16.txt": Buffer.from(`\ufeff${text}`, "utf16le"),
    });
    for (const pattern of ["second", "s[e]cond", "second(?!x)"]) {
      const { matches } = await old.done("search_content", { path: ".", pattern });
      expect(matches, pattern).toHaveLength(2);
      for (const { file, line, content } of matches) {
        const args = { path: file, lineStart: line, lineEnd: line };
        expect((await old.done("read_file", args)).content.replace(/\r$/, ""), pattern).toBe(
          content.replace(/\r$/, ""),
        );
      }
    }
  });
});

describe("the file pattern", () => {
  it("obeys baseNameMatch and caseSensitiveFileMatch", async () => {
    const args = { pattern: "foo", filePattern: "words.ts" };
    expect(await lines(args)).toEqual([]);
    expect(await lines({ ...args, baseNameMatch: true })).toEqual(["src/words.ts:2", "src/words.ts:3"]);
    const other = { pattern: "foo", filePattern: "SRC/WORDS.TS" };
    expect(await lines(other)).toEqual([]);
    expect(await lines({ ...other, caseSensitiveFileMatch: false })).toHaveLength(2);
  });
});

describe("what is found", () => {
  it("is shown by file, the match marked and numbered, the context not", async () => {
    expect(
      await fixture.text("search_content", {
        path: ".",
        pattern: "todo",
        contextLines: 1,
        filePattern: "a.txt",
      }),
    ).toBe(
      [
        "Found 2:",
        "",
        `${fixture.path}/a.txt (2 matches):`,
        "  1: zero",
        "> 2: one TODO",
        "  3: two",
        "> 4: three fixme, todo",
        "  5: four",
      ].join("\n"),
    );
    expect(await fixture.text("search_content", { path: ".", pattern: "nothing like it" })).toBe(
      "No matches",
    );
  });

  it("has line, content, context and how often it matches, and a summary", async () => {
    const { matches, summary } = await search({
      pattern: "todo|fixme",
      filePattern: "a.txt",
      contextLines: 2,
    });
    expect(matches).toEqual([
      {
        file: `${fixture.path}/a.txt`,
        line: 2,
        content: "one TODO",
        contextBefore: ["zero"],
        contextAfter: ["two", "three fixme, todo"],
        matchCount: 1,
      },
      {
        file: `${fixture.path}/a.txt`,
        line: 4,
        content: "three fixme, todo",
        contextBefore: ["one TODO", "two"],
        contextAfter: ["four", "five"],
        matchCount: 2,
      },
    ]);
    expect(summary).toEqual({
      filesScanned: 1,
      filesMatched: 1,
      totalMatches: 2,
      truncated: false,
      skippedInaccessible: 0,
    });
  });

  it("counts the same files each time, of an expression, a word and plain text", async () => {
    const counts = new Set<unknown>();
    for (const pattern of ["T[O]DO", "TODO", "TODO", "TODO"])
      for (const isLiteral of [false, pattern === "TODO"]) {
        const args = { pattern, isLiteral, maxResults: 1 };
        counts.add((await search(args)).summary.filesScanned);
      }
    expect([...counts]).toHaveLength(1);
  });

  it("does not count files that a policy denies", async () => {
    const files = { "a.txt": "TODO\n", "b.txt": "none\n", "large.txt": "x".repeat(2000) };
    const denied = { "secret/1.txt": "TODO\n", "secret/2.txt": "none\n", "d/key.pem": "TODO\n" };
    await using beside = await Fixture.with({
      "policy.json": JSON.stringify({ rules: [{ paths: ["secret/**", "*.pem"], access: "deny" }] }),
    });
    const counts: unknown[] = [];
    for (const tree of [files, { ...files, ...denied }]) {
      await using ruled = await Fixture.with(tree, { args: ["--policy", join(beside.path, "policy.json")] });
      for (const pattern of ["T[O]DO", "TODO"]) {
        const args = { path: ".", pattern, maxFileSize: 1000 };
        counts.push((await ruled.done("search_content", args)).summary.filesScanned);
      }
    }
    expect(counts).toEqual([2, 2, 2, 2]);
  });

  it("is ordered by path and line, the same each time", async () => {
    const first = await lines({ pattern: "o" });
    expect(first).toEqual([...first].sort());
    for (let i = 0; i < 5; i++) expect(await lines({ pattern: "o" })).toEqual(first);
  });

  it("is not in hidden, excluded, binary or large files, nor behind links", async () => {
    expect(await lines({ pattern: "TODO" })).toEqual(["a.txt:2", "a.txt:4", "src/b.ts:1", "utf16.txt:1"]);
  });

  it("is found there when each of these is asked for", async () => {
    expect(await lines({ pattern: "TODO", includeHidden: true })).toContain(".hidden/h.txt:1");
    expect(await lines({ pattern: "TODO", excludePatterns: [] })).toContain("node_modules/m.js:1");
    expect(await lines({ pattern: "TODO", excludePatterns: ["**/*.txt"] })).toEqual([
      "node_modules/m.js:1",
      "src/b.ts:1",
    ]);
    expect(await lines({ pattern: "TODO", skipBinary: false })).toEqual(
      expect.arrayContaining(["image.png:1", "nul.dat:1"]),
    );
    expect(await lines({ pattern: "TODO", maxFileSize: 2 * 1024 * 1024 })).toContain("large.txt:2");
    expect(await lines({ pattern: "TODO", filePattern: "**/*.ts" })).toEqual(["src/b.ts:1"]);
    expect(await lines({ pattern: "TODO", path: "src" })).toEqual(["src/b.ts:1"]);
  });

  it("is cut at maxResults and maxFilesScanned, with the reason", async () => {
    const cut = async (args: object) => {
      const { matches, summary } = await search({ pattern: "TODO", ...args });
      return [matches.length, summary.truncated, summary.stoppedReason];
    };
    expect(await cut({ maxResults: 2 })).toEqual([2, true, "maxResults"]);
    expect(await cut({ maxResults: 4 })).toEqual([4, false, undefined]);
    expect(await cut({ maxFilesScanned: 1, filePattern: "{a.txt,src/**}" })).toEqual([2, true, "maxFiles"]);
    expect(await cut({ maxFilesScanned: 3, filePattern: "{a.txt,src/**}" })).toEqual([3, false, undefined]);
    expect(await cut({ pattern: "(?=TODO)", maxFilesScanned: 1, filePattern: "{a.txt,src/**}" })).toEqual([
      2,
      true,
      "maxFiles",
    ]);
    expect(await cut({ pattern: "(?=TODO)", maxResults: 3 })).toEqual([3, true, "maxResults"]);
  });
});

describe("patterns", () => {
  it.each([
    ["case does not count unless asked", { pattern: "totals" }, ["src/b.ts:1", "src/b.ts:2"]],
    ["caseSensitive", { pattern: "Totals", caseSensitive: true }, ["src/b.ts:2"]],
    ["wholeWord", { pattern: "total", wholeWord: true }, ["src/b.ts:1"]],
    ["wholeWord takes foreign letters as letters", { pattern: "na", wholeWord: true }, ["src/words.ts:1"]],
    ["isLiteral", { pattern: "$price (x)", isLiteral: true }, ["src/b.ts:3"]],
    ["isLiteral and wholeWord", { pattern: "foo", isLiteral: true, wholeWord: true }, ["src/words.ts:2"]],
    ["an end of line before CRLF", { pattern: "2;$" }, ["src/b.ts:2"]],
    ["digits and words", { pattern: "^const \\w+ = \\d;" }, ["src/b.ts:1", "src/b.ts:2"]],
    ["a literal brace", { pattern: "{|\\$price" }, ["src/b.ts:3"]],
    ["look-ahead", { pattern: "const (?!total)", caseSensitive: true }, ["src/b.ts:2"]],
    ["look-behind", { pattern: "(?<=const )T", caseSensitive: true }, ["src/b.ts:2"]],
    ["look-around before CRLF", { pattern: "(?<=2);$" }, ["src/b.ts:2"]],
    ["a back-reference", { pattern: "(o)\\1" }, ["src/words.ts:2", "src/words.ts:3"]],
    ["an inline flag", { pattern: "(?i)TOTALS", caseSensitive: true }, ["src/b.ts:1", "src/b.ts:2"]],
    ["a class by name", { pattern: "^[[:alpha:]]+ [[:alpha:]]+ =" }, ["src/b.ts:1", "src/b.ts:2"]],
    ["a letter outside ASCII", { pattern: "na\\p{L}ve" }, ["src/words.ts:1"]],
  ])("%s", async (_, args, expected) => {
    expect(await lines({ filePattern: "src/**", ...args })).toEqual(expected);
  });

  it("count matches on a line in both engines", async () => {
    const counts = async (pattern: string) =>
      (await search({ pattern, filePattern: "src/words.ts" })).matches.map(({ matchCount }) => matchCount);
    expect(await counts("foo")).toEqual([2, 1]);
    expect(await counts("fo+")).toEqual([2, 1]);
    expect(await counts("f(?=oo)")).toEqual([2, 1]);
  });

  it.each(["(", "[z-a]", "a**", "x{2,1}", "(?<n>a)\\k<m>", "one\\ntwo", `${"a".repeat(5000)}`])(
    "%s is refused",
    async pattern => {
      const { code, message } = await fixture.failure("search_content", { path: ".", pattern });
      expect(code).toBe("E_INVALID_PATTERN");
      expect(message).toContain(`Invalid regular expression: ${pattern.slice(0, 200)} (`);
    },
  );

  it("that are literal may hold any character, and never span lines", async () => {
    expect(await lines({ pattern: "(", isLiteral: true })).toEqual(["src/b.ts:3"]);
    expect(await lines({ pattern: "zero\none", isLiteral: true })).toEqual([]);
  });

  it("that look like options are taken as patterns", async () => {
    expect(await lines({ pattern: "--files" })).toEqual([]);
    expect(await lines({ pattern: "-x|zero" })).toEqual(["a.txt:1"]);
  });
});
