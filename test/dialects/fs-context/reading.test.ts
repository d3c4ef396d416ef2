// `read_file` and `read_multiple_files` over the wire.
import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);

beforeAll(async () => {
  fixture = await Fixture.with({
    "a.txt": "one\ntwo\nthree\nfour\n",
    "crlf.txt": "one\r\ntwo\r\nthree",
    "empty.txt": "",
    "bom.txt": "\ufeffmarked\n",
    "latin.txt": Buffer.from("caf\xe9", "latin1"),
    "utf16le.txt": Buffer.from("\ufeffGröße\r\nzwei\r\n", "utf16le"),
    "utf16be.txt": Buffer.from("\ufeffGröße\nzwei\n", "utf16le").swap16(),
    "picture.png": png,
    "nul.txt": "text\0with a nul",
    "late-nul.txt": `${"x".repeat(600)}\0`,
    "dir/inner.txt": "inner",
  });
  fixture.link("a.txt", "link.txt");
});
afterAll(() => fixture[Symbol.asyncDispose]());

const read = (args: object) => fixture.done("read_file", args);

describe("a whole file", () => {
  it("is its content, with the number of its lines behind it", async () => {
    expect(await read({ path: "a.txt" })).toEqual({
      ok: true,
      path: "a.txt",
      content: "one\ntwo\nthree\nfour\n",
      truncated: false,
      totalLines: 5,
    });
    expect(await fixture.text("read_file", { path: "a.txt" })).toBe(
      "one\ntwo\nthree\nfour\n\nTotal lines: 5",
    );
  });

  it("may be empty", async () => {
    expect(await read({ path: "empty.txt" })).toMatchObject({ content: "", totalLines: 1 });
  });

  it("may be named by an absolute path, by one from home, or through a link that stays inside", async () => {
    await using other = await Fixture.with({ "x.txt": "x" });
    expect(await other.done("read_file", { path: join(other.path, "x.txt") })).toMatchObject({
      content: "x",
    });
    expect(await read({ path: "link.txt" })).toMatchObject({ content: "one\ntwo\nthree\nfour\n" });
    await using home = await Fixture.with({ "h.txt": "h" }, {});
    const env = { HOME: home.path };
    await using athome = await Fixture.with({ "y.txt": "y" }, { env, args: [home.path] });
    expect(await athome.done("read_file", { path: "~/h.txt" })).toMatchObject({ content: "h" });
  });
});

describe("encoding", () => {
  it.each([
    ["utf-8", "latin.txt", "caf\ufffd"],
    ["ascii", "latin.txt", "caf\ufffd"],
    ["latin1", "latin.txt", "café"],
    ["base64", "latin.txt", Buffer.from("caf\xe9", "latin1").toString("base64")],
    ["hex", "latin.txt", "636166e9"],
    ["utf-8", "bom.txt", "marked\n"],
    ["utf-8", "utf16le.txt", "Größe\r\nzwei\r\n"],
    ["utf-8", "utf16be.txt", "Größe\nzwei\n"],
  ])("%s reads %s", async (encoding, path, content) => {
    expect(await read({ path, encoding })).toMatchObject({ content });
  });

  it("of a part is the encoding of its bytes", async () => {
    expect(await read({ path: "a.txt", encoding: "base64", head: 2 })).toMatchObject({
      content: Buffer.from("one\ntwo").toString("base64"),
    });
    expect(await read({ path: "utf16le.txt", lineStart: 2, lineEnd: 2 })).toMatchObject({ content: "zwei" });
    expect(await read({ path: "utf16be.txt", head: 1 })).toMatchObject({ content: "Größe" });
    expect(await read({ path: "utf16be.txt", tail: 1 })).toMatchObject({ content: "zwei" });
  });

  it("that is not one of the five is refused", async () => {
    expect(await fixture.failure("read_file", { path: "a.txt", encoding: "utf-7" })).toMatchObject({
      code: "E_INVALID_INPUT",
      message: expect.stringContaining("encoding"),
    });
  });
});

describe("a part of a file", () => {
  it.each([
    [{ head: 2 }, "one\ntwo", "Showing first 2 lines"],
    [{ tail: 2 }, "three\nfour", "Showing last 2 lines"],
    [{ lineStart: 2, lineEnd: 3 }, "two\nthree", "Showing lines 2-3"],
  ])("%j", async (choice, content, note) => {
    expect(await read({ path: "a.txt", ...choice })).toMatchObject({ content, truncated: true });
    expect(await fixture.text("read_file", { path: "a.txt", ...choice })).toBe(`${content}\n\n${note}`);
  });

  it("keeps the file's line endings", async () => {
    expect(await read({ path: "crlf.txt", head: 2 })).toMatchObject({ content: "one\r\ntwo" });
    expect(await read({ path: "crlf.txt", tail: 2 })).toMatchObject({ content: "two\r\nthree" });
  });

  it("that is all of it is not truncated, and says so", async () => {
    for (const choice of [{ head: 100 }, { tail: 100 }, { lineStart: 1, lineEnd: 100 }]) {
      const whole = { content: "one\ntwo\nthree\nfour", truncated: false, totalLines: 5 };
      expect(await read({ path: "a.txt", ...choice })).toMatchObject(whole);
      expect(await fixture.text("read_file", { path: "a.txt", ...choice })).toContain("(the whole file)");
    }
  });

  it("after the end is empty, and says so", async () => {
    expect(await read({ path: "a.txt", lineStart: 9, lineEnd: 12 })).toMatchObject({ content: "" });
    expect(await fixture.text("read_file", { path: "a.txt", lineStart: 9, lineEnd: 12 })).toContain(
      "nothing there",
    );
  });

  it("has the last line of a file without a final newline", async () => {
    expect(await read({ path: "crlf.txt", tail: 1 })).toMatchObject({ content: "three" });
  });

  it.each([
    [{ head: 1, lineStart: 1, lineEnd: 2 }, "head/tail cannot be combined with lineStart/lineEnd"],
    [{ tail: 1, lineEnd: 2 }, "head/tail cannot be combined with lineStart/lineEnd"],
    [{ head: 1, tail: 1 }, "head and tail cannot be combined"],
    [{ lineStart: 2 }, "lineStart and lineEnd must be given together"],
    [{ lineEnd: 2 }, "lineStart and lineEnd must be given together"],
    [{ lineStart: 3, lineEnd: 2 }, "lineEnd must not be less than lineStart"],
  ])("%j is refused", async (choice, message) => {
    const refused = { code: "E_INVALID_INPUT", message };
    const params = { path: "a.txt", ...choice };
    expect(await fixture.failure("read_file", params)).toMatchObject({ ...refused, path: "a.txt" });
    expect((await fixture.text("read_file", params)).split("\n")).toContain("Path: a.txt");
    expect(await fixture.failure("read_multiple_files", { paths: ["a.txt"], ...choice })).toMatchObject(
      refused,
    );
  });
});

describe("binary files", () => {
  it.each(["picture.png", "nul.txt"])("%s is refused, and read when asked for", async path => {
    expect(await fixture.failure("read_file", { path })).toEqual({
      code: "E_INVALID_INPUT",
      message: `Binary file detected: ${path}. Set skipBinary=false to read as text.`,
      path,
      suggestion: expect.stringContaining("skipBinary=false"),
    });
    expect((await read({ path, skipBinary: false })).content).not.toBe("");
  });

  it("come byte for byte as base64", async () => {
    const { content } = await read({ path: "picture.png", skipBinary: false, encoding: "base64" });
    expect(Buffer.from(content, "base64")).toEqual(png);
  });

  it("are those with a NUL in the first 512 bytes, not later", async () => {
    expect((await read({ path: "late-nul.txt" })).content).toHaveLength(601);
  });

  it("are refused in a batch of text, and read in one of bytes", async () => {
    const paths = ["picture.png", "a.txt"];
    const { results } = await fixture.done("read_multiple_files", { paths });
    expect(results.map(({ ok }) => ok)).toEqual([false, true]);
    expect(results[0]?.error?.code).toBe("E_INVALID_INPUT");
    const bytes = await fixture.done("read_multiple_files", { paths, encoding: "hex" });
    expect(bytes.results[0]?.content).toBe(png.toString("hex"));
  });
});

describe("maxSize", () => {
  it("refuses a larger file with its size, and lets one of that size through", async () => {
    expect(await fixture.failure("read_file", { path: "a.txt", maxSize: 18 })).toEqual({
      code: "E_TOO_LARGE",
      message: "File too large: 19 bytes (max: 18 bytes). Use head, tail, or lineRange for partial reads.",
      path: "a.txt",
      suggestion: "Use `head/tail` or increase `maxSize`",
    });
    expect(await read({ path: "a.txt", maxSize: 19 })).toMatchObject({ totalLines: 5 });
  });

  it("does not keep a part of a larger file from being read, but cuts it", async () => {
    expect(await read({ path: "a.txt", maxSize: 18, head: 1 })).toMatchObject({ content: "one" });
    expect(await read({ path: "a.txt", maxSize: 2, head: 3 })).toMatchObject({
      content: "on",
      truncated: true,
    });
    expect(await fixture.text("read_file", { path: "a.txt", maxSize: 2, head: 3 })).toContain(
      "cut at maxSize",
    );
  });
});

describe("many files", () => {
  it("come in the order of the paths, each with its content or its own error", async () => {
    const paths = ["a.txt", "nope.txt", "dir", "dir/inner.txt", "/etc/passwd", "a.txt"];
    const answer = await fixture.call("read_multiple_files", { paths });
    const { results, summary } = answer.structuredContent;
    expect(results.map(({ path, ok, error }) => [path, ok ? "ok" : error?.code])).toEqual([
      ["a.txt", "ok"],
      ["nope.txt", "E_NOT_FOUND"],
      ["dir", "E_NOT_FILE"],
      ["dir/inner.txt", "ok"],
      ["/etc/passwd", "E_ACCESS_DENIED"],
      ["a.txt", "ok"],
    ]);
    expect(summary).toEqual({ total: 6, succeeded: 3, failed: 3, totalSize: 43 });
    expect(answer.isError ?? false).toBe(false);
    const said = answer.content[0]?.text ?? "";
    expect(said).toContain("=== a.txt ===\none\ntwo\nthree\nfour\n\n=== nope.txt ===\n");
    expect(said).toContain("[Error: Path does not exist: nope.txt]");
    expect(said).toContain("=== dir/inner.txt ===\ninner\n");
  });

  it.each([
    [{ head: 1 }, ["one", "inner"]],
    [{ tail: 1 }, ["four", "inner"]],
    [{ lineStart: 2, lineEnd: 2 }, ["two", ""]],
    [{ encoding: "hex", head: 1 }, ["6f6e65", "696e6e6572"]],
  ])("take %j each", async (choice, contents) => {
    const paths = ["a.txt", "dir/inner.txt"];
    const { results } = await fixture.done("read_multiple_files", { paths, ...choice });
    expect(results.map(({ content }) => content)).toEqual(contents);
  });

  it("have a limit for each", async () => {
    const { results } = await fixture.done("read_multiple_files", {
      paths: ["a.txt", "dir/inner.txt"],
      maxSize: 5,
    });
    expect(results.map(({ ok, error }) => error?.code ?? ok)).toEqual(["E_TOO_LARGE", true]);
  });

  it("have a limit for all, which holds however they overlap, and is the same each time", async () => {
    const paths = Array.from({ length: 100 }, (_, i) => fixture.put(`many/${i}.txt`, "x".repeat(100 + i)));
    const sizes = paths.map((_, i) => 100 + i);
    let expected = 0;
    const fits = sizes.map(size => {
      if (expected + size > 5000) return false;
      expected += size;
      return true;
    });
    for (let round = 0; round < 5; round++) {
      const { results, summary } = await fixture.done("read_multiple_files", { paths, maxTotalSize: 5000 });
      expect(results.map(({ ok }) => ok)).toEqual(fits);
      expect(summary.totalSize).toBe(expected);
      const left = results.find(({ ok }) => !ok);
      expect(left?.error).toMatchObject({
        code: "E_TOO_LARGE",
        message: expect.stringContaining("maxTotalSize"),
      });
    }
  });

  it("may be large: each stays open until it is read", async () => {
    const paths = [0, 1, 2, 3].map(i => fixture.put(`large/${i}.txt`, `${i}`.repeat(3 * 1024 * 1024)));
    const { results, summary } = await fixture.done("read_multiple_files", { paths });
    expect(results.map(({ content }) => [content?.[0], content?.length])).toEqual(
      [0, 1, 2, 3].map(i => [`${i}`, 3 * 1024 * 1024]),
    );
    expect(summary.totalSize).toBe(12 * 1024 * 1024);
  });

  it("count the parts that are read, not the files", async () => {
    const paths = [0, 1, 2].map(i => fixture.put(`parts/${i}.txt`, "1234\n".repeat(1000)));
    const { results } = await fixture.done("read_multiple_files", { paths, head: 1, maxTotalSize: 8 });
    expect(results.map(({ content }) => content)).toEqual(["1234", "1234", undefined]);
  });
});

describe("large and moving files", () => {
  it("a line of 50 MB is cut at maxSize, from either end", async () => {
    const path = fixture.put("long-line.txt", Buffer.alloc(50 * 1024 * 1024, "x"));
    expect((await read({ path, head: 1, maxSize: 1000 })).content).toBe("x".repeat(1000));
    const last = await read({ path, tail: 1, maxSize: 1000 });
    expect(last).toMatchObject({ content: "x".repeat(1000), truncated: true });
    expect(await fixture.text("read_file", { path, tail: 1, maxSize: 1000 })).toContain(
      "Showing last 1 lines (cut at maxSize, 1000 bytes)",
    );
    const range = await read({ path, lineStart: 2, lineEnd: 3 });
    expect(range.content).toBe("");
  });

  it("a file of 300 MB gives its first and last lines and is refused whole", async () => {
    const path = fixture.put("large.txt", `first\nsecond\n${"x".repeat(600)}`);
    truncateSync(path, 300 * 1024 * 1024);
    appendFileSync(path, "\nlast but one\nlast\n");
    expect((await read({ path, head: 2 })).content).toBe("first\nsecond");
    expect((await read({ path, tail: 2 })).content).toBe("last but one\nlast");
    expect((await read({ path, lineStart: 4, lineEnd: 5 })).content).toBe("last but one\nlast");
    expect((await fixture.failure("read_file", { path, skipBinary: false })).code).toBe("E_TOO_LARGE");
  });

  it("more than 10 MB is read when maxSize says so", async () => {
    const path = fixture.put("eleven.txt", "0123456789\n".repeat(1024 * 1024));
    expect((await fixture.failure("read_file", { path })).code).toBe("E_TOO_LARGE");
    const { content, totalLines } = await read({ path, maxSize: 100 * 1024 * 1024 });
    expect([content.length, totalLines]).toEqual([11 * 1024 * 1024, 1024 * 1024 + 1]);
  });

  it("a file that grows and shrinks while it is read yields only lines of it", async () => {
    const path = fixture.put("moving.txt", "line\n".repeat(20_000));
    let on = true;
    const moving = (async () => {
      for (let i = 0; on; i++) {
        if (i % 2 === 0) appendFileSync(path, "line\n".repeat(40_000));
        else writeFileSync(path, "line\n".repeat(20_000));
        await new Promise(resolve => setTimeout(resolve, 1));
      }
    })();
    try {
      for (let i = 0; i < 40; i++) {
        const choice = [{}, { head: 30_000 }, { tail: 10 }, { lineStart: 15_000, lineEnd: 30_000 }][i % 4];
        const { content } = await read({ path, ...choice });
        expect(content).toMatch(/^(li?n?e?\n?|i?ne?\n?|e?\n?)(line\n?)*(l?i?n?e?)?$/);
        if (i % 4 === 2) expect(content.split("\n").length).toBeLessThanOrEqual(10);
      }
    } finally {
      on = false;
      await moving;
    }
  });
});
