import { isUtf8 } from "node:buffer";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { notUtf8, nulWithin } from "../../src/engine/search/binary.ts";
import { excludeGlobs, type GlobRules, includeGlobs } from "../../src/engine/search/globs.ts";
import { grep } from "../../src/engine/search/grep.ts";
import { written } from "../../src/engine/workspace/name.ts";
import { hasProc } from "../setup/proc.ts";
import { library, lines } from "./library.ts";
import { all, byteSorted, Tree } from "./tree.ts";

const visible = { rules: true, hidden: false };

describe("search", () => {
  it("a limited search gives the beginning of the unlimited one, also in a large tree", async () => {
    using tree = library(5, 1200);
    for (const pattern of ["alpha", "foo_[b]ar", "ÉCLAIR"]) {
      const whole = await lines(tree, { pattern }, { ignore: visible });
      for (const limit of [1, 7, 100, 2000]) {
        const some = await lines(tree, { pattern }, { ignore: visible, limit });
        expect(some.length).toBeGreaterThanOrEqual(Math.min(limit, whole.length));
        expect(some.slice(0, limit)).toEqual(whole.slice(0, limit));
      }
    }
  });

  it.each([{ pattern: "common", literal: true }, { pattern: "common" }, { pattern: "a common\\ word" }])(
    "a slow reader of the first hits does not cause the whole tree to be searched: $pattern",
    async query => {
      using tree = new Tree();
      for (let i = 0; i < 1200; i++) tree.add({ [`part${i % 9}/${i}.txt`]: "a common word\n".repeat(10) });
      using directory = tree.directory();
      let searched = 1200;
      // A machine that stalls for a moment makes a search look long.
      for (let attempt = 0; searched >= 10 && attempt < 20; attempt++) {
        const search = grep(directory, query, { limit: 20, maxFiles: 5000 });
        for await (const _ of search) await new Promise(resolve => setTimeout(resolve, 100));
        searched = search.report.files;
      }
      expect(searched).toBe(2);
    },
  );

  it("files that are left out as not text do not use up the limit", async () => {
    const line = Buffer.from("needle \xff\n", "latin1");
    const many = Buffer.concat(Array.from({ length: 300 }, () => line));
    using tree = new Tree(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`a${i}.bin`, many])));
    tree.add({ "z.txt": "needle\n".repeat(5) });
    for (const query of [{ pattern: "needle", literal: true }, { pattern: "needl[e]" }]) {
      expect(await lines(tree, query, { limit: 200, binary: notUtf8 })).toHaveLength(5);
    }
  });

  it("the results of a file with too many matching lines are cut, and the answer says so", async () => {
    using tree = new Tree({ "a.txt": "needle\n".repeat(250_000), "b.txt": "needle\n" });
    using directory = tree.directory();
    const search = grep(directory, { pattern: "needl[e]" });
    const found = await all(search);
    expect(search.report.stopped).toBe("output");
    expect(found[0]?.lines.length).toBeLessThan(250_000);
  });

  it("says why it stopped", async () => {
    using tree = library(5, 600);
    using directory = tree.directory();
    const few = grep(directory, { pattern: "" }, { limit: 3 });
    await all(few);
    expect(few.report.stopped).toBe("limit");
    const first = grep(directory, { pattern: "" }, { maxFiles: 10 });
    const found = (await all(first)).map(file => file.path);
    expect(first.report).toMatchObject({ stopped: "files", files: 10 });
    const whole = (await all(grep(directory, { pattern: "" }))).map(file => file.path);
    expect(found).toEqual(whole.slice(0, found.length));
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(10);
  });

  it("says so of a single file, too", async () => {
    using tree = new Tree({ "a.txt": "needle\n".repeat(3) });
    using directory = tree.directory();
    for (const pattern of ["needle", "needl[e]"]) {
      for (const [limit, stopped] of [
        [2, "limit"],
        [4, undefined],
      ] as const) {
        const search = grep(directory, { pattern }, { file: "a.txt", limit });
        await all(search);
        expect(search.report.stopped, `${pattern} ${limit}`).toBe(stopped);
      }
    }
  });

  it("line endings, byte-order marks and encodings do not hide matches", async () => {
    using tree = new Tree({
      "crlf.txt": "one\r\ntwo end\r\nthree end",
      "bom.txt": "\ufefffirst end\n",
      "utf16.txt": Buffer.from("\ufeffwide end\n", "utf16le"),
      "latin1.txt": Buffer.from("caf\xe9 end\n", "latin1"),
      "nul.bin": "a\0b end\n",
    });
    const found = await lines(tree, { pattern: "end$" });
    expect(found).toEqual([
      "bom.txt:1:7:first end",
      "crlf.txt:2:5:two end",
      "crlf.txt:3:7:three end",
      "latin1.txt:1:6:caf\ufffd end",
      "nul.bin:1:5:a\0b end",
      "utf16.txt:1:6:wide end",
    ]);
    const utf8 = await lines(tree, { pattern: "end" }, { binary: notUtf8 });
    expect(utf8.map(line => line.split(":")[0])).toEqual(["bom.txt", "crlf.txt", "crlf.txt", "nul.bin"]);
    const text = await lines(tree, { pattern: "end" }, { binary: nulWithin(512) });
    expect(text.map(line => line.split(":")[0])).toEqual(["bom.txt", "crlf.txt", "crlf.txt", "latin1.txt"]);
  });

  it("a match over several lines gives each of them", async () => {
    using tree = new Tree({ "a.txt": "begin\nmiddle\nend\nother\n" });
    const query = { pattern: "begin.*end", multiline: true };
    expect((await lines(tree, query)).map(line => line.split(":")[1])).toEqual(["1", "2", "3"]);
    expect(await lines(tree, { pattern: "begin.*end" })).toEqual([]);
    expect(await lines(tree, { pattern: "begin\nmiddle", literal: true })).toEqual([]);
  });

  it("hostile names are reported unchanged, and none is taken for an option", async () => {
    const names = [
      "-e",
      "--pre=sh",
      "a\nb",
      "with space",
      "ünï",
      "a:1:b",
      "- -",
      "😀",
      "\uff5e",
      "$(x)",
      "'\"",
    ];
    using tree = new Tree(Object.fromEntries(names.map(name => [name, "needle\n"])));
    writeFileSync(Buffer.concat([Buffer.from(`${tree.path}/`), Buffer.from([0x66, 0xff, 0x66])]), "needle\n");
    using directory = tree.directory();
    for (const limit of [undefined, 100]) {
      const files = await all(grep(directory, { pattern: "needle", literal: true }, { limit }));
      expect(files.map(file => file.path)).toEqual(byteSorted([...names, "f\\xfff"]));
      expect(files.find(file => file.path === "f\\xfff")?.raw).toEqual(Buffer.from([0x66, 0xff, 0x66]));
    }
    expect(await lines(tree, { pattern: "--pre=sh" })).toEqual([]);
    const one = await all(grep(directory, { pattern: "needle" }, { file: "--pre=sh" }));
    expect(one.map(file => file.path)).toEqual(["--pre=sh"]);
  });

  const bytes = ["1", "a", "\\xff", "\\x5c", "\xff", "\xc3", "e\xcc\x81", "\x01"];
  // Without /proc, directories with other names than UTF-8 are left out.
  const places = hasProc ? bytes : bytes.filter(name => isUtf8(Buffer.from(name, "latin1")));
  it.each(places)(
    "each file in %j is found once, whichever bytes its name consists of",
    async directoryName => {
      using tree = new Tree();
      const below = (place: Buffer, name: string) =>
        Buffer.concat([place, Buffer.from("/"), Buffer.from(name, "latin1")]);
      const place = below(Buffer.from(tree.path), directoryName);
      mkdirSync(place);
      const expected = bytes.map(name => {
        const path = below(place, name);
        writeFileSync(path, "needle\n");
        return written(path).slice(tree.path.length + 1);
      });
      using directory = tree.directory();
      for (const limit of [undefined, 3, 100]) {
        const files = await all(grep(directory, { pattern: "needle", literal: true }, { limit }));
        expect(files.map(file => file.path)).toEqual(byteSorted(expected).slice(0, limit));
      }
    },
  );

  it("exclusions leave directories out, also literal ones", async () => {
    using tree = new Tree({
      "node_modules/a/b.js": "x\n",
      "src/node_modules/c.js": "x\n",
      "src/a.js": "x\n",
      "dist/d.js": "x\n",
    });
    const exclude = excludeGlobs(["**/node_modules", "dist/**"]);
    expect(await lines(tree, { pattern: "x" }, { exclude })).toEqual(["src/a.js:1:1:x"]);
    const upper = excludeGlobs(["**/NODE_MODULES/**"], { ignoreCase: true });
    expect(await lines(tree, { pattern: "x" }, { exclude: upper })).toEqual([
      "dist/d.js:1:1:x",
      "src/a.js:1:1:x",
    ]);
  });

  it("globs select by their own rules, not by ripgrep's", async () => {
    using tree = new Tree({
      "a.TS": "x\n",
      "b.ts": "x\n",
      "c.é": "x\n",
      "d[1]": "x\n",
      "sub/e.Ts": "x\n",
      "f,g": "x\n",
    });
    const found = async (pattern: string, rules: GlobRules) =>
      (await lines(tree, { pattern: "x" }, { include: includeGlobs([pattern], rules) })).map(
        line => line.split(":")[0],
      );
    expect(await found("*.ts", { ignoreCase: true, crossing: true })).toEqual(["a.TS", "b.ts", "sub/e.Ts"]);
    expect(await found("*.ts", { slashless: "base-name" })).toEqual(["b.ts"]);
    expect(await found("*.é", {})).toEqual(["c.é"]);
    expect(await found("d\\[1\\]", {})).toEqual(["d[1]"]);
    expect(await found("*,g", {})).toEqual(["f,g"]);
  });

  it("an invalid regular expression is refused with the reason", async () => {
    using tree = new Tree({ "a.txt": "x\n" });
    for (const pattern of ["foo(", "[", "*"]) {
      const refusal = await lines(tree, { pattern }).catch(error => error);
      expect(refusal, pattern).toMatchObject({
        code: "invalid_pattern",
        data: { problem: { is: "message", message: expect.stringMatching(/error/) } },
      });
    }
    expect(Fault.is(await lines(tree, { pattern: "x".repeat(5000) }).catch(e => e), "invalid_pattern")).toBe(
      true,
    );
    expect(await lines(tree, { pattern: "x\0y", literal: true })).toEqual([]);
  });

  it("neither a FIFO nor a link is read, and an unreadable directory is counted", async () => {
    using tree = new Tree({ "a.txt": "needle\n", "closed/b.txt": "needle\n" });
    execFileSync("mkfifo", [join(tree.path, "pipe")]);
    symlinkSync("a.txt", join(tree.path, "link"));
    symlinkSync("/etc", join(tree.path, "etc"));
    chmodSync(join(tree.path, "closed"), 0);
    using directory = tree.directory();
    const search = grep(directory, { pattern: "needle" });
    const paths = (await all(search)).map(file => file.path);
    // Nothing is closed to root.
    if (process.getuid?.() === 0) expect(paths).toEqual(["a.txt", "closed/b.txt"]);
    else {
      expect(paths).toEqual(["a.txt"]);
      expect(search.report.inaccessible).toBe(1);
    }
    chmodSync(join(tree.path, "closed"), 0o755);
  });

  it("large files in UTF-16 are searched too, wherever the line is", async () => {
    const text = `\ufeff${"plain 😀 text\n".repeat(200_000)}a nädel\n`;
    const bytes = Buffer.from(text, "utf16le");
    using tree = new Tree({ "be.txt": Buffer.from(bytes).swap16(), "le.txt": bytes });
    expect(await lines(tree, { pattern: "nädel", literal: true })).toEqual([
      "be.txt:200001:3:a nädel",
      "le.txt:200001:3:a nädel",
    ]);
  });

  it.runIf(hasProc)("one line of 100 MB is searched and cut, in bounded memory", async () => {
    using tree = new Tree({ "long.txt": "needle " });
    truncateSync(join(tree.path, "long.txt"), 100 * 1024 * 1024);
    using directory = tree.directory();
    const before = process.memoryUsage().rss;
    const [file] = await all(grep(directory, { pattern: "needle" }, { maxLineBytes: 1000 }));
    const line = file?.lines[0];
    expect(line).toMatchObject({ number: 1, column: 0, cut: true });
    expect(line?.text.length).toBe(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
    const small = grep(directory, { pattern: "needle" }, { maxFileSize: 1024 });
    expect(await all(small)).toEqual([]);
  });

  it.runIf(hasProc)(
    "cancelling, running out of time and leaving the loop leave no process behind",
    async () => {
      using tree = new Tree({ "long.txt": "x" });
      truncateSync(join(tree.path, "long.txt"), 600 * 1024 * 1024);
      using directory = tree.directory();
      const own = (): string[] => ripgreps(tree.path);
      // A busy machine may not let us see it before it has come to its end.
      for (let isSeen = false; !isSeen; ) {
        const abort = new AbortController();
        let isDone = false;
        const cancelled = all(grep(directory, { pattern: "[yz]+q" }, { signal: abort.signal }))
          .catch(error => error)
          .finally(() => {
            isDone = true;
          });
        await until(() => isDone || own().length > 0);
        isSeen = !isDone;
        abort.abort();
        const outcome = await cancelled;
        if (isSeen) expect(Fault.is(outcome, "cancelled")).toBe(true);
      }
      await until(() => own().length === 0);
      const late = grep(directory, { pattern: "[yz]+q" }, { timeoutMs: 30 });
      await all(late);
      expect(late.report.stopped).toBe("time");
      await until(() => own().length === 0);
      tree.add({ "a.txt": "y1q\n", "b.txt": "y1q\n" });
      for await (const _ of grep(directory, { pattern: "y1q" }, { exclude: excludeGlobs(["long.txt"]) }))
        break;
      await until(() => own().length === 0);
    },
  );

  it("a file outside is not found while a directory is swapped for a link to it", async () => {
    const names = Array.from({ length: 400 }, (_, i) => `inner${i % 8}/file${i}.txt`);
    using tree = new Tree(Object.fromEntries(names.map(name => [`sub/${name}`, "needle inside\n"])));
    using outside = new Tree(Object.fromEntries(names.map(name => [name, "needle outside\n"])));
    const sub = join(tree.path, "sub");
    const aside = join(tree.path, "aside");
    symlinkSync(outside.path, join(tree.path, "link"));
    const attack = `
      const { renameSync } = require("node:fs");
      const end = Date.now() + 4000;
      while (Date.now() < end) {
        renameSync(${JSON.stringify(sub)}, ${JSON.stringify(aside)});
        renameSync(${JSON.stringify(join(tree.path, "link"))}, ${JSON.stringify(sub)});
        renameSync(${JSON.stringify(sub)}, ${JSON.stringify(join(tree.path, "link"))});
        renameSync(${JSON.stringify(aside)}, ${JSON.stringify(sub)});
      }`;
    const attacker = spawn(process.execPath, ["-e", attack]);
    let running = true;
    attacker.once("exit", () => {
      running = false;
    });
    let inside = 0;
    while (running) {
      const found = await lines(tree, { pattern: "needle" });
      expect(found.filter(line => line.includes("outside"))).toEqual([]);
      inside += found.length;
    }
    expect(inside).toBeGreaterThan(0);
  });
});

/** The ripgreps that run in `path`. */
function ripgreps(path: string): string[] {
  return readdirSync("/proc").filter(pid => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return (
        readFileSync(`/proc/${pid}/comm`, "utf8") === "rg\n" &&
        spawnSync("readlink", [`/proc/${pid}/cwd`])
          .stdout.toString()
          .trim() === path
      );
    } catch {
      return false;
    }
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 5));
}
