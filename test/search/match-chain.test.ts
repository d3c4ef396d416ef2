// A multi-line search takes time in proportion to the text, and finds the same lines as ripgrep does by itself.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { grep } from "../../src/engine/search/grep.ts";
import { matchChain } from "../../src/engine/search/match-chain.ts";
import { ripgrepPath } from "../../src/engine/search/ripgrep.ts";
import { all, Tree } from "./tree.ts";

describe("the matches of a line as one", () => {
  it("cover the same lines as the matches one by one, for random expressions and texts", async () => {
    const chance = new Chance(20261116);
    const rg = await ripgrepPath();
    const lines = (args: readonly string[], text: string): string => {
      try {
        const options = { input: text, encoding: "utf8" } as const;
        return execFileSync(
          rg,
          ["-nU", "--multiline-dotall", "--crlf", "--text", "--no-messages", ...args, "-"],
          options,
        );
      } catch (error) {
        return String((error as { status: number }).status);
      }
    };
    let matched = 0;
    for (let i = 0; i < 70; i++) {
      const source = expression(chance, 3);
      const text = Array.from({ length: chance.below(60) }, () =>
        chance.pick([..."aabbx \n\n\r", "\r\n"]),
      ).join("");
      const wholeWord = chance.below(4) === 0;
      const chain = matchChain(source, wholeWord);
      const typed = lines([...(wholeWord ? ["-w"] : []), "-e", source], text);
      if (typed !== "1" && typed !== "2") matched++;
      if (typed !== "2" && chain !== undefined)
        expect([source, text, lines(["-e", chain], text)]).toEqual([source, text, typed]);
    }
    expect(matched).toBeGreaterThan(25);
  });

  it("take the next match of a line, and not its last one, which may hide a longer match", async () => {
    using tree = new Tree({ "a.txt": "x a b\nq z\nrest\n" });
    using directory = tree.directory();
    const [found] = await all(grep(directory, { pattern: "a.*?z|b|x", multiline: true }));
    expect(found?.lines?.map(({ number }) => number)).toEqual([1, 2]);
  });

  it("are left as typed where brackets do not close, so that a wrong pattern stays wrong", async () => {
    for (const source of ["a)(b", "(a", "[a", "a)", "(?x) a # )"]) expect(matchChain(source)).toBeUndefined();
    using tree = new Tree({ "a.txt": "ab\n" });
    using directory = tree.directory();
    for (const pattern of ["*a", "(?P<n>a"])
      await expect(all(grep(directory, { pattern, multiline: true }))).rejects.toMatchObject({
        code: "invalid_pattern",
        data: { problem: { message: expect.not.stringContaining("(?-u:") } },
      });
  });

  it("are given up where ripgrep refuses them, as with the name of a group there twice", async () => {
    using tree = new Tree({ "a.txt": "ab\nb\n" });
    using directory = tree.directory();
    const found = await all(grep(directory, { pattern: "(?P<first>a)b\nb", multiline: true }));
    expect(found).toMatchObject([{ path: "a.txt", count: 2 }]);
  });

  it("are found in a line of four million of them", async () => {
    using tree = new Tree({});
    writeFileSync(join(tree.path, "long.txt"), `${"xy".repeat(4_000_000)}\nz\n`);
    using directory = tree.directory();
    const found = await all(grep(directory, { pattern: "x.", multiline: true }, { maxLineBytes: 100 }));
    expect(found).toMatchObject([{ path: "long.txt", count: 1 }]);
  });
});

function expression(chance: Chance, depth: number): string {
  const inner = (): string => expression(chance, depth - 1);
  switch (chance.below(depth === 0 ? 4 : 9)) {
    case 0:
      return chance.pick(["a", "b", "x", " "]);
    case 1:
      return chance.pick([".", "\\s", "[^a]", "\\w", "\\n", "[ab]"]);
    case 2:
      return chance.pick(["^a", "b$", "\\ba", "x\\b", "^", "$", "\\n\\n"]);
    case 3:
      return chance.pick(["ab", "a\\nb", "bb", "a.b"]);
    case 4:
      return `${inner()}${inner()}`;
    case 5:
      return `(?:${inner()}|${inner()})`;
    case 6:
      return `(?:${inner()})${chance.pick(["*", "+", "?", "*?", "+?", "{2}"])}`;
    case 7:
      return `(${inner()})`;
    default:
      return `${inner()}|${inner()}`;
  }
}
