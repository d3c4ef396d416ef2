import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { excludeGlobs, type GlobRules, includeGlobs } from "../../src/engine/search/globs.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { all, byteSorted, chance, Tree } from "./tree.ts";

function matches(pattern: string, path: string, rules?: GlobRules): boolean {
  return includeGlobs([pattern], rules).matches(path);
}

describe("globs", () => {
  it("mean what they mean to ripgrep, pattern by pattern over a tree", async () => {
    const random = chance(7);
    const paths = [
      ...[
        "a",
        "ab",
        "b.ts",
        "a.b.ts",
        "src/a.ts",
        "src/b/c.ts",
        "src/b/c/d.tsx",
        "src/[x]",
        "x{y}",
        "a b/c d.md",
      ],
      ...[
        "deep/deep/deep/a.ts",
        "lib/A.TS",
        "lib/-x",
        "é/ü.txt",
        ".hidden/x.ts",
        "src/.env",
        "sr/c",
        "s/r/c",
      ],
    ];
    const pieces = [
      "*",
      "**",
      "?",
      "a",
      "b",
      "src",
      ".ts",
      "[ab]",
      "[!a]",
      "{a,b}",
      "{.ts,.tsx}",
      "/",
      "/**/",
      "deep",
      "c",
    ];
    using tree = new Tree(Object.fromEntries(paths.map(path => [path, "x\n"])));
    using directory = tree.directory();
    for (let round = 0; round < 120; round++) {
      const pattern = Array.from({ length: 1 + random.below(5) }, () => random.pick(pieces)).join("");
      if (/^\/|\/\/|\/$|\*\*\*|[^/]\*\*|\*\*[^/]|^\*\*$/.test(pattern)) continue;
      const include = includeGlobs([pattern], { slashless: "base-name" });
      const found = await all(walk(directory, { include }));
      const own = found.filter(entry => entry.kind === "file").map(entry => entry.path);
      const told = tree.rg(["--files", "--no-ignore", "--hidden", "-0", "-g", pattern]);
      expect(own, pattern).toEqual(byteSorted(String(told).split("\0").filter(Boolean)));
    }
  });

  it("a star stays in its segment, unless it crosses", () => {
    expect(matches("*.rs", "src/a.rs")).toBe(false);
    expect(matches("*.rs", "src/a.rs", { crossing: true })).toBe(true);
    expect(matches("src/*", "src/a/b", { crossing: true })).toBe(true);
    expect(matches("src?a", "src/a", { crossing: true })).toBe(true);
    expect(matches("src/*", "src/a/b")).toBe(false);
    expect(matches("src/**", "src/a/b")).toBe(true);
    expect(matches("src/**", "src")).toBe(false);
    expect(matches("**/a", "a")).toBe(true);
    expect(matches("a/**/b", "a/b")).toBe(true);
    expect(matches("a/**/b", "a/x/y/b")).toBe(true);
    expect(matches("a/**/b", "ab")).toBe(false);
    expect(matches("a/**/b/*.c", "a/b/x/b/y.c")).toBe(true);
  });

  it("classes, escapes, braces and case", () => {
    expect(matches("[a-c]x", "bx")).toBe(true);
    expect(matches("[!a-c]x", "bx")).toBe(false);
    expect(matches("[]]", "]")).toBe(true);
    expect(matches("\\*", "*")).toBe(true);
    expect(matches("\\*", "a")).toBe(false);
    expect(matches("*.{js,{ts,mts}}", "a.mts")).toBe(true);
    expect(matches("a{,b}c", "ac")).toBe(true);
    expect(matches("*.TS", "a.ts", { ignoreCase: true })).toBe(true);
    expect(matches("?.txt", "😀.txt")).toBe(true);
  });

  it("a pattern without a slash, with and without reach", () => {
    expect(matches("a.ts", "src/a.ts")).toBe(false);
    expect(matches("a.ts", "src/a.ts", { slashless: "base-name" })).toBe(true);
    expect(matches("src/a.ts", "x/src/a.ts", { slashless: "base-name" })).toBe(false);
  });

  it("are read against the directory that they are meant for", () => {
    expect(matches("src/*.ts", "a.ts", { below: "src" })).toBe(true);
    expect(matches("/home/me/src/*.ts", "a.ts", { absolute: "/home/me/src" })).toBe(true);
    expect(matches("/home/you/src/*.ts", "a.ts", { absolute: "/home/me/src" })).toBe(false);
  });

  it("an exclusion covers the directory and its contents", () => {
    const set = excludeGlobs(["dist/**", "**/node_modules", "tmp/"]);
    for (const path of ["dist", "dist/a", "node_modules", "a/node_modules", "tmp"])
      expect(set.matches(path), path).toBe(true);
    expect(set.matches("distant")).toBe(false);
    const literal = excludeGlobs(["build"], { literalPrefix: true, slashless: "base-name" });
    expect(literal.matches("build/a/b")).toBe(true);
    expect(literal.matches("builder")).toBe(false);
  });

  it("a product of braces, a long pattern and an unclosed one are refused at once", () => {
    const reason = (pattern: string): unknown => {
      try {
        includeGlobs([pattern], { strict: true });
      } catch (error) {
        return Fault.is(error, "invalid_pattern") ? error.data.kind : error;
      }
      return "accepted";
    };
    expect(reason("{a,b}".repeat(25))).toBe("glob");
    expect(reason("{a,".repeat(1200) + "}".repeat(1200))).toBe("glob");
    expect(reason("x".repeat(5000))).toBe("glob");
    for (const pattern of ["[a", "{a,b", "", "a\\"]) expect(reason(pattern), pattern).toBe("glob");
    expect(reason("{a,b}".repeat(5))).toBe("accepted");
  });

  it("no pattern takes more steps than pattern length times path length", () => {
    const path = `${`${"a".repeat(250)}/`.repeat(16)}a`;
    for (const pattern of [
      `${"*a".repeat(100)}b`,
      `${"**/".repeat(100)}b`,
      `${"*a*/".repeat(16)}b`,
      `${"?*".repeat(200)}b`,
    ]) {
      expect(matches(pattern, path)).toBe(false);
      expect(matches(pattern, path, { crossing: true })).toBe(false);
    }
  });

  it.each([
    ["src/@(a|b)/*.ts", "group", "@(a|b)"],
    ["!(*.test).ts", "group", "!(*.test)"],
    ["*(a|b).ts", "group", "*(a|b)"],
    ["file{1..3}.txt", "brace_range", "{1..3}"],
    ["{a,{b..d}}", "brace_range", "{b..d}"],
    ["[z-a].ts", "backwards_range", "z-a"],
    ["[!0-9b-a]", "backwards_range", "b-a"],
  ])("a strict set refuses %s, which would match nothing, and says why", (pattern, is, found) => {
    expect(() => includeGlobs([pattern], { strict: true })).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ problem: { is, found } }) }),
    );
  });

  it.each([
    ["app/(auth)/*.tsx", "app/(auth)/page.tsx"],
    ["*(1).txt", "copy(1).txt"],
    ["\\@(a|b)", "@(a|b)"],
    ["{a..,b}", "a.."],
    ["[a-]x", "-x"],
    ["[]-a]", "^"],
    ["[a\\-b]", "-"],
  ])("a strict set takes %s for what it says", (pattern, path) => {
    expect(matches(pattern, path, { strict: true })).toBe(true);
  });
});
