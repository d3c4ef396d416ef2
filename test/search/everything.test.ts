// A search finds everything in the files, says so where it could not, and takes ignore files as input that
// an attacker may have written. The long form of much of this is `npm run proof -- search`.
import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { searchLines } from "../../src/engine/regex/find.ts";
import { grep } from "../../src/engine/search/grep.ts";
import type { FileHits, GrepOptions } from "../../src/engine/search/grep-terms.ts";
import type { Query } from "../../src/engine/search/ripgrep.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { hasProc } from "../setup/proc.ts";
import { all, Tree } from "./tree.ts";

const rules = { rules: true, hidden: true };

async function found(tree: Tree, query: Query, options: GrepOptions = {}): Promise<string[]> {
  using directory = tree.directory();
  return numbered(await all(grep(directory, query, options)));
}

function numbered(files: readonly FileHits[]): string[] {
  return files.flatMap(({ path, lines }) => lines.map(({ number, text }) => `${path}:${number}:${text}`));
}

describe("an ignore file", () => {
  it.each([".gitignore", ".ignore", ".rgignore"])("%s that is not a regular file is ignored", async name => {
    using tree = new Tree({ "a/kept.txt": "needle\n", "b/kept.txt": "needle\n", "c/kept.txt": "needle\n" });
    writeFileSync(join(tree.path, "../outside"), "kept.txt\n");
    symlinkSync("/dev/zero", join(tree.path, "a", name));
    symlinkSync("../../outside", join(tree.path, "b", name));
    execFileSync("mkfifo", [join(tree.path, "c", name)]);
    const expected = ["a/kept.txt", "b/kept.txt", "c/kept.txt"];
    using directory = tree.directory();
    const walked = await all(walk(directory, { ignore: rules }));
    expect(walked.filter(entry => entry.kind === "file").map(entry => entry.path)).toEqual(expected);
    for (const query of [{ pattern: "needl[e]" }, { pattern: "needle", literal: true }]) {
      const files = await all(grep(directory, query, { ignore: rules }));
      expect(files.map(file => file.path)).toEqual(expected);
    }
  });

  it("of a gigabyte counts up to its first megabyte", async () => {
    using tree = new Tree({ ".gitignore": "out\n", "out/a.txt": "needle\n", "in.txt": "needle\n" });
    truncateSync(join(tree.path, ".gitignore"), 2 ** 30);
    const include = { include: undefined, ignore: { rules: true, hidden: false } };
    expect(await found(tree, { pattern: "needl[e]" }, include)).toEqual(["in.txt:1:needle"]);
  });

  it("is read as git reads it", async () => {
    const names = ["{a,b}", "a", "b", "[ab", "t\t", "t", "x", "7"];
    using tree = new Tree(Object.fromEntries(names.map(name => [name, "needle\n"])));
    tree.git("init", "-q");
    writeFileSync(join(tree.path, ".gitignore"), "{a,b}\n[ab\nt\t\n[[:digit:]]\n");
    const ignored = tree.gitIgnored(names);
    expect([...ignored].sort()).toEqual(["7", "t\t", "{a,b}"]);
    const files = (await found(tree, { pattern: "needl[e]" }, { ignore: rules })).map(
      line => line.split(":")[0],
    );
    expect(files.sort()).toEqual(names.filter(name => !ignored.has(name)).sort());
  });
});

describe("a ripgrep that dies", () => {
  it.runIf(hasProc)(
    "is not taken for one that finished, if it ran out of memory",
    async () => {
      using tree = new Tree({ "a.txt": "needle\n", "sparse.bin": "" });
      truncateSync(join(tree.path, "sparse.bin"), 6 * 2 ** 30);
      using directory = tree.directory();
      const search = grep(directory, { pattern: "needl[e]" });
      expect(numbered(await all(search))).toEqual(["a.txt:1:needle"]);
      expect(search.report.stopped).toBe("memory");
    },
    240_000,
  );

  it.runIf(hasProc)(
    "is not taken for one that finished, if it was killed",
    async () => {
      using tree = new Tree({ "a.txt": "needle\n" });
      writeFileSync(join(tree.path, "large.txt"), `${"y".repeat(99)}\n`.repeat(2_000_000));
      using directory = tree.directory();
      const search = grep(directory, { pattern: "(y|z)+(q|needle)|needl[e]" });
      const killer = setInterval(() => {
        for (const pid of ripgrepsIn(tree.path)) process.kill(pid, "SIGKILL");
      }, 1);
      await all(search).finally(() => clearInterval(killer));
      expect(search.report.stopped).toBe("killed");
    },
    240_000,
  );
});

describe("lines", () => {
  it("are all found across lines, however many matches they have", async () => {
    using tree = new Tree({ "a.txt": "foo(foo)\n".repeat(90) });
    expect(await found(tree, { pattern: "f.o", multiline: true }, { limit: 101 })).toHaveLength(90);
  });

  it.each(["windows-1251", "koi8-r", "shift_jis", "euc-jp", "utf-16le", "utf-16be"])(
    "in %s are found by the words that reading returns",
    async encoding => {
      const text = encoding.startsWith("utf") ? english : /jis|jp/.test(encoding) ? japanese : russian;
      const lines = Array.from({ length: 8 }, (_, i) => `${text} ${i}`);
      const bytes = iconv.encode(`${lines.join("\n")}\n`, encoding, { addBOM: false });
      using tree = new Tree({ "a.txt": bytes, "b.txt": "nothing\n" });
      const word = text.split(" ")[1] ?? "";
      const expected = lines.map((line, i) => `a.txt:${i + 1}:${line}`);
      for (const query of [
        { pattern: word, literal: true },
        { pattern: `${word} +\\w` },
        { pattern: word.toUpperCase(), literal: true, ignoreCase: true },
      ])
        expect(await found(tree, query, { reading: "detected" }), JSON.stringify(query)).toEqual(expected);
      expect(await found(tree, { pattern: "no such word", literal: true }, { reading: "detected" })).toEqual(
        [],
      );
    },
  );

  it("in UTF-16 are found although a byte is missing at the end", async () => {
    const bytes = Buffer.from("\ufeffone needle\ntwo\nlast needle", "utf16le");
    using tree = new Tree({ "a.txt": Buffer.concat([bytes, Buffer.from("x")]) });
    for (const query of [{ pattern: "needle", literal: true }, { pattern: "needl[e]" }])
      expect((await found(tree, query)).map(line => line.replace(/\ufffd$/, ""))).toEqual([
        "a.txt:1:one needle",
        "a.txt:3:last needle",
      ]);
  });

  it("that end with CR alone are counted as reading counts them", async () => {
    using tree = new Tree({ "a.txt": "one\rtwo needle\rthree\r" });
    for (const query of [
      { pattern: "needle", literal: true },
      { pattern: "needl[e]" },
      { pattern: "^two.*e$" },
    ])
      expect(await found(tree, query), JSON.stringify(query)).toEqual(["a.txt:2:two needle"]);
  });

  it("are found by a class that has a carriage return", async () => {
    using tree = new Tree({ "a.txt": "one\rtwo\nthree\n" });
    for (const pattern of ["[\\r]", "[\\r\\n]", "e[\\rx]t"])
      expect(await found(tree, { pattern }), pattern).toEqual(["a.txt:1:one\rtwo"]);
  });

  it("are not found in an empty file", async () => {
    expect((await searchLines("^$", "", ["", "\n"])).hits.map(hits => hits.length)).toEqual([0, 1]);
  });
});

const russian = "сначала слово потом слово потому что поиск находит его везде где чтение его показывает";
const japanese = "これは にほんごの ぶんしょうです ことばを さがして みつけるための ファイルです";
const english = "the quick brown fox jumps over the lazy dog";

function ripgrepsIn(path: string): number[] {
  return readdirSync("/proc").flatMap(pid => {
    try {
      const isOne =
        readlinkSync(`/proc/${pid}/cwd`) === path && readlinkSync(`/proc/${pid}/exe`).endsWith("/rg");
      return isOne ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}
