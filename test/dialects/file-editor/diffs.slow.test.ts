// `apply_diffs`: anchored at lines of the original, all or none, and byte by byte.
import { describe, expect, it } from "vitest";
import { Fixture, lines } from "./fixture.ts";

describe("a diff", () => {
  it("that does not match shows the expected and the current lines", async () => {
    await using fixture = await Fixture.open({ "a.txt": "one\n  two\nthree\n" });
    const diff = { path: "a.txt", search_content: "two\n3", replace_content: "x", start_line: 2 };
    expect(await fixture.refuses("apply_diffs", diff)).toBe(
      "Content mismatch at line 2.\nExpected:\n2 | two\n3 | 3\nFound:\n2 |   two\n3 | three",
    );
    expect(await fixture.refuses("apply_diffs", { ...diff, search_content: "two\nthree" })).toContain(
      "Only whitespace differs: copy it exactly, or set trim to true.",
    );
    expect(
      await fixture.refuses("apply_diffs", { ...diff, start_line: 3, search_content: "three\n\n" }),
    ).toBe("Content mismatch at line 3.\nExpected:\n3 | three\n4 | \n5 | \nFound:\n3 | three\n4 | ");
    expect(await fixture.refuses("apply_diffs", { ...diff, start_line: 5 })).toBe(
      "Line number 5 exceeds file length (4 lines)",
    );
    expect(await fixture.refuses("apply_diffs", { ...diff, path: "no.txt" })).toBe("File not found: no.txt");
    expect(fixture.bytes("a.txt")).toBe("one\n  two\nthree\n");
  });

  it("of a long block shows the lines around the first difference", async () => {
    await using fixture = await Fixture.open({ "a.txt": lines(200) });
    const search_content = lines(200, { 150: "other" });
    const said = await fixture.refuses("apply_diffs", {
      path: "a.txt",
      search_content,
      replace_content: "",
      start_line: 1,
    });
    expect(said).toContain("150 | other");
    expect(said).toContain("150 | line 150");
    expect(said.length).toBeLessThan(2500);
  });

  it.each([
    ["a CRLF file", "a\r\nb\r\nc\r\n", 2, "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"],
    ["a file of mixed endings", "a\r\nb\nc\r\nd\n", 2, "b\nc", "B\nC", "a\r\nB\nC\r\nd\n"],
    ["the last line of a file without final newline", "a\nb", 2, "b", "x", "a\nx"],
    ["a file with a byte-order mark", "\xef\xbb\xbfa\nb\n", 1, "a", "x", "\xef\xbb\xbfx\nb\n"],
    ["an old encoding", "caf\xe9\nna\xefve\nb\n", 3, "b", "x", "caf\xe9\nna\xefve\nx\n"],
    ["an empty file", "", 1, "", "x", "x"],
    ["an empty line", "a\n\nb\n", 2, "", "x", "a\nx\nb\n"],
    ["lines that go away", "a\nb\nc\n", 2, "b", "", "a\nc\n"],
  ])(
    "in %s leaves every other byte",
    async (_, before, start_line, search_content, replace_content, after) => {
      await using fixture = await Fixture.open({ "a.txt": Buffer.from(before, "latin1") });
      await fixture.says("apply_diffs", { path: "a.txt", search_content, replace_content, start_line });
      expect(fixture.bytes("a.txt")).toBe(after);
    },
  );

  it("reports how many lines the file has lost", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a\nb\nc\n" });
    const diff = { path: "a.txt", search_content: "a\nb", replace_content: "ab", start_line: 1 };
    expect(await fixture.says("apply_diffs", diff)).toBe(
      "Successfully applied diff to a.txt: replaced 2 line(s) at line 1 (removed 1 line(s)). File now has 3 lines.",
    );
    const removal = { path: "a.txt", search_content: "ab", replace_content: "", start_line: 1 };
    expect(await fixture.says("apply_diffs", removal)).toBe(
      "Successfully applied diff to a.txt: replaced 1 line(s) at line 1 (removed 1 line(s)). File now has 2 lines.",
    );
    expect(fixture.bytes("a.txt")).toBe("c\n");
  });
});

describe("a batch of diffs", () => {
  const original = lines(10);
  const batch = {
    path: "a.txt",
    search_content: ["line 8", "line 2\nline 3", "wrong", "line 6"],
    replace_content: ["8a\n8b\n8c", "23", "x", "6a\n6b"],
    start_line: [8, 2, 5, 6],
  };

  it("with one bad diff changes nothing, and reports each", async () => {
    await using fixture = await Fixture.open({ "a.txt": original });
    expect(await fixture.refuses("apply_diffs", batch)).toBe(
      [
        "Batch diff operation (atomic) failed: 0/4 diffs applied to a.txt. Nothing was changed. File has 10 lines.",
        "Detailed results:",
        "Diff 1:\n  Status: not applied\n  Start Line: 8\n  Message: Matches at line 8, but another diff failed",
        "Diff 2:\n  Status: not applied\n  Start Line: 2\n  Message: Matches at line 2, but another diff failed",
        "Diff 3:\n  Status: failed\n  Start Line: 5\n  Message: Content mismatch at line 5.\n    Expected:\n    5 | wrong\n    Found:\n    5 | line 5",
        "Diff 4:\n  Status: not applied\n  Start Line: 6\n  Message: Matches at line 6, but another diff failed",
      ].join("\n\n"),
    );
    expect(fixture.bytes("a.txt")).toBe(original);
  });

  it("that is not atomic applies the good ones, each at its line of the original", async () => {
    await using fixture = await Fixture.open({ "a.txt": original });
    const said = await fixture.says("apply_diffs", { ...batch, atomic: false });
    expect(said).toContain(
      "Batch diff operation (non-atomic) completed: 3/4 diffs applied successfully to a.txt. File now has 12 lines.",
    );
    expect(said).toContain(
      "Diff 1:\n  Status: success\n  Start Line: 8\n  Message: Replaced 1 line(s) at line 8 (added 2 line(s))",
    );
    expect(said).toContain(
      "Diff 2:\n  Status: success\n  Start Line: 2\n  Message: Replaced 2 line(s) at line 2 (removed 1 line(s))",
    );
    expect(said).toContain(
      "Diff 3:\n  Status: failed\n  Start Line: 5\n  Message: Content mismatch at line 5.",
    );
    expect(fixture.bytes("a.txt")).toBe(
      "line 1\n23\nline 4\nline 5\n6a\n6b\nline 7\n8a\n8b\n8c\nline 9\nline 10",
    );
  });

  it("that is not atomic is an error where every diff fails", async () => {
    await using fixture = await Fixture.open({ "a.txt": original });
    const all = { ...batch, search_content: ["a", "b", "c", "d"], atomic: false };
    expect(await fixture.refuses("apply_diffs", all)).toContain(
      "Batch diff operation (non-atomic) failed: 0/4 diffs applied to a.txt.",
    );
    expect(fixture.bytes("a.txt")).toBe(original);
  });

  it.each([
    ["the same line", ["line 2", "line 2"], [2, 2], 2],
    ["a line of a block", ["line 1\nline 2\nline 3", "line 3"], [1, 3], 3],
    ["a block around a line", ["line 4", "line 3\nline 4\nline 5"], [4, 3], 4],
  ])("of which two want %s is refused", async (_, search_content, start_line, at) => {
    await using fixture = await Fixture.open({ "a.txt": original });
    const diffs = { path: "a.txt", search_content, replace_content: ["x", "y"], start_line };
    expect(await fixture.refuses("apply_diffs", diffs)).toContain(
      `Message: Diff 2 overlaps diff 1 at line ${at}`,
    );
    expect(fixture.bytes("a.txt")).toBe(original);
    expect(await fixture.says("apply_diffs", { ...diffs, atomic: false })).toContain("1/2 diffs applied");
  });

  it("of which two want the same empty line is refused", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a\n\nb" });
    const empty = {
      path: "a.txt",
      search_content: ["", ""],
      replace_content: ["x", "y"],
      start_line: [2, 2],
    };
    expect(await fixture.refuses("apply_diffs", empty)).toContain("Diff 2 overlaps diff 1 at line 2");
    const block = { ...empty, search_content: ["a\n", ""], start_line: [1, 2] };
    expect(await fixture.refuses("apply_diffs", block)).toContain("Diff 2 overlaps diff 1 at line 2");
    expect(fixture.bytes("a.txt")).toBe("a\n\nb");
  });

  it("may touch lines that are neighbours", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a\r\nb\r\nc\r\nd" });
    await fixture.says("apply_diffs", {
      path: "a.txt",
      search_content: ["b", "a", "c", "d"],
      replace_content: ["", "A", "C1\nC2", "D"],
      start_line: [2, 1, 3, 4],
    });
    expect(fixture.bytes("a.txt")).toBe("A\r\nC1\r\nC2\r\nD");
  });

  it("must have as many of each", async () => {
    await using fixture = await Fixture.open({ "a.txt": original });
    const unequal = "Array lengths for search_content, replace_content, and start_line must match";
    for (const change of [{ start_line: [8, 2] }, { replace_content: "x" }, { search_content: [] }]) {
      expect(await fixture.refuses("apply_diffs", { ...batch, ...change })).toBe(unequal);
    }
    expect(
      await fixture.refuses("apply_diffs", {
        path: "a.txt",
        search_content: [],
        replace_content: [],
        start_line: [],
      }),
    ).toContain("at least one diff");
    expect(await fixture.refuses("apply_diffs", { ...batch, start_line: [8, 0, 5, 6] })).toBe(
      "Invalid parameters: 'start_line[1]' must be at least 1, got 0",
    );
    expect(await fixture.refuses("apply_diffs", { ...batch, start_line: "8" })).toBe(
      "Invalid parameters: 'start_line' must be an integer or an array, got \"8\"",
    );
    expect(await fixture.refuses("apply_diffs", { ...batch, search_content: ["a", 5] })).toBe(
      "Invalid parameters: 'search_content[1]' must be a string, got 5",
    );
  });
});
