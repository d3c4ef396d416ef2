// `read_file` and `list_dir` of the `agent-tools` contract, sentence by sentence.
import { execFileSync } from "node:child_process";
import { symlinkSync, truncateSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `${String(from + i).padStart(6)}\tline ${from + i}`).join(
    "\n",
  );

let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  fixture = new Fixture({
    "three.txt": "line 1\nline 2\nline 3\n",
    "no-newline.txt": "one\ntwo",
    "long.txt": Array.from({ length: 5000 }, (_, i) => `line ${i + 1}\n`).join(""),
    "wide.txt": `${"w".repeat(3000)}\nshort\n${"w".repeat(1999)}😀\n`,
    "crlf.txt": "a\r\nb\r\n",
    "mac.txt": "a\rb\r",
    "mark.txt": "\ufefffirst\nsecond\n",
    "little.txt": utf16("größe\nzwei\n"),
    "big.txt": utf16("größe\nzwei\n").swap16(),
    "latin.txt": Buffer.from("caf\xe9\nok\n", "latin1"),
    "empty.txt": "",
    "head.bin": Buffer.from("text\0text"),
    "tail.bin": Buffer.concat([Buffer.alloc(20_000, "a\n"), Buffer.from("\0")]),
    "middle.txt": Buffer.concat([Buffer.alloc(9000, "a"), Buffer.from("\0"), Buffer.alloc(9000, "b")]),
    "heavy.txt": Array.from({ length: 300 }, (_, i) => `${i} ${"ä".repeat(900)}\n`).join(""),
    "src/a.ts": "x",
    "src/B.ts": "xx",
    "src/.hidden": "xxx",
    "src/sub/b.ts": "",
    "src/Alpha/b.ts": "",
    "nothing/in/it.txt": "",
  });
  fixture.write("huge.txt", "");
  truncateSync(fixture.path("huge.txt"), 20_000_001);
  execFileSync("rm", ["-r", fixture.path("nothing/in")]);
  execFileSync("mkfifo", [fixture.path("src/pipe")]);
  symlinkSync("a.ts", fixture.path("src/link"));
  symlinkSync("three.txt", fixture.path("inside.txt"));
  symlinkSync("/etc/passwd", fixture.path("outside.txt"));
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("read_file", () => {
  const read = (params: object) => server.says("read_file", params);

  it("puts a right-aligned number and a tab before each line; a final newline makes no extra line", async () => {
    expect(await read({ path: "three.txt" })).toBe(numbered(1, 3));
    expect(await read({ path: "no-newline.txt" })).toBe("     1\tone\n     2\ttwo");
    expect(await read({ path: fixture.path("three.txt") })).toBe(numbered(1, 3));
    expect(await read({ path: "inside.txt" })).toBe(numbered(1, 3));
  });

  it("returns 2,000 lines unless told otherwise, and says how to go on", async () => {
    expect(await read({ path: "long.txt" })).toBe(
      `${numbered(1, 2000)}\n[... 2000 of 5000 lines shown; continue with offset=2001 ...]`,
    );
    expect(await read({ path: "long.txt", offset: 2001, limit: 2 })).toBe(
      `${numbered(2001, 2002)}\n[... 2 of 5000 lines shown; continue with offset=2003 ...]`,
    );
    expect(await read({ path: "long.txt", offset: 4999 })).toBe(numbered(4999, 5000));
  });

  it("counts a negative offset from the end", async () => {
    expect(await read({ path: "long.txt", offset: -2 })).toBe(numbered(4999, 5000));
    expect(await read({ path: "three.txt", offset: -100 })).toBe(numbered(1, 3));
    expect(await read({ path: "three.txt", offset: -3, limit: 1 })).toBe(
      `${numbered(1, 1)}\n[... 1 of 3 lines shown; continue with offset=2 ...]`,
    );
  });

  it("refuses offset 0 and an offset past the end", async () => {
    expect(await server.refuses("read_file", { path: "three.txt", offset: 0 })).toMatchObject({
      error: "invalid_input",
      message: expect.stringContaining("offset"),
    });
    expect(await server.refuses("read_file", { path: "three.txt", offset: 4 })).toEqual({
      error: "invalid_input",
      message: "offset 4 is past the end of three.txt, which has 3 lines",
    });
    expect(await server.refuses("read_file", { path: "empty.txt", offset: 2 })).toMatchObject({
      error: "invalid_input",
    });
    expect(await server.refuses("read_file", { path: "three.txt", limit: 0 })).toMatchObject({
      error: "invalid_input",
    });
  });

  it("says that a file is empty", async () => {
    expect(await read({ path: "empty.txt" })).toBe("(empty file)");
    expect(await read({ path: "empty.txt", offset: -5 })).toBe("(empty file)");
  });

  it("cuts a line over 2,000 units and never splits a character", async () => {
    const [first, second, third] = (await read({ path: "wide.txt" })).split("\n");
    expect(first).toBe(`     1\t${"w".repeat(2000)} [... line truncated ...]`);
    expect(second).toBe("     2\tshort");
    expect(third).toBe(`     3\t${"w".repeat(1999)} [... line truncated ...]`);
  });

  it("stops at a whole line where the answer would pass the cap, with the same footer", async () => {
    const page = await read({ path: "heavy.txt" });
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(131_072);
    const lines = page.split("\n");
    const shown = lines.length - 1;
    expect(shown).toBeGreaterThan(70);
    expect(lines.at(-2)).toBe(`${String(shown).padStart(6)}\t${shown - 1} ${"ä".repeat(900)}`);
    expect(lines.at(-1)).toBe(`[... ${shown} of 300 lines shown; continue with offset=${shown + 1} ...]`);
  });

  it("shows lines whatever ends them, without the byte-order mark", async () => {
    expect(await read({ path: "crlf.txt" })).toBe("     1\ta\n     2\tb");
    expect(await read({ path: "mac.txt" })).toBe("     1\ta\n     2\tb");
    expect(await read({ path: "mark.txt" })).toBe("     1\tfirst\n     2\tsecond");
  });

  it("decodes UTF-16 with a byte-order mark in either order", async () => {
    for (const path of ["little.txt", "big.txt"]) {
      expect(await read({ path })).toBe("     1\tgröße\n     2\tzwei");
    }
  });

  it("reads a file with a byte that is not UTF-8", async () => {
    expect(await read({ path: "latin.txt" })).toBe("     1\tcaf\ufffd\n     2\tok");
  });

  it("takes a NUL in the first or last 8,000 bytes for binary, and one between for text", async () => {
    for (const path of ["head.bin", "tail.bin"]) {
      expect(await server.refuses("read_file", { path })).toEqual({
        error: "is_binary",
        message: `File appears to be binary: ${path}`,
      });
    }
    expect(await read({ path: "middle.txt" })).toContain("[... line truncated ...]");
  });

  it("refuses what is missing, a directory, too large, or outside", async () => {
    expect(await server.refuses("read_file", { path: "nope/x.txt" })).toEqual({
      error: "not_found",
      message: "No such file: nope/x.txt",
    });
    expect(await server.refuses("read_file", { path: fixture.path("nope") })).toEqual({
      error: "not_found",
      message: "No such file: nope",
    });
    expect(await server.refuses("read_file", { path: "~/x" })).toEqual({
      error: "not_found",
      message: "No such file: ~/x",
    });
    expect(await server.refuses("read_file", { path: "./src/" })).toEqual({
      error: "not_a_file",
      message: "Path is a directory: src",
    });
    expect(await server.refuses("read_file", { path: "src/pipe" })).toMatchObject({ error: "not_a_file" });
    expect(await server.refuses("read_file", { path: "three.txt/x" })).toMatchObject({ error: "not_a_file" });
    expect(await server.refuses("read_file", { path: "huge.txt" })).toMatchObject({
      error: "too_large",
      path: "huge.txt",
      size: 20_000_001,
      limit: 20_000_000,
    });
    for (const path of ["../x", "/etc/passwd", "outside.txt"]) {
      expect(await server.refuses("read_file", { path })).toMatchObject({
        error: "path_escape",
        message: expect.stringMatching(`^Path escapes the workspace root: ${path} `),
      });
    }
    expect(await server.refuses("read_file", { path: "" })).toMatchObject({ error: "invalid_input" });
  });
});

describe("list_dir", () => {
  it("lists directories first in byte order, then files with their size, dotfiles included", async () => {
    expect(await server.says("list_dir", { path: "src" })).toBe(
      ["Alpha/", "sub/", ".hidden\t3", "B.ts\t2", "a.ts\t1", "link\t1", "pipe\t(fifo)"].join("\n"),
    );
  });

  it("says how to continue after a line that is larger than an answer", async () => {
    await using other = new Fixture({ "a.txt": `${"x".repeat(1500)}\nsecond\n` });
    const served = await other.serve({ env: { MAX_OUTPUT_BYTES: "1000" } });
    const said = await served.says("read_file", { path: "a.txt" });
    expect(said).toMatch(
      /^ {5}1\tx+\n\[\.\.\. output truncated: \d+ of 1507 bytes shown \.\.\.\]\n\[\.\.\. 1 of 2 lines shown; continue with offset=2 \.\.\.\]$/,
    );
  });

  it("shows a link by what it leads to", async () => {
    await using other = new Fixture({ "real/file.txt": "12345" });
    symlinkSync(other.path("real"), other.path("to-directory"));
    symlinkSync(other.path("real/file.txt"), other.path("to-file"));
    const served = await other.serve();
    expect(await served.says("list_dir")).toBe("real/\nto-directory/\nto-file\t5");
  });

  it("lists the workspace unless told otherwise", async () => {
    expect((await server.says("list_dir")).split("\n").slice(0, 2)).toEqual(["nothing/", "src/"]);
    expect(await server.says("list_dir", { path: "." })).toBe(await server.says("list_dir"));
  });

  it("says that a directory is empty", async () => {
    expect(await server.says("list_dir", { path: "nothing" })).toBe("(empty directory)");
  });

  it("refuses what is missing, a file, or outside", async () => {
    expect(await server.refuses("list_dir", { path: "nope" })).toEqual({
      error: "not_found",
      message: "No such file: nope",
    });
    expect(await server.refuses("list_dir", { path: "three.txt" })).toEqual({
      error: "not_a_file",
      message: "Not a directory: three.txt",
    });
    expect(await server.refuses("list_dir", { path: ".." })).toMatchObject({ error: "path_escape" });
  });

  it("cuts what passes the cap on a character's boundary, and says how much was shown", async () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`ä${i}`, ""]));
    await using small = new Fixture(many);
    const limited = await small.serve({ env: { MAX_OUTPUT_BYTES: "301" } });
    const listing = await limited.says("list_dir");
    const [, shown, marker] = /^([\s\S]*)\n(\[.*\])$/.exec(listing) ?? [];
    const bytes = Buffer.byteLength(shown ?? "");
    expect(bytes).toBeGreaterThan(297);
    expect(bytes).toBeLessThanOrEqual(301);
    expect(shown).not.toContain("\ufffd");
    const total = Object.keys(many).reduce((sum, name) => sum + Buffer.byteLength(name) + 3, -1);
    expect(marker).toBe(`[... output truncated: ${bytes} of ${total} bytes shown ...]`);
  });
});
