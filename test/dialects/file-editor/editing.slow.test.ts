// Inserting and replacing: positions from either end, line ranges, and every byte outside of the edit as it was.
import { describe, expect, it } from "vitest";
import { Fixture, lines } from "./fixture.ts";

describe("an insertion", () => {
  it.each([
    ["before a line", "a\nb\n", 2, "x", "a\nx\nb\n"],
    ["at the top", "a\nb\n", 1, "x\ny", "x\ny\na\nb\n"],
    ["after the last line by its number", "a\nb", 3, "x", "a\nb\nx"],
    ["at the end of a file without final newline", "a\nb", 0, "x", "a\nb\nx"],
    ["at the end of a file with a final newline", "a\nb\n", 0, "x", "a\nb\nx\n"],
    ["before the last line", "a\nb", -1, "x", "a\nx\nb"],
    ["before the empty last line", "a\nb\n", -1, "x", "a\nb\nx\n"],
    ["before the first line, from the end", "a\nb", -2, "x", "x\na\nb"],
    ["in a CRLF file", "a\r\nb\r\n", 2, "x\ny", "a\r\nx\r\ny\r\nb\r\n"],
    ["at the end of a CRLF file", "a\r\nb", 0, "x", "a\r\nb\r\nx"],
    ["in a file with a byte-order mark", "\xef\xbb\xbfa\n", 1, "x", "\xef\xbb\xbfx\na\n"],
    ["in an old encoding", "caf\xe9 na\xefve\n", 1, "x", "x\ncaf\xe9 na\xefve\n"],
    ["in UTF-16", "\xff\xfea\0\n\0", 2, "x", "\xff\xfea\0\n\0x\0\n\0"],
    ["in an empty file", "", 1, "x", "x\n"],
    ["at the end of an empty file", "", 0, "x", "x\n"],
    ["of an empty line", "a\nb\n", 2, "", "a\n\nb\n"],
  ])("%s leaves every other byte", async (_, before, line, content, after) => {
    await using fixture = await Fixture.open({ "a.txt": Buffer.from(before, "latin1") });
    const said = await fixture.says("insert_contents", { path: "a.txt", line, content });
    expect(fixture.bytes("a.txt")).toBe(after);
    const count = content.split("\n").length;
    const total = before.split("\n").length + count;
    const position = line === 0 ? "end of file" : line;
    expect(said).toBe(
      `Successfully inserted ${count} line(s) at position ${position} in a.txt. File now has ${total} lines.`,
    );
  });

  it("out of range is refused", async () => {
    await using fixture = await Fixture.open({ "a.txt": lines(8) });
    const at = (line: unknown) => fixture.refuses("insert_contents", { path: "a.txt", line, content: "x" });
    expect(await at(50)).toBe("Line number 50 exceeds file length (8 lines)");
    expect(await at(10)).toBe("Line number 10 exceeds file length (8 lines)");
    expect(await at(-9)).toBe("Negative line number -9 is out of range for file with 8 lines");
    expect(await at(1.5)).toContain("'line' must be an integer or an array, got 1.5");
    expect(await at(null)).toContain("'line'");
    expect(fixture.bytes("a.txt")).toBe(lines(8));
  });

  it("in several files continues after a failure, and reports each in the caller's order", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a", "b.txt": "b" });
    const args = { path: ["a.txt", "no.txt", "b.txt", "../x"], line: [1, 1, 9, 1], content: "x" };
    expect(await fixture.says("insert_contents", args)).toBe(
      "Successfully processed 1 file(s):\n\n" +
        "✅ a.txt: Successfully inserted 1 line(s) at position 1 in a.txt. File now has 2 lines.\n" +
        "❌ no.txt: File not found: no.txt\n" +
        "❌ b.txt: Line number 9 exceeds file length (1 lines)\n" +
        "❌ ../x: Access denied: Path is outside the workspace boundary",
    );
    expect([fixture.bytes("a.txt"), fixture.bytes("b.txt")]).toEqual(["x\na", "b"]);
    expect(await fixture.refuses("insert_contents", { path: ["no.txt"], line: 1, content: "x" })).toContain(
      "❌ no.txt: File not found: no.txt",
    );
  });

  it("needs as many lines and contents as files", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a", "b.txt": "b" });
    const path = ["a.txt", "b.txt"];
    const refuses = (args: object) => fixture.refuses("insert_contents", args);
    expect(await refuses({ path, line: [1], content: "x" })).toBe(
      "Path count (2) doesn't match line count (1)",
    );
    expect(await refuses({ path, line: 1, content: ["x", "y", "z"] })).toBe(
      "Path count (2) doesn't match content count (3)",
    );
    expect(await refuses({ path: "a.txt", line: [1, 2], content: "x" })).toBe(
      "Path count (1) doesn't match line count (2)",
    );
    expect(await refuses({ path: [], line: 1, content: "x" })).toContain("name at least one file");
    expect([fixture.bytes("a.txt"), fixture.bytes("b.txt")]).toEqual(["a", "b"]);
  });

  it("loses nothing when many come at once", async () => {
    await using fixture = await Fixture.open({ "a.txt": "end" });
    const numbers = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    await Promise.all(
      numbers.map(content => fixture.says("insert_contents", { path: "a.txt", line: 1, content })),
    );
    expect(fixture.bytes("a.txt").split("\n").sort()).toEqual([...numbers, "end"].sort());
  });
});

describe("a replacement", () => {
  const replace = { path: "a.txt", search: "one", replace: "1" };

  it("stays in its lines, and says which they were", async () => {
    const before = "one one\r\none\nOne\r\none";
    await using fixture = await Fixture.open({ "a.txt": before });
    const says = (args: object) => fixture.says("search_and_replace", { ...replace, ...args });
    expect(await says({ start_line: 2, end_line: 3 })).toBe(
      "Successfully replaced 1 occurrence(s) in a.txt (lines 2-3)",
    );
    expect(fixture.bytes("a.txt")).toBe("one one\r\n1\nOne\r\none");
    expect(await says({ start_line: 3, ignore_case: true })).toBe(
      "Successfully replaced 2 occurrence(s) in a.txt (lines 3-4) (case-insensitive)",
    );
    expect(
      await says({ end_line: 99, use_regex: true, search: "^O(NE)", replace: "<$1>", ignore_case: true }),
    ).toBe(
      "Successfully replaced 1 occurrence(s) in a.txt (lines 1-99) using regex pattern (case-insensitive)",
    );
    expect(fixture.bytes("a.txt")).toBe("<ne> one\r\n1\n1\r\n1");
  });

  it("without a hit leaves the file untouched", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a\nb\n" });
    expect(await fixture.says("search_and_replace", replace)).toBe(
      "Successfully replaced 0 occurrence(s) in a.txt",
    );
    expect(await fixture.says("search_and_replace", { ...replace, use_regex: true })).toBe(
      "Successfully replaced 0 occurrence(s) in a.txt using regex pattern",
    );
    expect(await fixture.says("search_and_replace", { ...replace, search: "a\nb" })).toMatch(
      /^Successfully replaced 0 occurrence\(s\) in a\.txt\nNote: .*line by line/,
    );
    expect(fixture.bytes("a.txt")).toBe("a\nb\n");
  });

  it("takes $1 for a group in regex mode only", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a.c abc $5 😀\n" });
    await fixture.says("search_and_replace", { path: "a.txt", search: "a.c", replace: "$1$&" });
    expect(fixture.bytes("a.txt")).toBe(Buffer.from("$1$& abc $5 😀\n").toString("latin1"));
    await fixture.says("search_and_replace", {
      path: "a.txt",
      search: "(b)|(😀$)",
      replace: "[$1$2$9$$]",
      use_regex: true,
    });
    expect(Buffer.from(fixture.bytes("a.txt"), "latin1").toString()).toBe("$1$& a[b$9$]c $5 [😀$9$]\n");
  });

  it("never cuts a character in two", async () => {
    await using fixture = await Fixture.open({ "a.txt": "😀a\n" });
    await fixture.says("search_and_replace", {
      path: "a.txt",
      search: "^.\\-?",
      replace: "x",
      use_regex: true,
    });
    expect(fixture.bytes("a.txt")).toBe("xa\n");
  });

  it("is refused where it makes no sense", async () => {
    await using fixture = await Fixture.open({ "a.txt": lines(20) });
    const refuses = (args: object) => fixture.refuses("search_and_replace", { ...replace, ...args });
    expect(await refuses({ start_line: 5, end_line: 3 })).toBe(
      "start_line (5) cannot be greater than end_line (3)",
    );
    expect(await refuses({ start_line: 50 })).toBe("Line number 50 exceeds file length (20 lines)");
    expect(await refuses({ start_line: 0 })).toBe(
      "Invalid parameters: 'start_line' must be at least 1, got 0",
    );
    expect(await refuses({ search: "(", use_regex: true })).toMatch(/^Invalid regular expression: \/\(\/: /);
    expect(await refuses({ search: "" })).toBe("search must not be empty");
    expect(await refuses({ path: "no/no.txt" })).toBe("File not found: no/no.txt");
    expect(await refuses({ path: "." })).toBe("Path is a directory: .");
    expect(fixture.bytes("a.txt")).toBe(lines(20));
  });

  it("of a pattern that never finishes is stopped", async () => {
    await using fixture = await Fixture.open({ "a.txt": `${"a".repeat(40)}!` });
    const endless = { path: "a.txt", search: "^(a+)+$", replace: "x", use_regex: true };
    expect(await fixture.refuses("search_and_replace", endless)).toContain("Timed out");
  });
});
