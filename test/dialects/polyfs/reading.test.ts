// Reading files: pages of numbered lines, media, bytes, several at once, within an answer's room.
import { symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture, numbered, type Server, versionIn } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({
    "a.txt": "one\ntwo\nthree\n",
    "empty.txt": "",
    "open.txt": "no end",
    "many.txt": numbered(5000),
    "crlf.txt": "a\r\nb\r\n",
    "src/deep/inner.ts": "export {};\n",
    "long.txt": `${"x".repeat(5000)}\nshort\n`,
    "picture.png": Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0]),
    "sound.mp3": Buffer.from([0xff, 0xfb, 0, 0]),
    "blob.bin": Buffer.from(Array.from({ length: 100 }, (_, i) => i)),
    "bom.txt": "\ufeffmarked\n",
  });
  symlinkSync("a.txt", fixture.path("link"));
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("read_file", () => {
  it("begins with path, lines, size and version, and numbers the lines", async () => {
    const said = await server.says("read_file", { path: "a.txt" });
    expect(said).toMatch(/^a\.txt · 3 lines · 14 B · v:[0-9a-f]{12}\n1: one\n2: two\n3: three$/);
  });

  it("takes absolute paths, file:// URIs and links, and prints paths in the first root relative to it", async () => {
    for (const path of [fixture.path("a.txt"), `file://${fixture.path("a.txt")}`, "./src/../a.txt"])
      expect(await server.says("read_file", { path })).toMatch(/^a\.txt · /);
    expect(await server.says("read_file", { path: "link" })).toMatch(/^link · 3 lines/);
  });

  it("returns the current content, even if neither size nor times of the file have changed", async () => {
    const at = fixture.path("again.txt");
    const write = (text: string) => {
      writeFileSync(at, text);
      utimesSync(at, 1, 1);
    };
    const versions = new Set<string>();
    for (const text of ["one\n", "two\n", "two\n", "\xff\xfe\n", "one\n"]) {
      write(text);
      const said = await server.says("read_file", { path: "again.txt" });
      expect(said.split("\n").slice(1)).toEqual([`1: ${text.trimEnd()}`]);
      expect(versionIn(said)).toBe(versionIn(await server.says("file_info", { path: "again.txt" })));
      versions.add(versionIn(said));
    }
    expect(versions.size).toBe(3);
    const [head] = (await server.says("read_file", { path: "again.txt", encoding: "latin1" })).split("\n");
    expect(head).toContain("iso-8859-1");
    expect(await server.says("read_file", { path: "again.txt" })).not.toContain("iso-8859-1");
  });

  it("names the same version for the same bytes to every reader", async () => {
    const version = await server.version("a.txt");
    expect(await server.version("link")).toBe(version);
    expect(versionIn(await server.says("file_info", { path: "a.txt" }))).toBe(version);
  });

  it("omits line numbers on request", async () => {
    const said = await server.says("read_file", { path: "a.txt", numbers: false });
    expect(said.split("\n").slice(1)).toEqual(["one", "two", "three"]);
  });

  it("shows a text that is read again as each call asks for it", async () => {
    const says = (more: object) => server.says("read_file", { path: "a.txt", ...more });
    const whole = await says({});
    const [head] = whole.split("\n");
    for (const round of [1, 2]) {
      expect({ round, said: await says({}) }).toEqual({ round, said: whole });
      expect(await says({ numbers: false })).toBe(`${head}\none\ntwo\nthree\n`.trimEnd());
      expect(await says({ offset: 3 })).toBe(`${head}\n3: three\n[lines 3-3 of 3]`);
      expect(await says({ limit: 1 })).toMatch(/^.*\n1: one\n\[lines 1-1 of 3; go on with offset=2\]$/);
      expect(await says({ since: "v:000000000000" })).toContain("is no longer known");
      expect(await server.says("read_file", { path: "a.txt:2-2" })).toBe(`${head}\n[lines 2-2 of 3]\n2: two`);
    }
  });

  it("gives 2,000 lines and says how to go on, and going on gives the rest", async () => {
    const lines = (await server.says("read_file", { path: "many.txt" })).split("\n");
    expect(lines).toHaveLength(2002);
    expect(lines.at(-2)).toBe("2000: 2000");
    expect(lines.at(-1)).toBe("[lines 1-2000 of 5000; go on with offset=2001]");
    const rest = (await server.says("read_file", { path: "many.txt", offset: 4999, limit: 5 })).split("\n");
    expect(rest.slice(1)).toEqual(["4999: 4999", "5000: 5000", "[lines 4999-5000 of 5000]"]);
  });

  it("counts negative offsets from the end", async () => {
    const said = await server.says("read_file", { path: "many.txt", offset: -2 });
    expect(said.split("\n").slice(1)).toEqual(["4999: 4999", "5000: 5000", "[lines 4999-5000 of 5000]"]);
    expect(await server.says("read_file", { path: "a.txt", offset: -100 })).toContain("1: one");
  });

  it("refuses line 0 and lines past the end", async () => {
    expect((await server.refuses("read_file", { path: "a.txt", offset: 0 }))[0]).toMatch(/^invalid_input: /);
    expect((await server.refuses("read_file", { path: "a.txt", offset: 4 }))[0]).toBe(
      "invalid_input: a.txt has 3 lines; there is no line 4",
    );
  });

  it("reads empty files and last lines without a line break", async () => {
    expect(await server.says("read_file", { path: "empty.txt" })).toMatch(
      /^empty\.txt · 0 lines · 0 B · v:\w+$/,
    );
    expect(await server.says("read_file", { path: "open.txt" })).toMatch(/ · 1 line · .*\n1: no end$/);
  });

  it("reports what is unusual about a file", async () => {
    expect(await server.says("read_file", { path: "crlf.txt" })).toMatch(/ · CRLF · v:\w+\n1: a\n2: b$/);
    expect(await server.says("read_file", { path: "bom.txt" })).toMatch(
      / · byte-order mark · v:\w+\n1: marked$/,
    );
  });

  it("cuts lines over 2,000 characters with a mark", async () => {
    const lines = (await server.says("read_file", { path: "long.txt" })).split("\n");
    expect(lines[1]).toBe(`1: ${"x".repeat(2000)} […3,000 more characters]`);
    expect(lines[2]).toBe("2: short");
  });

  it("ends at a whole line within the size limit of an answer", async () => {
    fixture.write("wide.txt", `${"w".repeat(999)}\n`.repeat(500));
    const said = await server.says("read_file", { path: "wide.txt" });
    expect(Buffer.byteLength(said)).toBeLessThan(64_001);
    const last = /\[lines 1-(\d+) of 500; go on with offset=(\d+)\]$/.exec(said);
    expect(Number(last?.[2])).toBe(Number(last?.[1]) + 1);
    expect(Number(last?.[1])).toBeGreaterThan(50);
    const next = await server.says("read_file", { path: "wide.txt", offset: Number(last?.[2]) });
    expect(next.split("\n")[1]?.startsWith(`${last?.[2]}: www`)).toBe(true);
  });

  it("shows pictures and sound as media", async () => {
    const picture = await server.result("read_file", { path: "picture.png" });
    expect(picture.content[0]?.text).toMatch(/^picture\.png · image\/png · 6 B · v:/);
    expect(picture.content[1]).toEqual({
      type: "image",
      data: fixture.bytes("picture.png").toString("base64"),
      mimeType: "image/png",
    });
    const sound = await server.result("read_file", { path: "sound.mp3" });
    expect(sound.content[1]).toMatchObject({ type: "audio", mimeType: "audio/mpeg" });
  });

  it("refuses a picture that is too large to be shown", async () => {
    fixture.write("huge.png", "");
    truncateSync(fixture.path("huge.png"), 10_000_000);
    expect((await server.refuses("read_file", { path: "huge.png" }))[0]).toMatch(/^too_large: /);
  });

  it("refuses binary files as text, and gives their bytes as base64 or hex", async () => {
    expect((await server.refuses("read_file", { path: "blob.bin" }))[0]).toBe("binary: blob.bin is binary");
    const base64 = (await server.says("read_file", { path: "blob.bin", encoding: "base64" })).split("\n");
    expect(Buffer.from(base64.slice(1).join(""), "base64")).toEqual(fixture.bytes("blob.bin"));
    const hex = (
      await server.says("read_file", { path: "blob.bin", encoding: "hex", offset: 2, limit: 1 })
    ).split("\n");
    expect(Buffer.from(hex[1] ?? "", "hex")).toEqual(fixture.bytes("blob.bin").subarray(32, 64));
    expect(hex[2]).toBe("[bytes 32-64 of 100; go on with offset=3]");
  });

  it("reads several files, each with its head line, and reports an error in its place", async () => {
    const said = await server.says("read_file", { paths: ["a.txt", "nope.txt", "open.txt"], limit: 2 });
    expect(said).toMatch(
      /^a\.txt · 3 lines[^\n]*\n1: one\n2: two\n\[lines 1-2 of 3; go on with offset=3\]\n\n/,
    );
    expect(said).toMatch(/\n\nnope\.txt\nnot_found: nope\.txt does not exist\n[^\n]+\n\nopen\.txt · 1 line/);
  });

  it("fails where all of several files fail, and keeps pictures between texts", async () => {
    expect((await server.result("read_file", { paths: ["x", "y"] })).isError).toBe(true);
    const { content } = await server.result("read_file", { paths: ["a.txt", "picture.png", "open.txt"] });
    expect(content.map(item => item.type)).toEqual(["text", "image", "text"]);
  });

  it("names the files that do not fit into the answer", async () => {
    fixture.write("wide.txt", `${"w".repeat(999)}\n`.repeat(500));
    const said = await server.says("read_file", { paths: ["wide.txt", "a.txt"] });
    expect(said).toMatch(/\[no room for 1 more file; read on with paths=\["a\.txt"\]\]$/);
  });

  it("takes either path or paths", async () => {
    for (const params of [{}, { path: "a.txt", paths: ["a.txt"] }])
      expect((await server.refuses("read_file", params))[0]).toMatch(/^invalid_input: give either/);
  });

  it("reads a window of a file of 200 MB, from either end, without its version", async () => {
    fixture.write("large.log", `${"l".repeat(99)}\n`.repeat(1000));
    truncateSync(fixture.path("large.log"), 200_000_000);
    const refused = await server.says("read_file", {
      path: "large.log",
      offset: 999,
      limit: 2,
      encoding: "utf-8",
    });
    expect(refused.split("\n")[0]).toBe("large.log · 190.7 MB · too large for a version");
    expect(refused.split("\n")[1]).toBe(`999: ${"l".repeat(99)}`);
    expect(refused.split("\n").at(-1)).toBe("[lines 999-1000; go on with offset=1001]");
    const end = await server.says("read_file", { path: "large.log", offset: -1, encoding: "utf-8" });
    expect(Buffer.byteLength(end)).toBeLessThan(64_001);
    expect(
      (await server.refuses("edit_file", { path: "large.log", edits: [{ old: "x", new: "y" }] }))[0],
    ).toMatch(/^too_large: /);
  });

  describe("a file that is too large for a version", () => {
    const line = (i: number) => `line ${i} `.padEnd(99, ".");
    beforeAll(() => {
      fixture.write("long.log", Array.from({ length: 250_000 }, (_, i) => `${line(i + 1)}\n`).join(""));
    });

    it("begins with the line that a negative offset names, even if not all lines after it fit", async () => {
      const two = await server.says("read_file", { path: "long.log", offset: -2000, limit: 2 });
      expect(two.split("\n").slice(1)).toEqual([
        `248001: ${line(248_001)}`,
        `248002: ${line(248_002)}`,
        "[lines 248001-248002; go on with offset=248003]",
      ]);
      const many = (await server.says("read_file", { path: "long.log", offset: -1500 })).split("\n");
      expect(many[1]).toBe(`248501: ${line(248_501)}`);
      const [, last, next] =
        /^\[lines 248501-(\d+); go on with offset=(\d+)\]$/.exec(many.at(-1) ?? "") ?? [];
      expect(Number(next)).toBe(Number(last) + 1);
      const all = await server.says("read_file", { path: "long.log", offset: -999_999, limit: 1 });
      expect(all.split("\n")[1]).toBe(`1: ${line(1)}`);
    });

    it("reads its last lines without counting the others", async () => {
      const end = await server.says("read_file", { path: "long.log", offset: -2 });
      expect(end.split("\n").slice(1)).toEqual([line(249_999), line(250_000), "[2 of the last 2 lines]"]);
    });

    it("has the same ranges of lines as any other", async () => {
      const ranges = ["0-5", "10-5"];
      fixture.write("short.log", "a\nb\n");
      for (const file of ["short.log", "long.log"])
        for (const range of ranges)
          expect((await server.refuses("read_file", { path: `${file}:${range}` }))[0]).toBe(
            `invalid_input: ${range} is not a range of lines`,
          );
      const some = await server.says("read_file", {
        paths: ["long.log:0-1", "long.log:7", "long.log#L9-L9"],
      });
      expect(some).toContain("invalid_input: 0-1 is not a range of lines");
      expect(some).toContain(`\n7: ${line(7)}\n[lines 7-7; go on with offset=8]`);
      expect(some).toContain(`\n9: ${line(9)}\n[lines 9-9; go on with offset=10]`);
    });
  });

  it("refuses an empty list of paths", async () => {
    for (const tool of ["read_file", "file_info"])
      expect((await server.refuses(tool, { paths: [] }))[0]).toBe("invalid_input: paths is empty");
  });

  it("reads a window of a large file in UTF-16 without a mark, in both byte orders", async () => {
    const text = Buffer.from("ein längerer Text\r\n".repeat(5000), "utf16le");
    for (const bytes of [text, Buffer.from(text).swap16()]) {
      fixture.write("wide.log", bytes);
      truncateSync(fixture.path("wide.log"), 21_000_000);
      const said = await server.says("read_file", { path: "wide.log", offset: 999, limit: 2 });
      expect(said.split("\n").slice(1, -1)).toEqual(["999: ein längerer Text", "1000: ein längerer Text"]);
    }
  });
});

describe("file_info", () => {
  it("reports all that is known about a text", async () => {
    const said = await server.says("file_info", { path: "crlf.txt" });
    const rows = new Map(
      said
        .split("\n")
        .slice(1)
        .map(line => line.split(/: (.*)/) as [string, string]),
    );
    expect([...rows.keys()]).toEqual([
      "type",
      "size",
      "modified",
      "created",
      "accessed",
      "mode",
      "mime",
      "encoding",
      "line endings",
      "lines",
      "version",
      "writable",
    ]);
    expect(Object.fromEntries(rows)).toMatchObject({
      type: "file",
      size: "6 B (6 bytes)",
      mode: expect.stringMatching(/^6\d\d rw-/),
      mime: "text/plain",
      encoding: "utf-8",
      "line endings": "crlf",
      lines: "2",
      writable: "yes",
    });
  });

  it("reports links with their target, directories, and binary files", async () => {
    expect(await server.says("file_info", { path: "link" })).toMatch(
      /type: symlink to a file\nlink to: a\.txt\n/,
    );
    expect(await server.says("file_info", { path: "src" })).toMatch(/type: directory\n/);
    expect(await server.says("file_info", { path: "blob.bin" })).toMatch(/encoding: binary\nversion: v:/);
  });

  it("takes several, and reports an error in its place", async () => {
    const said = await server.says("file_info", { paths: ["a.txt", "nope"] });
    expect(said).toMatch(/^a\.txt\ntype: file[\s\S]*\n\nnope\nnot_found: nope does not exist\n/);
    expect((await server.result("file_info", { paths: ["nope"] })).isError).toBe(true);
    expect((await server.refuses("file_info", {}))[0]).toMatch(/^invalid_input: /);
  });
});

describe("a missing path is reported with similar names", () => {
  it("a name that is mistyped, and a name in another directory", async () => {
    expect(await server.refuses("read_file", { path: "src/deep/iner.ts" })).toEqual([
      "not_found: src/deep/iner.ts does not exist",
      "Did you mean src/deep/inner.ts?",
    ]);
    expect((await server.refuses("read_file", { path: "inner.ts" }))[1]).toBe(
      "Did you mean src/deep/inner.ts?",
    );
  });

  it("and no name is guessed if none is similar", async () => {
    expect((await server.refuses("read_file", { path: "zzzzzzzz" }))[1]).not.toContain("mean");
  });

  it("a directory is not a file, and a file is not a directory", async () => {
    expect((await server.refuses("read_file", { path: "src" }))[0]).toBe(
      "not_a_file: src is a directory, not a file",
    );
    expect((await server.refuses("list_directory", { path: "a.txt" }))[0]).toBe(
      "not_a_directory: a.txt is not a directory, or runs through a file",
    );
  });
});
