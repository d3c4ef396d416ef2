// Expressions that are searched for in this process, held against ripgrep: the same lines, the same columns.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { afterAll, describe, expect, it } from "vitest";
import { alike } from "../../src/engine/regex/alike.ts";
import { finderOf } from "../../src/engine/search/finder.ts";
import { linesWith } from "../../src/engine/search/lines-with.ts";

const place = mkdtempSync(join(tmpdir(), "polyfs-alike-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Numbers that are the same every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Lines and columns; undefined where ripgrep does not take the expression. */
function ripgrep(pattern: string, ignoreCase: boolean, file: string): string[] | undefined {
  const options = [
    "--no-config",
    "--text",
    "--crlf",
    "--column",
    "--no-filename",
    "-n",
    ignoreCase ? "-i" : "-s",
  ];
  const { stdout, status } = spawnSync(rgPath, [...options, "-e", pattern, "--", file], {
    encoding: "latin1",
  });
  if (status === 2) return undefined;
  return stdout.split("\n").flatMap(line => /^\d+:\d+/.exec(line)?.[0] ?? []);
}

/** The same by ourselves; undefined where that is not for us. */
function own(pattern: string, ignoreCase: boolean, bytes: Buffer): string[] | undefined {
  const find = finderOf({ pattern, ignoreCase });
  const all = Number.POSITIVE_INFINITY;
  const lines = find && linesWith(find, bytes, { before: 0, after: 0, most: all, maxLineBytes: all });
  return lines?.map(({ number, column = 0 }) => `${number}:${column + 1}`);
}

describe("an expression that is searched for here", () => {
  it.each([1, 2, 3, 4])("finds what ripgrep finds, wherever we dare (seed %i)", seed => {
    const next = random(seed);
    const pick = (from: readonly string[]) => from[next(from.length)] ?? "";
    const pieces = [
      "a",
      "b",
      "ab",
      "AB",
      "x1",
      "needle",
      " ",
      "\t",
      "_",
      "-",
      "12",
      ".",
      "é",
      "\u212a",
      "ſ",
      "(",
      "]",
      "",
      "\0",
      "\x0b",
    ];
    const endings = [["\n"], ["\n"], ["\n"], ["\r\n", "\n", "\r"]][next(4)] ?? ["\n"];
    const words = next(3) === 0 ? pieces : pieces.filter(piece => /^[\t-~]*$/.test(piece));
    const text = Array.from(
      { length: 150 },
      () => Array.from({ length: next(8) }, () => pick(words)).join("") + pick(endings),
    ).join("");
    const bytes = Buffer.from(text);
    const file = join(place, `lines-${seed}.txt`);
    writeFileSync(file, bytes);
    const atoms = [
      "a",
      "b",
      "ab",
      "needle",
      "1",
      "_",
      "-",
      " ",
      "\\.",
      "\\(",
      "\\]",
      ".",
      "\\w",
      "\\d",
      "\\s",
      "\\W",
      "\\D",
      "\\S",
      "\\b",
      "\\B",
      "^",
      "$",
      "[ab]",
      "[^ab]",
      "[a-x_]",
      "[\\w.-]",
      "[^\\s]",
      "[0-9-]",
      "é",
      "k",
      "s",
      "\\-",
      "\\#",
    ];
    const expression = (depth: number): string => {
      const some = Array.from({ length: 1 + next(4) }, () => {
        const atom =
          depth > 0 && next(4) === 0 ? `${pick(["(", "(?:"])}${expression(depth - 1)})` : pick(atoms);
        return atom + pick(["", "", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "+?", "*?", "??"]);
      });
      return some.join("") + (next(4) === 0 ? `|${expression(Math.max(0, depth - 1))}` : "");
    };
    let compared = 0;
    for (let i = 0; i < 150; i++) {
      const ignoreCase = next(4) === 0;
      const pattern = pick(["", "", "", "(?i)"]) + expression(2);
      const found = own(pattern, ignoreCase, bytes);
      if (found === undefined) continue;
      compared++;
      expect(found, JSON.stringify(pattern)).toEqual(ripgrep(pattern, ignoreCase, file));
    }
    expect(compared).toBeGreaterThan(10);
  });

  it("is one that ripgrep takes, whatever is escaped in it", () => {
    const file = join(place, "empty.txt");
    writeFileSync(file, "");
    for (let code = 32; code < 127; code++) {
      const char = String.fromCharCode(code);
      for (const pattern of [
        `a\\${char}`,
        `a[\\${char}]`,
        `a[${char}]`,
        `a[b${char}c]`,
        `a${char}`,
        `a[${char}-z]`,
      ]) {
        if (alike(pattern, false) !== undefined) expect(ripgrep(pattern, false, file), pattern).toEqual([]);
      }
    }
  });

  it("is none that could take long", () => {
    for (const pattern of ["(a+)+b", "(a|ab)*c", "(a*)*", "(?:a?){50}b", "a{1000}", "x{0,9}{0,9}y"])
      expect(alike(pattern, false), pattern).toBeUndefined();
    const long = Buffer.from(`${"a".repeat(20_000)}\n`);
    expect(own("a+a+a+b", false, long)).toBeUndefined();
    expect(own("a+a+a+needle", false, long)).toEqual([]);
  });

  it("is none that compares a long text at every place of a large file", () => {
    const large = Buffer.alloc(1_000_000, "a");
    expect(own(`${"[a-c]{100}".repeat(90)}b`, false, large)).toBeUndefined();
    expect(own("[a-c]{8}b", false, large)).toEqual([]);
    const pattern = `${"a".repeat(1900)}b${"a".repeat(1900)}`;
    for (const ignoreCase of [false, true]) {
      const find = finderOf({ pattern, literal: true, ignoreCase });
      expect(find?.(large)).toBeUndefined();
      expect(find?.(large.subarray(0, 20_000))?.(0)).toBe(-1);
    }
  });
});
