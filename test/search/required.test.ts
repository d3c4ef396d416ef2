// What an expression demands of a text, held against ripgrep: no line that it finds may lack what was demanded.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { afterAll, describe, expect, it } from "vitest";
import { type Need, needOfExpression, needOfText } from "../../src/engine/regex/required.ts";

const place = mkdtempSync(join(tmpdir(), "polyfs-required-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const demands = (pattern: string, ignoreCase = false) => needOfExpression(pattern, ignoreCase);
const texts = (...found: string[]): Need => ({ texts: found, any: [] });

describe("what an expression demands", () => {
  it("is the plain text in it, in lower case", () => {
    expect(demands("Needle in")).toEqual(texts("needle in"));
    expect(demands("n[e]{2}dle\\s+in.*\\d{4}$")).toEqual(texts("needle"));
    expect(demands("\\bfunction\\s+(\\w+)\\(")).toEqual(texts("function"));
    expect(demands("(?i)^import (?P<name>type )?from")).toEqual(texts("import ", "from"));
    expect(demands("[fF]oo\\.bar\\x28")).toEqual(texts("foo.bar("));
    expect(demands("(?<!x)needle(?=y)")).toEqual(texts("needle"));
    expect(demands("(?:abc)+d")).toEqual(texts("abc", "abcd"));
    expect(demands("ab{2,}cd")).toEqual(texts("abb", "bbcd"));
  });

  it("is one of several texts where there are alternatives", () => {
    expect(demands("TODO|FIXME")).toEqual({ texts: [], any: [[texts("todo"), texts("fixme")]] });
    expect(demands("call(Sync|Async)\\(")).toEqual({
      texts: ["call"],
      any: [[texts("sync"), texts("async")]],
    });
  });

  it("is nothing where an alternative, a repetition or a short text leaves it open", () => {
    for (const pattern of [
      "TODO|x",
      "(needle)?",
      "(needle)*",
      "ne",
      "n.e.e.d",
      "[abc][def]",
      "",
      "(needle|)",
    ])
      expect(demands(pattern)).toBeUndefined();
  });

  it("is nothing where the expression is not understood", () => {
    for (const pattern of [
      "(?x) need le",
      "(?i:needle)",
      "needle(",
      "[[a-z]&&[b]]needle",
      "\\Qneedle",
      "\\1needle",
    ])
      expect(demands(pattern)).toBeUndefined();
  });

  it("is bytes beyond ASCII only where case counts", () => {
    expect(demands("café crème")).toEqual(texts("caf\xc3\xa9 cr\xc3\xa8me"));
    expect(demands("café crème", true)).toEqual(texts("caf", " cr"));
    expect(needOfText("one\ntwo\r\nthree", false)).toEqual(texts("one", "two", "three"));
  });
});

/** Numbers that are the same every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function holds({ texts: all, any }: Need, text: string): boolean {
  return all.every(one => text.includes(one)) && any.every(some => some.some(need => holds(need, text)));
}

const folded = (line: Buffer) => line.toString("latin1").replace(/[A-Z]/g, letter => letter.toLowerCase());

describe("against ripgrep", () => {
  it.each([1, 2, 3])("every line that it finds holds what is demanded (seed %i)", seed => {
    const next = random(seed);
    const pick = (from: readonly string[]) => from[next(from.length)] ?? "";
    const words = ["abc", "ABC", "needle", "éa", "k", "sst", "\u212a", "ſs", "a.c", "[", "  ", "x"];
    const lines = Array.from({ length: 400 }, () =>
      Array.from({ length: next(7) }, () => pick(words)).join(""),
    );
    const file = join(place, `lines-${seed}.txt`);
    writeFileSync(file, lines.join("\n"));
    const atoms = [
      "a",
      "b",
      "abc",
      "needle",
      "é",
      ".",
      "\\w",
      "\\d",
      "\\s",
      "[ab]",
      "[^a]",
      "[k]",
      "[nN]",
      "\\.",
      "\\x61",
      "\\b",
      "^",
      "$",
      "k",
      "s",
      "S",
      "]",
      "[[:alpha:]]",
      "\\u{e9}",
    ];
    const expression = (depth: number): string =>
      Array.from({ length: 1 + next(4) }, () => {
        const atom =
          depth > 0 && next(3) === 0
            ? `${pick(["(", "(?:", "(?P<n>", "(?=", "(?<!"])}${expression(depth - 1)})`
            : pick(atoms);
        return atom + pick(["", "", "", "", "*", "+", "?", "{2}", "{1,}", "{0,3}", "+?"]);
      }).join("") + (next(5) === 0 ? `|${pick(atoms)}${pick(atoms)}${pick(atoms)}` : "");
    let demanded = 0;
    for (let i = 0; i < 400; i++) {
      const ignoreCase = next(2) === 0;
      const pattern = pick(["", "", "(?i)"]) + expression(2);
      const need = needOfExpression(pattern, ignoreCase);
      if (need === undefined) continue;
      const found = searched(pattern, ignoreCase, file);
      // Letters with a third case are told apart by whoever asks.
      const plain = found.filter(line => !/\u212a|ſ/.test(line.toString()));
      demanded += plain.length > 0 ? 1 : 0;
      expect(plain.filter(line => !holds(need, folded(line))).map(String), pattern).toEqual([]);
    }
    expect(demanded).toBeGreaterThan(10);
  });
});

function searched(pattern: string, ignoreCase: boolean, file: string): Buffer[] {
  const args = [
    "--no-config",
    "--engine=auto",
    "--text",
    "-N",
    ...(ignoreCase ? ["-i"] : []),
    "-e",
    pattern,
    "--",
    file,
  ];
  try {
    const printed = execFileSync(rgPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    const lines: Buffer[] = [];
    for (let at = 0, end = printed.indexOf(10); end >= 0; at = end + 1, end = printed.indexOf(10, at))
      lines.push(printed.subarray(at, end));
    return lines;
  } catch {
    return []; // nothing found, or not taken
  }
}
