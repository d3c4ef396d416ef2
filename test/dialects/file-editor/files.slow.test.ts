// Reading, writing and listing whole files: one or several, as the contract counts lines.
import { chmodSync, linkSync, mkdirSync, statSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fixture, lines } from "./fixture.ts";

describe("reading", () => {
  it("numbers what lies between line breaks", async () => {
    await using fixture = await Fixture.open({
      "two.txt": "a\n",
      "empty.txt": "",
      "crlf.txt": "a\r\nb\r\n",
      "mark.txt": "\ufeffa",
      "latin.txt": Buffer.from("caf\xe9 na\xefve, d\xe9j\xe0 vu\n", "latin1"),
    });
    const reads = (path: string) => fixture.says("read_files", { path });
    expect(await reads("two.txt")).toBe("1 | a\n2 | ");
    expect(await reads("empty.txt")).toBe("1 | ");
    expect(await reads("crlf.txt")).toBe("1 | a\n2 | b\n3 | ");
    expect(await reads("mark.txt")).toBe("1 | a");
    expect(await reads("latin.txt")).toBe("1 | café naïve, déjà vu\n2 | ");
  });

  it("accepts a range that ends after the last line of the file", async () => {
    await using fixture = await Fixture.open({ "a.txt": lines(20) });
    const range = { path: "a.txt" };
    expect(await fixture.says("read_files", { ...range, line_range: "19-99" })).toBe(
      "19 | line 19\n20 | line 20",
    );
    const refuses = (line_range: unknown) => fixture.refuses("read_files", { ...range, line_range });
    expect(await refuses("50-60")).toBe("Line number 50 exceeds file length (20 lines)");
    expect(await refuses("5-3")).toBe("Invalid line range 5-3: the start is greater than the end");
    expect(await refuses("0-3")).toBe("Invalid line range 0-3: lines count from 1");
    expect(await refuses("5")).toBe(
      "Invalid parameters: 'line_range' must be a text that matches ^\\d+-\\d+$, got \"5\"",
    );
    expect(await fixture.refuses("read_files", { path: ["a.txt"], line_range: "1-2" })).toBe(
      "line_range can only be used with a single file",
    );
  });

  it("of a range works in files of any size", async () => {
    await using fixture = await Fixture.open({
      "big.txt": `${"0123456789\n".repeat(300)}last\n`,
      "holes.bin": "",
    });
    truncateSync(join(fixture.path, "holes.bin"), 50_000_000);
    await using small = await Fixture.open(
      { "big.txt": `${"0123456789\n".repeat(300)}last\n` },
      { args: ["--max-file-bytes", "1000"] },
    );
    expect(await small.refuses("read_files", { path: "big.txt" })).toBe(
      "File too large: big.txt has 3305 bytes (limit 1000). read_files with line_range reads parts of it.",
    );
    for (const line_range of ["2-4", "300-301", "300-999", "302-302"]) {
      const args = { path: "big.txt", line_range };
      expect(await small.says("read_files", args)).toBe(await fixture.says("read_files", args));
    }
    expect(await small.refuses("read_files", { path: "big.txt", line_range: "303-303" })).toBe(
      "Line number 303 exceeds file length (302 lines)",
    );
    expect(await fixture.refuses("read_files", { path: "holes.bin", line_range: "1-2" })).toBe(
      "File appears to be binary: holes.bin",
    );
  });

  it("of several files lists those that fail", async () => {
    await using fixture = await Fixture.open({ "a.txt": "a", "b.bin": "x\0y" });
    expect(await fixture.says("read_files", { path: ["a.txt", "no.txt", "b.bin", "../x"] })).toBe(
      "Successfully read 1 file(s):\n\n=== a.txt (1 lines) ===\n1 | a\n\nErrors encountered:\n" +
        "  - no.txt: File not found: no.txt\n  - b.bin: File appears to be binary: b.bin\n" +
        "  - ../x: Access denied: Path is outside the workspace boundary",
    );
    expect(await fixture.refuses("read_files", { path: ["no.txt", "."] })).toBe(
      "No file could be read.\n\nErrors encountered:\n  - no.txt: File not found: no.txt\n  - .: Path is a directory: .",
    );
    expect(await fixture.refuses("read_files", { path: [] })).toContain("name at least one file");
    expect(await fixture.refuses("read_files", {})).toBe(
      "Invalid parameters: 'path' is required (a string or an array)",
    );
  });
});

describe("writing", () => {
  it("is exact, keeps the mode, and makes directories", async () => {
    await using fixture = await Fixture.open({ "a.sh": "\ufeffold\r\n" });
    chmodSync(join(fixture.path, "a.sh"), 0o750);
    await fixture.says("write_files", { path: "a.sh", content: "new\n", line_count: 2 });
    await fixture.says("write_files", { path: "x/y/z.txt", content: "a\r\nü", line_count: 2 });
    expect(fixture.bytes("a.sh")).toBe("new\n");
    expect(statSync(join(fixture.path, "a.sh")).mode & 0o777).toBe(0o750);
    expect(fixture.bytes("x/y/z.txt")).toBe("a\r\n\xc3\xbc");
  });

  it("reports a wrong line_count behind the documented sentence", async () => {
    await using fixture = await Fixture.open();
    expect(await fixture.says("write_files", { path: "a.txt", content: "a\n", line_count: 1 })).toBe(
      "File written successfully: a.txt (2 lines)\nNote: line_count for a.txt was 1, but the content has 2 lines.",
    );
    expect(
      await fixture.says("write_files", { path: ["a.txt", "b.txt"], content: ["", "x"], line_count: [1, 0] }),
    ).toBe(
      "Successfully wrote 2 files (2 total lines):\n  - a.txt (1 lines)\n  - b.txt (1 lines)\nNote: line_count for b.txt was 0, but the content has 1 lines.",
    );
  });

  it("of several files is all or nothing", async () => {
    await using fixture = await Fixture.open({ "a.txt": "old", "dir/x": "" });
    const refuses = (path: readonly string[], content: unknown = "new", line_count: unknown = 1) =>
      fixture.refuses("write_files", { path, content, line_count });
    expect(await refuses(["a.txt", "b.txt"], ["new"])).toBe("Path count (2) doesn't match content count (1)");
    expect(await refuses(["a.txt", "b.txt"], "new", [1, 2, 3])).toBe(
      "Path count (2) doesn't match line_count count (3)",
    );
    expect(await refuses(["a.txt", "../b.txt"])).toBe(
      "Access denied: Path is outside the workspace boundary",
    );
    expect(await refuses(["a.txt", "dir"])).toBe("Path is a directory: dir");
    expect(await refuses(["a.txt", "."])).toBe("Path is a directory: .");
    expect(await refuses(["a.txt", "./a.txt"])).toBe("Path is named twice: ./a.txt");
    expect(await refuses(["a.txt", "b.txt"], "new", -1)).toBe(
      "Invalid parameters: 'line_count' must be at least 0, got -1",
    );
    expect(fixture.bytes("a.txt")).toBe("old");
    expect(await fixture.says("list_files", { path: "." })).toBe("file: a.txt\ndirectory: dir");
  });

  it("to a file with other names says what becomes of them", async () => {
    await using fixture = await Fixture.open({ "a.txt": "old" });
    linkSync(join(fixture.path, "a.txt"), join(fixture.path, "b.txt"));
    expect(await fixture.says("insert_contents", { path: "a.txt", line: 1, content: "x" })).toMatch(
      /^Successfully inserted .* File now has 2 lines\.\nNote: other hard links to the old file keep the old content \(1\)\.$/,
    );
    expect(fixture.bytes("b.txt")).toBe("old");
  });
});

describe("listing", () => {
  it("goes down in depth, sorted by name, and a link is a file", async () => {
    await using fixture = await Fixture.open({
      "a/b.txt": "",
      "a/c/d.txt": "",
      "a.txt": "",
      "a-b": "",
      ".hidden/x": "",
      B: "",
      ".gitignore": "a\n",
      "node_modules/m/index.js": "",
    });
    symlinkSync("a", join(fixture.path, "link"));
    expect(await fixture.says("list_files", { path: ".", recursive: true })).toBe(
      [
        "file: .gitignore",
        "directory: .hidden",
        "file: .hidden/x",
        "file: B",
        "directory: a",
        "file: a/b.txt",
        "directory: a/c",
        "file: a/c/d.txt",
        "file: a-b",
        "file: a.txt",
        "file: link",
        "directory: node_modules",
        "directory: node_modules/m",
        "file: node_modules/m/index.js",
      ].join("\n"),
    );
    expect(await fixture.says("list_files", { path: "link" })).toBe("file: b.txt\ndirectory: c");
    expect(await fixture.says("list_files", { path: join(fixture.path, "a/c") })).toBe("file: d.txt");
  });

  it("reports an empty directory, one that is not there, and a file", async () => {
    await using fixture = await Fixture.open({ "a.txt": "", "dir/x": "" });
    mkdirSync(join(fixture.path, "empty"));
    expect(await fixture.says("list_files", { path: "empty", recursive: true })).toBe("(empty directory)");
    expect(await fixture.refuses("list_files", { path: "nope" })).toBe("Directory not found: nope");
    expect(await fixture.refuses("list_files", { path: "a.txt" })).toBe("Not a directory: a.txt");
    expect(await fixture.refuses("list_files", { path: "" })).toBe("Path is empty");
  });
});
