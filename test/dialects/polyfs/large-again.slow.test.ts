// A large file that has not changed is not read whole for every page, and its pages are those of the whole file.
import { chmodSync, readFileSync, statSync, utimesSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasProc } from "../../setup/proc.ts";
import { Fixture, type Server, versionIn } from "./fixture.ts";

const long = "x".repeat(7000);
const wide = "日本語 😀 ".repeat(300);
const line = (i: number) =>
  `${i} ${i % 900 === 0 ? long : i % 700 === 0 ? wide : "a line of text".repeat(i % 5)}`;
const text = (end: string, last = end) => Array.from({ length: 6000 }, (_, i) => line(i)).join(end) + last;
const files = {
  "lf.txt": text("\n"),
  "open.txt": text("\n", ""),
  "crlf.txt": text("\r\n"),
  "mixed.txt": text("\r\n")
    .replaceAll(/([37])\r\n/g, "$1\n")
    .replaceAll(/(.5)\r\n/g, "$1\r"),
  "cr.txt": text("\r"),
  "marked.txt": `\ufeff${text("\n")}`,
  "wide.txt": Buffer.from(`\ufeff${text("\n")}`, "utf16le"),
  "one.txt": "y".repeat(270_000),
  "empty-lines.txt": "\n".repeat(270_000),
  "code.ts": `export function f() {\n${"  // a long comment\n".repeat(15_000)}}\n`,
};

const large = Array.from({ length: 100_000 }, (_, i) => `line ${i + 1} `.padEnd(60, ".")).join("\n");

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({ ...files, "large.txt": large });
  server = await fixture.serve();
  await setTimeout(2600); // a file that was changed a moment ago may change again without showing it
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** What is said about the file as if it had not been read before: its times have just changed. */
async function afresh(path: string, args: object): Promise<string> {
  const at = fixture.path(path);
  chmodSync(at, statSync(at).mode);
  return answer(args);
}

async function answer(args: object): Promise<string> {
  const { content } = await server.result("read_file", args);
  return content.map(item => item.text ?? "").join("\n");
}

function bytesRead(): number {
  const io = readFileSync(`/proc/${server.wire.child.pid}/io`, "utf8");
  return Number(/rchar: (\d+)/.exec(io)?.[1]);
}

describe("a large file that is read again", () => {
  const windows: readonly object[] = [
    {},
    { offset: 2, limit: 10 },
    { offset: 899, limit: 3 },
    { offset: 3000, limit: 600 },
    { offset: 3000, limit: 600, numbers: false },
    { offset: -7 },
    { offset: -900_000, limit: 2 },
    { offset: 5999 },
    { offset: 6001, limit: 5 },
    { offset: 500_000 },
    { limit: 3, outline: true },
  ];
  const parts = [
    [":3000-5500"],
    [":10-20", ":5990-6100"],
    [":5-6", ":7-9"],
    [":20-10"],
    [":600000-600001", ":1-2"],
  ];

  it.each(Object.keys(files))("answers as it did the first time: %s", async path => {
    const asked = [
      ...windows.map(window => ({ path, ...window })),
      ...parts.map(([first = "", ...more]) =>
        more.length === 0 ? { path: path + first } : { paths: [first, ...more].map(part => path + part) },
      ),
    ];
    await answer({ path });
    const again = [];
    for (const args of asked) again.push(await answer(args));
    for (const [i, args] of asked.entries())
      expect(again[i], JSON.stringify(args)).toBe(await afresh(path, args));
    expect(new Set(again).size).toBeGreaterThan(3);
  });

  it.runIf(hasProc)("is not read as a whole while its version is cached", async () => {
    const page = () => answer({ path: "large.txt", offset: 60_000, limit: 10 });
    const whole = await page();
    await page(); // meanwhile the content of the first answer is put aside
    const before = bytesRead();
    for (let i = 0; i < 10; i++) expect(await page()).toBe(whole);
    expect(bytesRead() - before).toBeLessThan(statSync(fixture.path("large.txt")).size);
  });

  it("is the file as it is now, also if neither its size nor its time of modification shows the change", async () => {
    const at = fixture.path("large.txt");
    const page = () => answer({ path: "large.txt", offset: 3, limit: 1 });
    const { atime, mtime } = statSync(at);
    const old = await page();
    fixture.write("large.txt", large.replace("line 3 ", "LINE 3 "));
    utimesSync(at, atime, mtime);
    const changed = await page();
    expect(changed).toContain("3: LINE 3 ");
    expect(versionIn(changed)).not.toBe(versionIn(old));
  });

  it("can be edited by the version that a page names", async () => {
    const version = versionIn(await answer({ path: "open.txt", offset: 3, limit: 1 }));
    const again = await answer({ path: "open.txt", offset: 4, limit: 1 });
    expect(versionIn(again)).toBe(version);
    fixture.write("open.txt", `${files["open.txt"]}\nmore`);
    const edits = [{ old: "\n7 a line of texta line of text\n", new: "\nseven\n" }];
    const said = await server.says("edit_file", { path: "open.txt", if_version: version, edits });
    expect(said).toContain("merged");
    expect(fixture.read("open.txt")).toMatch(/\nseven\n[\s\S]*\nmore$/);
  });
});
