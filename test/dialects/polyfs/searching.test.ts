// Searching text: grouped by file with versions, pages, counts, and what is left out.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server, versionIn } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({
    ".gitignore": "out/\n",
    "a.ts": "import x;\nconst foo = 1;\nfoo();\n// FOO\nend\n",
    "b/c.ts": "foobar\nfoo.bar\n",
    "b/d.md": "nothing\nhere is foo\n",
    "out/e.ts": "foo\n",
    ".env": "foo=1\n",
    "bin.dat": Buffer.from("foo\0foo"),
    "utf16.txt": Buffer.from("\ufefffoo in sixteen\n", "utf16le"),
    "long.txt": `${"y".repeat(9000)}needle\n`,
  });
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("search_text", () => {
  it("groups lines by file under a head line with the version, and counts in the last line", async () => {
    const said = await server.says("search_text", { pattern: "foo", glob: "*.{ts,md}" });
    expect(said).toMatch(
      /^a\.ts · v:\w{12}\n2: const foo = 1;\n3: foo\(\);\n\nb\/c\.ts · v:\w{12}\n1: foobar\n2: foo\.bar\n\nb\/d\.md · v:\w{12}\n2: here is foo\n\[5 matches in 3 files\]$/,
    );
    expect(versionIn(said)).toBe(await server.version("a.ts"));
  });

  it("shows context with other marks, and gaps between groups", async () => {
    const said = await server.says("search_text", { pattern: "import|end", path: "a.ts", context: 1 });
    expect(said.split("\n").slice(1)).toEqual([
      "1: import x;",
      "2- const foo = 1;",
      "--",
      "4- // FOO",
      "5: end",
      "[2 matches in 1 file]",
    ]);
  });

  it("takes text literally where asked", async () => {
    expect(await server.says("search_text", { pattern: "foo.", literal: true })).toMatch(
      /2: foo\.bar\n\[1 match in 1 file\]$/,
    );
    expect(await server.says("search_text", { pattern: "foo()", literal: true, output: "files" })).toBe(
      "a.ts\n[1 file]",
    );
  });

  it("supports case, whole words, several lines, and look-around", async () => {
    const count = async (params: Record<string, unknown>) =>
      /\[(\d+) match/.exec(await server.says("search_text", { path: "a.ts", ...params }))?.[1];
    expect(await count({ pattern: "foo", ignore_case: true })).toBe("3");
    expect(await count({ pattern: "fo", whole_word: true })).toBeUndefined();
    expect(await count({ pattern: "foo", whole_word: true })).toBe("2");
    expect(await count({ pattern: "foo\\(\\);\\n// FOO", multiline: true })).toBeDefined();
    expect(await count({ pattern: "foo(?=\\()" })).toBe("1");
  });

  it("takes a line break for CRLF, too, and says that one needs multiline", async () => {
    await using fixture = new Fixture({
      "crlf.txt": "one (1)\r\n  two\r\nthree\r\n",
      "lf.txt": "one (1)\n  two\nthree\n",
      "utf16.txt": Buffer.from("\ufeffone (1)\r\n  two\r\nthree\r\n", "utf16le"),
    });
    const server = await fixture.serve();
    const files = (params: Record<string, unknown>) =>
      server.says("search_text", { multiline: true, output: "files", ...params });
    const all = "crlf.txt\nlf.txt\nutf16.txt\n[3 files]";
    expect(await files({ pattern: "\\(1\\)\\n  two" })).toBe(all);
    expect(await files({ pattern: "1\\)$\\n+\\s+two$\n^three$" })).toBe(all);
    expect(await files({ pattern: "one (1)\n  two", literal: true })).toBe(all);
    expect(await files({ pattern: "one (1)\r\n  two", literal: true })).toBe(all);
    expect(
      await server.says("search_text", { path: "crlf.txt", pattern: "two\\nthree", multiline: true }),
    ).toMatch(/\n2: {3}two\n3: three\n\[2 matches in 1 file\]$/);
    expect(await server.says("search_text", { pattern: "one (1)\n  two", literal: true })).toBe(
      "[no matches]\n[no line holds a line break; multiline: true searches across lines]",
    );
  });

  it("searches across lines in linear time where a line is all matches, and in one too long to tell them apart", async () => {
    await using fixture = new Fixture({
      "min.js": `first\n${"a=b;".repeat(500_000)}\nlast a\n`,
      "one.js": '\\"a'.repeat(1_000_000),
    });
    const server = await fixture.serve();
    expect(await server.says("search_text", { pattern: "a|b", multiline: true, output: "count" })).toBe(
      "3 matches in 2 files\nmin.js: 2\none.js: 1\n[2 files]",
    );
  });

  it.each([
    ["plain text", { pattern: "needle", path: "far.js" }],
    ["a tree", { pattern: "needle" }],
    ["a tree again", { pattern: "needle" }],
    ["an expression", { pattern: "ne+dle" }],
    ["a look-ahead", { pattern: "needle(?=;)" }],
    ["text beyond ASCII", { pattern: "ö needle" }],
    ["several lines", { pattern: "needle.+second", multiline: true }],
  ])("shows the part of a long line around the match, with its column: %s", async (_, params) => {
    const line = `${"ab😀 ".repeat(2000)}ö needle; ${"z".repeat(5000)}`;
    await using fixture = new Fixture({
      "far.js": `first\n${line}\nsecond\n`,
      "legacy.txt": Buffer.from(
        `gr\xf6\xdfe sch\xf6n \xfcber\n${"y".repeat(9000)}\xf6 needle;\nsecond\n`,
        "latin1",
      ),
      "wide.txt": Buffer.from(`\ufeff${"y".repeat(9000)}ö needle;\nsecond\n`, "utf16le"),
    });
    const server = await fixture.serve();
    const said = await server.says("search_text", params);
    const [, head = "", shown = ""] = /^2: (\[.*?\]) (.*)$/m.exec(said) ?? [];
    const at = line.indexOf(params.pattern.startsWith("ö") ? "ö" : "needle");
    expect(head).toMatch(
      new RegExp(`^\\[…\\d,\\d{3} characters; match at column ${(at + 1).toLocaleString("en")}\\]$`),
    );
    expect(shown).toMatch(/ö needle; z+ \[…\d,\d{3} more characters\]$/);
    expect(shown.length).toBeLessThan(2100);
    expect(said.isWellFormed() && !said.includes("\ufffd")).toBe(true);
    if ("path" in params) return;
    expect(said).toMatch(
      /^legacy\.txt .*\n2: \[…8,5\d\d characters; match at column 9,00[13]\] y+ö needle;/m,
    );
    expect(said).toMatch(/^wide\.txt .*\n1: \[…8,5\d\d characters; match at column 9,00[13]\] y+ö needle;/m);
  });

  it("lists files, and counts per file", async () => {
    expect(await server.says("search_text", { pattern: "foo", output: "files", glob: "*.ts" })).toBe(
      "a.ts\nb/c.ts\n[2 files]",
    );
    expect(await server.says("search_text", { pattern: "foo", output: "count", glob: "*.ts" })).toBe(
      "4 matches in 2 files\na.ts: 2\nb/c.ts: 2\n[2 files]",
    );
  });

  it("gives pages of matches, and of files", async () => {
    const page = (offset: number) =>
      server.says("search_text", { pattern: "foo", glob: "*.{ts,md}", limit: 3, offset });
    const first = await page(0);
    expect(first).toMatch(/1: foobar\n\[3 matches in 2 files shown; there are more: offset=3\]$/);
    const second = await page(3);
    expect(second).toMatch(/^b\/c\.ts · v:\w+\n2: foo\.bar\n\nb\/d\.md/);
    expect(second).toMatch(/\[2 matches in 2 files\]$/);
    expect(await page(9)).toBe("[nothing at offset 9; 5 found]");
    expect(await server.says("search_text", { pattern: "foo", output: "files", limit: 1 })).toMatch(
      /\n\[1 file shown; there are more: offset=1\]$/,
    );
    expect(
      await server.says("search_text", { pattern: "foo", output: "count", limit: 1, glob: "*.ts" }),
    ).toBe("4 matches in 2 files\na.ts: 2\n[1 file shown; there are more: offset=1]");
  });

  it("ends a page at 100 matches, and at a whole line if the answer is full", async () => {
    await using many = new Fixture({ "m.txt": `${"hit ".repeat(200)}\n`.repeat(300) });
    const other = await many.serve();
    const said = await other.says("search_text", { pattern: "hit" });
    expect(said).toMatch(/\[\d+ matches in 1 file shown; there are more: offset=\d+\]$/);
    expect(Buffer.byteLength(said)).toBeLessThan(64_001);
    const [, shown, next] = /\[(\d+) matches.*offset=(\d+)\]$/.exec(said) ?? [];
    expect(shown).toBe(next);
    const rest = await other.says("search_text", { pattern: "hit", offset: Number(next), limit: 1 });
    expect(rest.split("\n")[1]).toMatch(new RegExp(`^${Number(next) + 1}: hit`));
  });

  it("goes on with each page where the context of a match would fill it alone", async () => {
    const wide = Array.from({ length: 240 }, (_, i) => (i % 60 === 50 ? `hit ${i + 1}` : "漢".repeat(1900)));
    await using long = new Fixture({ "wide.txt": wide.join("\n") });
    const served = await long.serve();
    const seen: string[] = [];
    for (let offset = 0; offset < 4; ) {
      const page = await served.says("search_text", { pattern: "hit", context: 40, offset });
      expect(Buffer.byteLength(page)).toBeLessThan(64_000);
      expect(page).toContain("lines of context before the first match]");
      seen.push(...(page.match(/^\d+: hit \d+$/gm) ?? []));
      expect(seen.length).toBeGreaterThan(offset);
      offset = Number(/offset=(\d+)/.exec(page)?.[1] ?? 4);
      expect(offset).toBe(seen.length);
    }
    expect(seen).toEqual(["51: hit 51", "111: hit 111", "171: hit 171", "231: hit 231"]);
  });

  it("leaves out ignored, binary and, if asked, hidden files; .env is in", async () => {
    const files = async (params: Record<string, unknown>) =>
      (await server.says("search_text", { pattern: "foo", output: "files", ...params }))
        .split("\n")
        .slice(0, -1);
    expect(await files({})).toEqual([".env", "a.ts", "b/c.ts", "b/d.md", "utf16.txt"]);
    expect(await files({ hidden: false })).not.toContain(".env");
    expect(await files({ ignored: true })).toContain("out/e.ts");
  });

  it("cuts long lines with a mark", async () => {
    const said = await server.says("search_text", { pattern: "yyy" });
    expect(said).toMatch(/\n1: y{2000} \[…\]\n/);
  });

  it("says that nothing was found, and refuses broken patterns in one line", async () => {
    expect(await server.says("search_text", { pattern: "no such text" })).toBe("[no matches]");
    expect((await server.refuses("search_text", { pattern: "(" }))[0]).toBe(
      'invalid_input: "(" is not a valid regex: unclosed group',
    );
    expect((await server.refuses("search_text", { pattern: "(" }))[1]).toContain("literal: true");
    expect((await server.refuses("search_text", { pattern: "x", path: "nope" }))[0]).toMatch(/^not_found: /);
    expect((await server.refuses("search_text", { pattern: "x", glob: "../*" }))[0]).toMatch(
      /^invalid_input: /,
    );
  });
});
