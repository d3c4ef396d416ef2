// Windows of lines agree with splitting the whole file, whatever the file looks like.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { LineWindow } from "../../src/engine/workspace/line-window.ts";
import { countLines, linesFrom } from "../../src/engine/workspace/lines.ts";
import { lastLines } from "../../src/engine/workspace/tail.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const directory = mkdtempSync(join(tmpdir(), "polyfs-lines-"));
const workspace = Workspace.open([{ path: directory, access: "read-only" }]);
afterAll(() => {
  workspace[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

function fileOf(content: string | Buffer) {
  writeFileSync(join(directory, "file"), content);
  return workspace.file(workspace.at("file"));
}

/** The lines of a text with their ends, as the window should give them. */
function split(content: string): string[] {
  return content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function whole(window: LineWindow): string[] {
  return window.lines.map(line => line.bytes.toString("utf8") + line.end);
}

const content = fc
  .array(fc.constantFrom("\n", "\r\n", "\r", "a", "bc", "é", "\n\n"), { maxLength: 40 })
  .map(x => x.join(""));

describe("a window of lines", () => {
  it("from any line equals the same slice of the split file", async () => {
    await fc.assert(
      fc.asyncProperty(
        content,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (text, start, count) => {
          using file = fileOf(text);
          const all = split(text);
          const window = await linesFrom(file, start, count);
          expect(whole(window)).toEqual(all.slice(start - 1, start - 1 + count));
          expect(window.more).toBe(start - 1 + count < all.length);
          if (!window.more) expect(window.total).toBe(all.length);
        },
      ),
    );
  });

  it("from the end equals the same slice of the split file", async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 12 }), async (text, count) => {
        using file = fileOf(text);
        const all = split(text);
        const window = await lastLines(file, count);
        expect(whole(window)).toEqual(all.slice(-count));
        expect(window.more).toBe(count < all.length);
        expect(await countLines(file)).toBe(all.length);
      }),
    );
  });

  it("crosses the pieces in which a large file is read", async () => {
    const all = Array.from(
      { length: 300_000 },
      (_, i) => `line ${i + 1} ${"x".repeat(i % 23)}${i % 5 ? "\n" : "\r\n"}`,
    );
    using file = fileOf(all.join(""));
    for (const start of [1, 77_000, 150_001, 299_999]) {
      expect(whole(await linesFrom(file, start, 50))).toEqual(all.slice(start - 1, start + 49));
    }
    expect(whole(await lastLines(file, 9_000))).toEqual(all.slice(-9_000));
    expect(await countLines(file)).toBe(300_000);
  });

  it("cuts a line of 50 MB and says how much is left out, and finds the line behind it", async () => {
    using file = fileOf(Buffer.concat([Buffer.alloc(50_000_000, "a"), Buffer.from("\nend\n")]));
    const window = await linesFrom(file, 1, 2, { maxLineBytes: 100 });
    expect(window.lines.map(line => [line.bytes.length, line.end, line.left])).toEqual([
      [100, "\n", 49_999_900],
      [3, "\n", 0],
    ]);
    expect(window.total).toBe(2);
  });

  it("stops at its limit of bytes before a line that would pass it", async () => {
    using file = fileOf("12345\n67890\nabcde\n");
    const window = await linesFrom(file, 1, 10, { maxBytes: 13 });
    expect(whole(window)).toEqual(["12345\n", "67890\n"]);
    expect([window.full, window.more]).toEqual([true, true]);
    const first = await linesFrom(file, 1, 10, { maxBytes: 3 });
    expect(first.lines.map(line => line.bytes.toString())).toEqual(["123"]);
    expect(first.full).toBe(true);
  });

  it("says that the first of the last lines was cut where the limit falls into it", async () => {
    using file = fileOf("12345\n67890\nabcde\n");
    const cut = await lastLines(file, 2, { maxBytes: 9 });
    expect(cut.lines.map(line => line.bytes.toString())).toEqual(["90", "abcde"]);
    expect(cut.full).toBe(true);
    expect((await lastLines(file, 1, { maxBytes: 9 })).full).toBe(false);
  });

  it("from the end has line numbers if the whole file was read, and reports what was left out of a line", async () => {
    using small = fileOf("one\ntwo\r\nthree and more\r\nfour");
    const { first, total, lines } = await lastLines(small, 2, { maxLineBytes: 5 });
    expect([first, total]).toEqual([3, 4]);
    expect(lines.map(line => [line.bytes.toString(), line.end, line.left])).toEqual([
      ["three", "\r\n", 9],
      ["four", "", 0],
    ]);
    using large = fileOf(`${"line\n".repeat(50_000)}last\n`);
    const window = await lastLines(large, 2);
    expect([window.first, window.total, window.more]).toEqual([undefined, undefined, true]);
    expect(whole(window)).toEqual(["line\n", "last\n"]);
  });

  it("stops between the pieces of a file when it is cancelled", async () => {
    using file = fileOf("x".repeat(3_000_000));
    const signal = AbortSignal.abort();
    await expect(lastLines(file, 1, { signal })).rejects.toThrow();
    await expect(linesFrom(file, 2, 1, { signal })).rejects.toThrow();
  });

  it("finds the lines of UTF-16 in both byte orders", async () => {
    const text = "a\u0a0a\r\nbĊ\n\nc";
    for (const encoding of ["utf-16le", "utf-16be"] as const) {
      const bytes = Buffer.from(text, "utf16le");
      using file = fileOf(encoding === "utf-16le" ? bytes : Buffer.from(bytes).swap16());
      const window = await linesFrom(file, 1, 9, { encoding });
      const lines = window.lines.map(line => {
        const unit = Buffer.from(line.bytes);
        return (encoding === "utf-16le" ? unit : unit.swap16()).toString("utf16le") + line.end;
      });
      expect(lines).toEqual(["a\u0a0a\r\n", "bĊ\n", "\n", "c"]);
      expect((await lastLines(file, 3, { encoding })).lines).toEqual(window.lines.slice(1));
    }
  });

  it("never splits a unit of UTF-16 if the limit is odd", async () => {
    using file = fileOf(Buffer.from("日本語".repeat(10), "utf16le"));
    const { lines, full } = await lastLines(file, 1, { encoding: "utf-16le", maxBytes: 13 });
    expect(lines.map(line => line.bytes.toString("utf16le"))).toEqual(["日本語日本語"]);
    expect(full).toBe(true);
  });
});
