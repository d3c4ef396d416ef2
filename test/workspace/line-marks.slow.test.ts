// Looking for a line of a large file leaves marks behind for the next look: the answers stay those of the file.
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countLines, linesFrom } from "../../src/engine/workspace/lines.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const directory = mkdtempSync(join(tmpdir(), "polyfs-line-marks-"));
const workspace = Workspace.open([{ path: directory, access: "read-only" }]);
const long = Array.from({ length: 90_000 }, (_, i) => `line ${i + 1} `.padEnd(70 + (i % 50), "."));
const short = Array.from({ length: 1_500_000 }, (_, i) => String(i % 1000));

beforeAll(async () => {
  writeFileSync(join(directory, "long"), long.join("\n"));
  writeFileSync(join(directory, "short"), `${short.join("\n")}\n`);
  // A file that was changed a moment ago gets no marks.
  await setTimeout(2600);
});

afterAll(() => {
  workspace[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

async function linesOf(name: string, start: number, count: number): Promise<string[]> {
  using file = workspace.file(workspace.at(name));
  const window = await linesFrom(file, start, count);
  return window.lines.map(({ bytes }) => bytes.toString());
}

describe("a window of lines in a large file", () => {
  it.each([
    ["long", long],
    ["short", short],
  ])("is the same on every read, in any order (%s lines)", async (name, lines) => {
    const last = lines.length;
    const starts = [last / 2, last - 2, 1, last / 2, 20_000, last / 2 + 1, last, last - 2, last / 3, 2];
    for (const start of starts)
      expect(await linesOf(name, start, 5)).toEqual(lines.slice(start - 1, start + 4));
  });

  it.each([
    ["long", long, 1700],
    ["short", short, 40_000],
  ])("is the same page by page, and when a page is read again (%s lines)", async (name, lines, page) => {
    const last = lines.length;
    for (let start = last - 5 * page; start < last; start += page)
      for (const count of [page, 3, page])
        expect((await linesOf(name, start, count)).join()).toBe(
          lines.slice(start - 1, start - 1 + count).join(),
        );
  });

  it.each([
    ["long", long],
    ["short", short],
  ])("after the end says how many lines there are, each time (%s lines)", async (name, lines) => {
    for (let look = 0; look < 3; look++) {
      using file = workspace.file(workspace.at(name));
      expect(await countLines(file)).toBe(lines.length);
    }
  });

  it("follows a change that keeps the size of the file", async () => {
    expect(await linesOf("long", 80_000, 1)).toEqual([long[79_999]]);
    expect(await linesOf("long", 80_000, 1)).toEqual([long[79_999]]);
    const file = openSync(join(directory, "long"), "r+");
    writeSync(file, " ", long[0]?.length ?? 0); // the first line end is gone
    closeSync(file);
    expect(await linesOf("long", 80_000, 1)).toEqual([long[80_000]]);
    expect(await linesOf("long", 79_999, 1)).toEqual([long[79_999]]);
  });

  it("is not that of another file that takes the name", async () => {
    expect(await linesOf("short", 1_000_000, 2)).toEqual(short.slice(999_999, 1_000_001));
    rmSync(join(directory, "short"));
    writeFileSync(join(directory, "short"), `${short.map(line => `x${line}`).join("\n")}\n`);
    expect(await linesOf("short", 1_000_000, 2)).toEqual(
      short.slice(999_999, 1_000_001).map(line => `x${line}`),
    );
  });
});
