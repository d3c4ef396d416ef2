// Random searches beside ripgrep itself.
import { describe, expect, it } from "vitest";
import { notUtf8 } from "../../src/engine/search/binary.ts";
import { includeGlobs } from "../../src/engine/search/globs.ts";
import { grep } from "../../src/engine/search/grep.ts";
import { library, lines } from "./library.ts";
import { all, byteSorted, chance, Tree } from "./tree.ts";

const visible = { rules: true, hidden: false };

describe("random searches", () => {
  it("a hundred of them find what ripgrep finds, in path order, twice the same", async () => {
    using tree = library(3, 150);
    const random = chance(11);
    const patterns = [
      "alpha",
      "foo",
      "beta",
      "TODO|x1",
      "a.b",
      "\\bfoo\\b",
      "^alpha",
      "foo$",
      "d.lta",
      "(",
      "é",
      "[A-Z]+",
      "k",
    ];
    for (let round = 0; round < 100; round++) {
      const literal = random.often(0.4);
      const pattern = random.pick(literal ? patterns : patterns.filter(one => one !== "("));
      const query = { pattern, literal, ignoreCase: random.often(0.5), wholeWord: random.often(0.2) };
      const around = random.often(0.5) ? random.below(3) : 0;
      const ending = random.often(0.3) ? random.pick(["ts", "md"]) : undefined;
      const include = ending === undefined ? undefined : includeGlobs([`**/*.${ending}`]);
      const args = [
        "-n",
        "--column",
        "--no-heading",
        "-H",
        "--no-context-separator",
        "--no-require-git",
        "--sort=path",
      ];
      if (literal) args.push("-F");
      if (query.ignoreCase) args.push("-i");
      if (query.wholeWord) args.push("-w");
      if (around > 0) args.push(`-C${around}`);
      if (ending !== undefined) args.push("--type-add", `only:*.${ending}`, "-t", "only");
      const told = String(tree.rg([...args, "-e", pattern, "."]))
        .split("\n")
        .filter(Boolean)
        .map(line => line.slice(2));
      const options = { ignore: visible, include, before: around, after: around };
      const found = await lines(tree, query, options);
      expect(found.toSorted(), JSON.stringify(query)).toEqual(told.toSorted());
      expect(await lines(tree, query, options)).toEqual(found);
      const paths = [...new Set(found.map(line => line.replace(/[:-]\d+[:-].*$/s, "")))];
      expect(paths).toEqual(byteSorted(paths));
    }
  });

  it("plain text is found where ripgrep finds the same text as an expression", async () => {
    const random = chance(21);
    const pieces = [
      "skin",
      "SKIN",
      "\u017f\u212ain",
      "ski",
      "n",
      " ",
      "(",
      "é",
      "\r",
      "\r\n",
      "\n",
      "\n\n",
      "\0",
      "x",
    ];
    for (let round = 0; round < 60; round++) {
      const body = (length: number) => Array.from({ length }, () => random.pick(pieces)).join("");
      using tree = new Tree({ "sub/c.txt": body(30), "a.txt": body(random.below(200)), "b.txt": body(40) });
      tree.add({ "d.txt": `\ufeff${body(20)}`, "e.bin": Buffer.from(body(30), "latin1") });
      if (round % 10 === 9) tree.add({ "b2.txt": Buffer.from(`\ufeff${body(40)}`, "utf16le") });
      const pattern = random.pick(["skin", "n", "(", "i", "x", "n (", "é"]);
      const ignoreCase = random.often(0.5);
      const options = {
        before: random.below(3),
        after: random.below(4),
        limit: random.often(0.5) ? 1 + random.below(6) : undefined,
        perFile: random.often(0.3) ? 1 + random.below(3) : undefined,
        maxLineBytes: random.often(0.3) ? 5 : undefined,
        maxFileSize: random.often(0.2) ? 60 : undefined,
        binary: random.often(0.3) ? notUtf8 : undefined,
        file: random.often(0.2) ? "a.txt" : undefined,
        maxFiles: 1000, // so that they are counted
      };
      using directory = tree.directory();
      const label = JSON.stringify({ round, pattern, ignoreCase, ...options });
      const here = grep(directory, { pattern, literal: true, ignoreCase }, { ...options, columns: true });
      const there = grep(
        directory,
        { pattern: `(?:${pattern.replace("(", "\\(")})`, ignoreCase },
        { ...options, columns: true },
      );
      expect(await all(here), label).toEqual(await all(there));
      if (options.limit === undefined) expect(here.report, label).toEqual(there.report);
    }
  });

  it("an expression of nothing but characters finds what ripgrep finds, whichever of them are escaped", async () => {
    const all = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
    using tree = new Tree({ "a.txt": all.map(c => `x${c}x ${c}\n`).join("") });
    const marks = all.filter(c => !/\w/.test(c) || c === "_");
    const told = (pattern: string) => tree.rg(["-nH", "--column", "--", pattern, "a.txt"]);
    for (const pattern of [...marks, ...marks.map(c => `\\${c}`)].map(c => `x${c}x`)) {
      const found = await lines(tree, { pattern }).catch(() => "refused");
      const expected = refusable(() => String(told(pattern)).split("\n").filter(Boolean));
      expect(found, pattern).toEqual(expected);
    }
  });
});

function refusable<T>(search: () => T): T | "refused" {
  try {
    return search();
  } catch {
    return "refused";
  }
}
