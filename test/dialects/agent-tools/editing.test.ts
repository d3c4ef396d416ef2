// `write_file`, `edit_file` and `multi_edit` of the `agent-tools` contract, sentence by sentence.
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
} from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  fixture = new Fixture();
  mkdirSync(fixture.path("dir"));
  server = await fixture.serve();
});
afterAll(async () => {
  await fixture.leave();
  const left = readdirSync(fixture.root).filter(name => name.startsWith(".polyfs-"));
  await fixture[Symbol.asyncDispose]();
  expect(left).toEqual([]);
});

describe("write_file", () => {
  const write = (path: string, content: string) => server.says("write_file", { path, content });

  it("creates a file, and overwrites it, exactly as given", async () => {
    expect(await write("w.txt", "größe\r\n\ufeffx")).toBe("Wrote 13 bytes to w.txt (created).");
    expect(fixture.read("w.txt")).toBe("größe\r\n\ufeffx");
    expect(await write(fixture.path("w.txt"), "")).toBe("Wrote 0 bytes to w.txt (overwritten).");
    expect(fixture.read("w.txt")).toBe("");
    expect(await write("./dir/../dir/n.txt", "n")).toBe("Wrote 1 bytes to dir/n.txt (created).");
  });

  it("keeps the mode of the file", async () => {
    fixture.write("mode.sh", "old");
    chmodSync(fixture.path("mode.sh"), 0o750);
    await write("mode.sh", "new");
    expect(statSync(fixture.path("mode.sh")).mode & 0o777).toBe(0o750);
  });

  it("needs the parent directory", async () => {
    const { error, message } = await server.refuses("write_file", { path: "no/such/x.txt", content: "" });
    expect(error).toBe("not_found");
    expect(message).toBe("Parent directory does not exist: no/such/x.txt (create it first)");
    expect(fixture.has("no")).toBe(false);
  });

  it("refuses a directory, a path below a file, a path outside, and content that is not text", async () => {
    fixture.write("file.txt", "x");
    const refused = (path: string, content = "") => server.refuses("write_file", { path, content });
    expect(await refused("dir")).toEqual({ error: "not_a_file", message: "Path is a directory: dir" });
    expect(await refused(".")).toEqual({ error: "not_a_file", message: "Path is a directory: ." });
    expect(await refused("file.txt/x")).toMatchObject({ error: "not_a_file" });
    expect(await refused("../x.txt")).toMatchObject({ error: "path_escape" });
    expect(await refused("lone.txt", "\ud800")).toMatchObject({ error: "invalid_input" });
    expect(fixture.has("lone.txt")).toBe(false);
  });

  it("reports a name that the system does not take as an error of the system", async () => {
    expect(await server.refuses("write_file", { path: "n".repeat(300), content: "" })).toMatchObject({
      error: "invalid_input",
    });
  });

  it("does not write through a link", async () => {
    fixture.write("target.txt", "kept");
    symlinkSync("target.txt", fixture.path("link.txt"));
    symlinkSync("/tmp/polyfs-nowhere", fixture.path("dangling.txt"));
    expect(await server.refuses("write_file", { path: "link.txt", content: "x" })).toEqual({
      error: "invalid_input",
      message: "Path is a symbolic link, and writing through links is not allowed: link.txt",
    });
    expect(await server.refuses("write_file", { path: "dangling.txt", content: "x" })).toMatchObject({
      error: "invalid_input",
    });
    expect(fixture.read("target.txt")).toBe("kept");
    expect(readlinkSync(fixture.path("link.txt"))).toBe("target.txt");
  });
});

describe("edit_file", () => {
  const edit = (path: string, old_string: string, new_string: string, more: object = {}) =>
    server.says("edit_file", { path, old_string, new_string, ...more });
  const refused = (path: string, old_string: string, new_string: string, more: object = {}) =>
    server.refuses("edit_file", { path, old_string, new_string, ...more });

  it("replaces one exact occurrence, literally", async () => {
    fixture.write("e.txt", "a.c abc\n");
    expect(await edit("e.txt", "a.c", "$& $1")).toBe("Replaced 1 occurrence in e.txt.");
    expect(fixture.read("e.txt")).toBe("$& $1 abc\n");
  });

  it("replaces every exact occurrence where asked to", async () => {
    fixture.write("e.txt", "x x\nx\n");
    expect(await edit("e.txt", "x", "yy", { replace_all: true })).toBe("Replaced 3 occurrences in e.txt.");
    expect(fixture.read("e.txt")).toBe("yy yy\nyy\n");
    expect(await edit("e.txt", "yy\n", "", { replace_all: true })).toBe("Replaced 2 occurrences in e.txt.");
    fixture.write("e.txt", "  one\n");
    expect(await refused("e.txt", "\tone", "two", { replace_all: true })).toMatchObject({
      error: "no_match",
      message: expect.stringContaining("It is at line 1 with different whitespace"),
    });
  });

  it("refuses two places and names their lines, 20 at the most", async () => {
    fixture.write("e.txt", "x\ny\nx\n");
    expect(await refused("e.txt", "x", "z")).toEqual({
      error: "ambiguous_match",
      message:
        "old_string matches 2 places in e.txt (lines 1, 3). Add surrounding lines to make it unique, or set replace_all.",
    });
    fixture.write("e.txt", "x\n".repeat(50));
    const { message } = await refused("e.txt", "x", "z");
    expect(message).toContain("matches 50 places in e.txt (lines 1, 2, 3,");
    expect(message).toContain("19, 20, …)");
    expect(fixture.read("e.txt")).toBe("x\n".repeat(50));
  });

  it("refuses identical strings, an empty old_string, and unknown parameters", async () => {
    fixture.write("e.txt", "x\n");
    expect(await refused("e.txt", "x", "x")).toMatchObject({ error: "invalid_input" });
    expect(await refused("e.txt", "", "x")).toMatchObject({ error: "invalid_input" });
    expect(await refused("e.txt", "x", "y", { all: true })).toEqual({
      error: "invalid_input",
      message: "Invalid input: 'all' is not a parameter of this tool",
    });
    expect(await server.refuses("edit_file", { path: "e.txt", old_string: "x" })).toMatchObject({
      error: "invalid_input",
      message: expect.stringContaining("'new_string' is required"),
    });
    expect(await server.refuses("edit_file", { path: 1, old_string: "x", new_string: "y" })).toMatchObject({
      error: "invalid_input",
    });
  });

  it("refuses what is missing, a directory, binary, UTF-16, too large, outside, or behind a link", async () => {
    fixture.write("bin", "x\0");
    fixture.write("utf16.txt", Buffer.from("\ufeffx\n", "utf16le"));
    fixture.write("large.txt", "x");
    truncateSync(fixture.path("large.txt"), 20_000_001);
    fixture.write("real.txt", "x");
    symlinkSync("real.txt", fixture.path("to-real.txt"));
    expect(await refused("none/x.txt", "x", "y")).toEqual({
      error: "not_found",
      message: "No such file: none/x.txt",
    });
    expect(await refused("dir", "x", "y")).toMatchObject({ error: "not_a_file" });
    expect(await refused("bin", "x", "y")).toEqual({
      error: "is_binary",
      message: "File appears to be binary: bin",
    });
    expect(await refused("utf16.txt", "x", "y")).toEqual({
      error: "is_binary",
      message: "File appears to be binary: utf16.txt (UTF-16 can be read but not edited)",
    });
    expect(await refused("large.txt", "x", "y")).toMatchObject({
      error: "too_large",
      path: "large.txt",
      size: 20_000_001,
      limit: 20_000_000,
    });
    expect(await refused("../x.txt", "x", "y")).toMatchObject({ error: "path_escape" });
    expect(await refused("to-real.txt", "x", "y")).toMatchObject({ error: "invalid_input" });
    expect(fixture.read("real.txt")).toBe("x");
  });

  describe("where nothing matches exactly", () => {
    const disclosed = "Replaced 1 occurrence in t.txt (whitespace-tolerant match, ";

    it("takes a block with another indentation, and puts new_string in verbatim", async () => {
      fixture.write("t.txt", "if (x) {\n\t\ta();\n\t\t  b();\n}\n");
      const said = await edit("t.txt", "a();\n  b();", "c();");
      expect(said).toBe(`${disclosed}indentation differed; re-read the file to check the result).`);
      expect(fixture.read("t.txt")).toBe("if (x) {\nc();\n}\n");
    });

    it("but not if two blocks match", async () => {
      const content = "  a();\n  b();\nx\n    a();\n    b();\n";
      fixture.write("t.txt", content);
      expect(await refused("t.txt", "a();\nb();", "c();")).toEqual({
        error: "ambiguous_match",
        message: expect.stringMatching(/ignoring whitespace, it matches 2 places in t\.txt \(lines 1, 4\)/),
      });
      expect(fixture.read("t.txt")).toBe(content);
    });

    it("takes lines that differ in blanks at their ends", async () => {
      fixture.write("t.txt", "  a();  \n\tb();\n");
      expect(await edit("t.txt", "a();\n   b();\n", "c();\n")).toContain(disclosed);
      expect(fixture.read("t.txt")).toBe("c();\n");
    });

    it("but not if two runs of lines match", async () => {
      fixture.write("t.txt", "  a(); \n b();\n--\n a();\n  b(); \n");
      expect(await refused("t.txt", "a();\n   b();", "c();")).toMatchObject({ error: "ambiguous_match" });
    });

    it("takes lines that differ in the amount of whitespace", async () => {
      fixture.write("t.txt", "let  a   =\t1;\n");
      expect(await edit("t.txt", "let a = 1;", "let b;")).toContain(disclosed);
      expect(fixture.read("t.txt")).toBe("let b;\n");
    });

    it("but not if two places match, or if whitespace is missing altogether", async () => {
      fixture.write("t.txt", "a  = 1\na =  1\n");
      expect(await refused("t.txt", "a = 1", "b")).toMatchObject({ error: "ambiguous_match" });
      fixture.write("t.txt", "a=1\n");
      expect(await refused("t.txt", "a = 1", "b")).toMatchObject({ error: "no_match" });
    });

    it("takes the trimmed text inside a line", async () => {
      fixture.write("t.txt", "call(alpha, beta);\n");
      expect(await edit("t.txt", "  alpha, beta \n", "x")).toContain(disclosed);
      expect(fixture.read("t.txt")).toBe("call(x);\n");
    });

    it("but not if it occurs twice", async () => {
      fixture.write("t.txt", "f(alpha) g(alpha)\n");
      expect(await refused("t.txt", " alpha ", "x")).toMatchObject({ error: "ambiguous_match" });
    });

    it("uses the strictest way that matches, even if looser ones match twice", async () => {
      fixture.write("t.txt", "  x = 1\n  x  =  1\n");
      expect(await edit("t.txt", "\tx = 1", "y")).toContain("indentation differed");
      expect(fixture.read("t.txt")).toBe("y\n  x  =  1\n");
    });

    it("does not accept a region that is 500 characters longer", async () => {
      const content = `a${" ".repeat(600)}b\n`;
      fixture.write("t.txt", content);
      expect(await refused("t.txt", "a b", "x")).toMatchObject({ error: "no_match" });
      expect(fixture.read("t.txt")).toBe(content);
    });

    it("says that line numbers were pasted, or where the text differs", async () => {
      fixture.write("t.txt", "alpha\nbeta gamma\n");
      expect(await refused("t.txt", "     1\talpha\n     2\tbeta gamma", "x")).toMatchObject({
        error: "no_match",
        message: expect.stringContaining("line numbers"),
      });
      expect(await refused("t.txt", "Beta Gamma", "x")).toMatchObject({
        error: "no_match",
        message: "old_string was not found in t.txt. It is at line 2 in different case:\n     2\tbeta gamma",
      });
      expect(await refused("t.txt", "zeta", "x")).toMatchObject({ error: "no_match" });
    });
  });

  describe("every byte outside the edit stays", () => {
    const cases: readonly (readonly [string, string, string, string, string])[] = [
      ["CRLF, edited with LF text", "a\r\nb\r\nc\r\n", "a\nb", "A\nX\nB", "A\r\nX\r\nB\r\nc\r\n"],
      ["LF, edited with CRLF text", "a\nb\nc\n", "a\r\nb", "A\r\nB", "A\nB\nc\n"],
      ["lone CR", "a\rb\rc\r", "b", "B\nB2", "a\rB\rB2\rc\r"],
      ["a byte-order mark", "\ufeffa\nb\n", "a", "A", "\ufeffA\nb\n"],
      ["no final newline", "a\nb", "b", "B", "a\nB"],
      ["mixed endings, text changed inside a line", "a\r\nb\nc\r\nd\n", "b\nc", "B\nC", "a\r\nB\nC\r\nd\n"],
      ["mixed endings, a line added", "a\r\nb\nc\r\nd\r\n", "b", "b\nx", "a\r\nb\r\nx\nc\r\nd\r\n"],
      ["trailing blanks elsewhere", "a  \n\t\nb\n", "b", "B", "a  \n\t\nB\n"],
    ];
    it.each(cases)("%s", async (_, before, old_string, new_string, after) => {
      fixture.write("b.txt", before);
      await edit("b.txt", old_string, new_string);
      expect(fixture.read("b.txt")).toBe(after);
    });

    it("bytes that are not UTF-8", async () => {
      fixture.write("b.txt", Buffer.from("caf\xe9 \xff\xfe x\nold\n", "latin1"));
      await edit("b.txt", "old", "größe");
      const kept = Buffer.from("caf\xe9 \xff\xfe x\n", "latin1");
      expect(fixture.bytes("b.txt")).toEqual(Buffer.concat([kept, Buffer.from("größe\n")]));
    });

    it("the mode", async () => {
      fixture.write("b.txt", "x");
      chmodSync(fixture.path("b.txt"), 0o711);
      await edit("b.txt", "x", "y");
      expect(statSync(fixture.path("b.txt")).mode & 0o777).toBe(0o711);
    });
  });
});

describe("a file with several hard links", () => {
  it("is replaced under this name only, and the answer says that there were others", async () => {
    fixture.write("h1.txt", "old");
    linkSync(fixture.path("h1.txt"), fixture.path("h2.txt"));
    const said = await server.says("edit_file", { path: "h1.txt", old_string: "old", new_string: "new" });
    expect(said).toBe(
      "Replaced 1 occurrence in h1.txt. Note: 1 other hard link to the old file keeps the old content.",
    );
    expect([fixture.read("h1.txt"), fixture.read("h2.txt")]).toEqual(["new", "old"]);
  });

  it("is rewritten in place with --hard-links keep", async () => {
    await using other = new Fixture({ "h1.txt": "old" });
    linkSync(other.path("h1.txt"), other.path("h2.txt"));
    linkSync(other.path("h1.txt"), other.path("h3.txt"));
    const keeping = await other.serve({ args: ["--hard-links", "keep"] });
    expect(await keeping.says("write_file", { path: "h1.txt", content: "new" })).toBe(
      "Wrote 3 bytes to h1.txt (overwritten). Note: 2 other hard links to the same file changed with it.",
    );
    expect(other.read("h3.txt")).toBe("new");
    expect(statSync(other.path("h1.txt")).nlink).toBe(3);
  });
});

describe("multi_edit", () => {
  const multi = (edits: object[], path = "m.txt") => ({ path, edits });

  it("applies edits in order, each on the result of the one before", async () => {
    fixture.write("m.txt", "one\r\ntwo\r\n");
    const edits = [
      { old_string: "one", new_string: "three" },
      { old_string: "three", new_string: "four" },
      { old_string: "t", new_string: "T", replace_all: true },
    ];
    expect(await server.says("multi_edit", multi(edits))).toBe("Applied 3 edits to m.txt.");
    expect(fixture.read("m.txt")).toBe("four\r\nTwo\r\n");
    expect(await server.says("multi_edit", multi([{ old_string: "four", new_string: "5" }]))).toBe(
      "Applied 1 edit to m.txt.",
    );
  });

  it("writes nothing where one edit fails, and names it", async () => {
    fixture.write("m.txt", "one two two\n");
    const first = { old_string: "one", new_string: "1" };
    const refused = (...edits: object[]) => server.refuses("multi_edit", multi([first, ...edits]));
    expect(await refused({ old_string: "three", new_string: "3" })).toMatchObject({
      error: "no_match",
      message: expect.stringMatching(/^edit\[1\]: old_string was not found in m\.txt/),
      index: 1,
    });
    expect(await refused(first)).toMatchObject({ error: "no_match", index: 1 });
    expect(await refused({ old_string: "two", new_string: "2" })).toMatchObject({
      error: "ambiguous_match",
      message: expect.stringMatching(/^edit\[1\]: /),
      index: 1,
    });
    expect(await refused({ old_string: "two", new_string: "two" })).toMatchObject({
      error: "invalid_input",
      message: expect.stringMatching(/^edit\[1\]: old_string and new_string are identical/),
      index: 1,
    });
    expect(fixture.read("m.txt")).toBe("one two two\n");
  });

  it("discloses each tolerant match", async () => {
    fixture.write("m.txt", "  a\nb\n");
    const edits = [
      { old_string: "b", new_string: "B" },
      { old_string: "\ta\n", new_string: "A\n" },
    ];
    expect(await server.says("multi_edit", multi(edits))).toBe(
      "Applied 2 edits to m.txt (edit[1]: whitespace-tolerant match, indentation differed; re-read the file to check the result).",
    );
    expect(fixture.read("m.txt")).toBe("A\nB\n");
  });

  it("needs at least one edit, with both strings", async () => {
    expect(await server.refuses("multi_edit", multi([]))).toMatchObject({ error: "invalid_input" });
    expect(await server.refuses("multi_edit", multi([{ old_string: "x" }]))).toMatchObject({
      error: "invalid_input",
      message: expect.stringContaining("edits[0].new_string"),
    });
    expect(await server.refuses("multi_edit", multi([{ old_string: "x", new_string: "y" }], "gone"))).toEqual(
      {
        error: "not_found",
        message: "No such file: gone",
      },
    );
  });
});
