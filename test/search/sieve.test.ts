// What is known about files is never believed when they have changed: a program in another process changes them in
// every way that keeps something the same (size, times, name, inode), and after each step what they hold decides.
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { needOfText } from "../../src/engine/regex/required.ts";
import { grep } from "../../src/engine/search/grep.ts";
import type { GrepOptions } from "../../src/engine/search/grep-terms.ts";
import { Pace } from "../../src/engine/search/pace.ts";
import type { Query } from "../../src/engine/search/ripgrep.ts";
import { sifted } from "../../src/engine/search/sifted.ts";
import type { Directory } from "../../src/engine/workspace/directory.ts";
import { gramsOf } from "../../src/engine/workspace/sieve/grams.ts";
import { type Fs, sifter } from "../../src/engine/workspace/sieve/sift.ts";
import { divided, memoryBytes } from "../../src/engine/workspace/sieve/thread.ts";
import { verdicts } from "../../src/engine/workspace/sieve/verdict.ts";
import { Tree } from "./tree.ts";

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Numbers that are the same every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Another process that changes files as it is told, and says when it has. */
class Writer implements Disposable {
  readonly #child: ChildProcess;
  readonly #answers: AsyncIterator<string>;
  readonly #lines: Interface;

  constructor(directory: string) {
    const program = `
      const fs = require("fs");
      const ways = {
        rewrite: (a, text) => fs.writeFileSync(a, text),
        patch: (a, text) => { const fd = fs.openSync(a, "r+"); fs.writeSync(fd, text, 0); fs.closeSync(fd); },
        append: (a, text) => fs.appendFileSync(a, text),
        truncate: (a, text) => fs.truncateSync(a, 20),
        replace: (a, text) => { fs.writeFileSync(a + "~", text); fs.renameSync(a + "~", a); },
        recreate: (a, text) => { fs.unlinkSync(a); fs.writeFileSync(a, text); },
        swap: (a, text, b) => { fs.renameSync(a, "~"); fs.renameSync(b, a); fs.renameSync("~", b); },
        back: (a, text) => { const { atime, mtime } = fs.statSync(a); fs.writeFileSync(a, text); fs.utimesSync(a, atime, mtime); },
        aged: (a, text) => { fs.writeFileSync(a + "~", text); fs.utimesSync(a + "~", 1e9, 1e9); fs.renameSync(a + "~", a); },
        link: (a, text, b) => { fs.unlinkSync(a); fs.linkSync(b, a); },
      };
      require("readline").createInterface({ input: process.stdin }).on("line", line => {
        const [way, ...rest] = JSON.parse(line);
        ways[way](...rest);
        console.log(way);
      });`;
    this.#child = spawn(process.execPath, ["-e", program], {
      cwd: directory,
      stdio: ["pipe", "pipe", "inherit"],
    });
    if (this.#child.stdout === null) throw new Error("no output");
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async does(way: string, ...rest: string[]): Promise<void> {
    this.#child.stdin?.write(`${JSON.stringify([way, ...rest])}\n`);
    await this.#answers.next();
  }

  [Symbol.dispose](): void {
    this.#lines.close();
    this.#child.kill();
  }
}

/** The system with the clock of an older one, where what changes twice within a tick shows the same time. */
function ticking(ms: number): Fs {
  const rounded = <S extends fs.Stats | undefined>(stats: S): S => {
    if (stats === undefined || ms === 0) return stats;
    const down = (time: number) => Math.floor(time / ms) * ms + (ms < 1000 ? 0.5 : 0);
    return Object.assign(stats, { mtimeMs: down(stats.mtimeMs), ctimeMs: down(stats.ctimeMs) });
  };
  const lstatSync = (path: string) => rounded(fs.lstatSync(path, { throwIfNoEntry: false }));
  const fstatSync = (fd: number) => rounded(fs.fstatSync(fd));
  return { ...fs, lstatSync: lstatSync as Fs["lstatSync"], fstatSync: fstatSync as Fs["fstatSync"] };
}

const ways = [
  "rewrite",
  "patch",
  "append",
  "truncate",
  "replace",
  "recreate",
  "swap",
  "back",
  "back",
  "aged",
  "link",
];
const size = 64;
const text = (holds: boolean, filler: string) =>
  (filler.repeat(size / 2) + (holds ? "needle" : "noodle")).slice(-size);

describe("what is known about files that another process changes", () => {
  const places: string[] = [];
  afterEach(() => {
    for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true });
  });

  it.each([
    [1, 0],
    [2, 40],
    [3, 40],
  ])(
    "never hides what they hold now (seed %i, on a clock that ticks every %i ms)",
    async (seed, tick) => {
      const place = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-sieve-")));
      places.push(place);
      const next = random(seed);
      const names = Array.from({ length: 24 }, (_, i) => `file${i}.txt`);
      for (const name of names) writeFileSync(join(place, name), text(next(2) === 0, "ab"));
      using writer = new Writer(place);
      const memory = new SharedArrayBuffer(memoryBytes);
      divided(memory).used[0] = 8;
      const { sift, learn } = sifter(ticking(tick), divided(memory));
      const lists = [{ path: "", names: names.join("/"), count: names.length }];
      const { dev: device } = statSync(place);
      const need = needOfText("needle", false);
      if (need === undefined) throw new Error("nothing is demanded");
      const question = { grams: gramsOf(need), ignoreCase: false, device, maxFileSize: 1e9 };
      let skipped = 0;
      let file = names[0] ?? "";
      for (let step = 0; step < 700; step++) {
        if (next(40) === 0) await pause(120);
        if (next(2) === 0) file = names[next(names.length)] ?? "";
        const other = names[next(names.length)] ?? "";
        const way = ways[next(ways.length)] ?? "";
        if (other !== file || (way !== "swap" && way !== "link"))
          await writer.does(way, file, text(next(2) === 0, next(2) === 0 ? "ab" : "cd"), other);
        if (next(3) > 0) for (const list of lists) learn(`${place}/`, list, device);
        const shared = new SharedArrayBuffer(16 + names.length);
        const job = {
          base: `${place}/`,
          portions: [
            [0, 0],
            [1, names.length],
          ],
          question,
          mostUnknown: 99,
          mostFound: 99,
          shared,
        } as const;
        while (sift(lists, job));
        const told = new Uint8Array(shared, 16);
        const hidden = names.filter(
          (name, i) => told[i] === 0 && readFileSync(join(place, name)).includes("needle"),
        );
        expect(hidden, `step ${step}: ${way} ${file}`).toEqual([]);
        skipped += told.filter(verdict => verdict === 0).length;
      }
      expect(skipped).toBeGreaterThan(1000);
    },
    60_000,
  );
});

describe("a file system that keeps whole seconds", () => {
  it("is not believed about a file that may change within the same second", () => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-sieve-")));
    try {
      writeFileSync(join(place, "file"), "noodle");
      const memory = new SharedArrayBuffer(memoryBytes);
      divided(memory).used[0] = 8;
      const { dev: device } = statSync(place);
      const { sift, learn } = sifter(ticking(1000), divided(memory));
      const lists = [{ path: "", names: "file", count: 1 }];
      for (const list of lists) learn(`${place}/`, list, device);
      const shared = new SharedArrayBuffer(17);
      const question = { grams: { all: [], any: [] }, ignoreCase: false, device, maxFileSize: 1e9 };
      const portions = [
        [0, 0],
        [1, 1],
      ] as const;
      sift(lists, { base: `${place}/`, portions, question, mostUnknown: 9, mostFound: 9, shared });
      expect(new Uint8Array(shared, 16)[0]).toBe(verdicts.unknown);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});

describe.each([
  { size: "large", count: 1500 },
  { size: "small", count: 280 },
])("a search of a $size tree that was searched before", ({ count }) => {
  const ignore = { rules: true, hidden: false };
  const made = () => {
    const files: Record<string, string | Buffer> = { ".gitignore": "*.log\n", "a.log": "needle\n" };
    for (let i = 0; i < count; i++) {
      const body = `const value${i} = compute(${i * 7});\n${i % 250 === 3 ? "  the Needle in a needle stack\n" : ""}`;
      files[`src/part${i % 12}/group${i % 7}/file${i}.ts`] =
        i % 300 === 5 ? `${body}K\u212aelvin ſalt café\n` : body;
    }
    files["wide.txt"] = Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from("a needle, wide\n", "utf16le"),
    ]);
    files["zlarge.txt"] = `${"filler line\n".repeat(120_000)}needle at the end\n`;
    return new Tree(files);
  };
  const whole = async (start: Directory, query: Query, options: GrepOptions = {}) => {
    const search = grep(start, query, { ignore, ...options });
    const found: unknown[] = [];
    for await (const file of search) found.push(file);
    return { found, report: { ...search.report } };
  };
  const studied = async (start: Directory) => {
    await pause(150); // clearly past
    await whole(start, { pattern: "val[u]e9" });
    const isKnown = () =>
      sifted(start, { pattern: "no such thing", literal: true }, { ignore }, new Pace({}));
    for (let i = 0; i < 200 && (await isKnown()) === undefined; i++) await pause(250);
  };
  const queries: Query[] = [
    { pattern: "needle", literal: true },
    { pattern: "NEEDLE", literal: true, ignoreCase: true },
    { pattern: "n[e]{2}dle\\s+in" },
    { pattern: "needle|elvin" },
    { pattern: "kkelvin", ignoreCase: true },
    { pattern: "SALT", literal: true, ignoreCase: true },
    { pattern: "CAFÉ", ignoreCase: true },
    { pattern: "needle", literal: true, wholeWord: true },
    { pattern: "needle(?! in)", lookaround: true },
    { pattern: "no such thing", literal: true },
    { pattern: "no such [t]hing" },
    { pattern: "compute\\(2[1]\\);" },
  ];

  const variants: GrepOptions[] = [
    { limit: 2 },
    { give: "counts" },
    { before: 1, after: 1, maxFileSize: 5000 },
  ];

  it("finds the same, and says that it searched as much, without opening what cannot match", async () => {
    using tree = made();
    using known = tree.directory();
    await studied(known);
    let unheardOf = 100; // a scope that was never searched, and means the same
    for (const [i, query] of queries.entries()) {
      const few = await sifted(known, query, { ignore }, new Pace({}));
      expect([query.pattern, (few?.paths.length ?? count) < count / 10]).toEqual([query.pattern, true]);
      for (const options of [{}, variants[i % variants.length]]) {
        const expected = await whole(known, query, { ...options, maxDepth: unheardOf++ });
        const actual = await whole(known, query, options);
        expect(actual.found, query.pattern).toEqual(expected.found);
        if (options?.limit === undefined) expect(actual.report, query.pattern).toEqual(expected.report);
      }
    }
  }, 60_000);

  it("sees what was changed, added, removed and ignored since, at once", async () => {
    using tree = made();
    using known = tree.directory();
    await studied(known);
    const paths = async () =>
      (await whole(known, { pattern: "needle", literal: true }, { give: "files" })).found;
    const before = (await paths()) as { path: string }[];
    const at = (name: string) => join(tree.path, name);
    const [first = { path: "" }] = before;
    writeFileSync(at(first.path), "nothing any more\n");
    writeFileSync(at("src/part0/group0/file0.ts"), "const value0 = needle(00);\n");
    writeFileSync(at("src/part1/new.ts"), "a new needle\n");
    const last = readdirSync(at("src/part2/group2"))[0] ?? "";
    writeFileSync(at(`src/part2/group2/${last}`), "needle\n");
    writeFileSync(at("src/part2/.gitignore"), "*.ts\n");
    const expected = new Set(before.map(({ path }) => path));
    expected.delete(first.path);
    expected.add("src/part0/group0/file0.ts").add("src/part1/new.ts");
    const visible = [...expected].filter(path => !path.startsWith("src/part2/")).sort();
    expect(((await paths()) as { path: string }[]).map(({ path }) => path)).toEqual(visible);
  }, 30_000);

  it("refuses an expression that ripgrep does not take, although nothing could match", async () => {
    using tree = made();
    using known = tree.directory();
    await studied(known);
    const wrong = { pattern: "no such thing[z-a]" };
    expect((await sifted(known, wrong, { ignore }, new Pace({})))?.paths).toEqual(["wide.txt", "zlarge.txt"]);
    await expect(whole(known, wrong)).rejects.toMatchObject({ code: "invalid_pattern" });
    await expect(whole(known, wrong, { maxFileSize: 10 })).rejects.toMatchObject({ code: "invalid_pattern" });
  }, 30_000);
});
