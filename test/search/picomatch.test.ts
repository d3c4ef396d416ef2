// Globs against picomatch, whose semantics most JavaScript tools have. Where the two differ on purpose is listed in
// globs.ts, and listed here.
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { includeGlobs } from "../../src/engine/search/globs.ts";
import { chance } from "./tree.ts";

const options = { dot: true, posix: true, noextglob: true, strictSlashes: true };

function ours(pattern: string, path: string): boolean {
  return includeGlobs([pattern]).matches(path);
}

describe("globs and picomatch", () => {
  it("agree on hundreds of random patterns and paths", () => {
    const random = chance(8);
    const names = [
      "a",
      "b",
      "ab",
      "abc",
      "a.ts",
      "b.tsx",
      "a.b.ts",
      ".env",
      ".a",
      "x-1",
      "é",
      "src",
      "A",
      "2a",
    ];
    const pieces = [
      ...["*", "**", "?", "a", "b", "ab", ".ts", ".", "src", "é", "\\a"],
      ...["[ab]", "[!a]", "[^b]", "[a-c]", "{a,b}", "{.ts,.tsx}", "{a,{b,ab}}"],
    ];
    const path = () => Array.from({ length: 1 + random.below(4) }, () => random.pick(names)).join("/");
    const segment = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(pieces)).join("");
    let matched = 0;
    for (let round = 0; round < 600; round++) {
      const segments = Array.from({ length: 1 + random.below(4) }, () =>
        random.often(0.3) ? "**" : segment(),
      );
      const pattern = segments.join("/");
      if (/^\*\*[^/]|\}\*\*|\*\*\{|\*{3}/.test(pattern)) continue; // such as `**.ts`
      const theirs = picomatch(pattern, options);
      for (let i = 0; i < 40; i++) {
        const one = path();
        const told = theirs(one);
        if (told) matched++;
        expect(ours(pattern, one), `${pattern} with ${one}`).toBe(told);
      }
    }
    expect(matched).toBeGreaterThan(500);
  });

  it("differ where globs.ts says so", () => {
    const told: [pattern: string, path: string, ours: boolean][] = [
      ["{a}", "a", true],
      ["{a}", "{a}", false],
      ["{1..3}", "2", false],
      ["{1..3}", "1..3", true],
      ["app/[id]", "app/[id]", false],
    ];
    for (const [pattern, path, expected] of told) {
      expect(ours(pattern, path), `${pattern} with ${path}`).toBe(expected);
      expect(picomatch.isMatch(path, pattern, options), `${pattern} with ${path}`).toBe(!expected);
    }
    expect(ours("+(a|b)", "+(a|b)")).toBe(true);
    expect(ours("+(a|b)", "ab")).toBe(false);
  });
});
