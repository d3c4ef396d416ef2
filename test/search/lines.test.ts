// What counts as a line of a file that is searched, and where a match is in it.
import { describe, expect, it } from "vitest";
import { grep } from "../../src/engine/search/grep.ts";
import type { GrepOptions } from "../../src/engine/search/grep-terms.ts";
import type { Query } from "../../src/engine/search/ripgrep.ts";
import { all, Tree } from "./tree.ts";

async function lines(tree: Tree, query: Query, options: GrepOptions = {}): Promise<string[]> {
  using directory = tree.directory();
  const files = await all(grep(directory, query, { columns: true, ...options }));
  return files.flatMap(({ path, lines: found }) =>
    found.map(({ number, column = -1, text }) => `${path}:${number}:${column + 1}:${text}`),
  );
}

describe("lines of a search", () => {
  it("a large file with very many matching lines is searched, too", async () => {
    using tree = new Tree({ "a.txt": `needle ${"x".repeat(20)}\n`.repeat(180_000) });
    expect(await lines(tree, { pattern: "needl[e]" }, { limit: 170_000 })).toHaveLength(170_000);
  });

  it("a match without a column gets the first one, and the line is complete", async () => {
    using tree = new Tree({ "a.txt": "one\ntwo\n" });
    expect(await lines(tree, { pattern: "\\A" })).toEqual(["a.txt:1:1:one", "a.txt:2:1:two"]);
  });

  it("a carriage return can be sought, plainly and in an expression", async () => {
    using tree = new Tree({ "a.txt": "one\rtwo\nthree\n", "b.txt": "one\r\ntwo\r\n" });
    for (const query of [{ pattern: "e\rt", literal: true }, { pattern: "e\\rt" }, { pattern: "e\\x0Dt" }])
      expect(await lines(tree, query)).toEqual(["a.txt:1:3:one\rtwo"]);
    expect(await lines(tree, { pattern: "\r", literal: true, ignoreCase: true })).toHaveLength(3);
    // In a class it does not keep lines from ending with CRLF.
    using other = new Tree({ "a.txt": "one\r\ntwo\r\n" });
    expect(await lines(other, { pattern: "^t[^\\r\\n]+$" })).toEqual(["a.txt:2:1:two"]);
  });

  it("a line break in an expression matches nothing where lines are matched by themselves", async () => {
    using tree = new Tree({ "a.txt": "one\ntwo\n" });
    const found = (pattern: string) => lines(tree, { pattern, lineByLine: true });
    for (const pattern of ["one\\ntwo", "one\ntwo", "one\\x0atwo", "one\\x{A}", "e\\u000a"])
      expect(await found(pattern)).toEqual([]);
    expect(await found("e\\n?$|w[\\n\\]o]")).toEqual(["a.txt:1:3:one", "a.txt:2:2:two"]);
    await expect(found("one\\n(")).rejects.toMatchObject({ code: "invalid_pattern" });
  });
});
