import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { findAll, literalPattern, searchLines } from "../../src/engine/regex/find.ts";
import { dollarStyle, expand, readReplacement, sedStyle } from "../../src/engine/regex/replacement.ts";

const endless = "^(a+)+$";
const victim = `${"a".repeat(40)}!`;

describe("finding by a regular expression", () => {
  it("returns the positions of matches and groups, also of groups that did not participate", async () => {
    const found = await findAll("(?<key>\\w+)=(\\d+)?(x)?", "", "a=12 bc=x", {});
    expect(found.matches.map(m => [m.start, m.end])).toEqual([
      [0, 4],
      [5, 9],
    ]);
    expect(found.matches[1]?.groups).toEqual([{ start: 5, end: 7 }, undefined, { start: 8, end: 9 }]);
    expect([found.groups, found.names.get("key")]).toEqual([3, 1]);
  });

  it("finds empty matches where native replacing does, and continues after them", async () => {
    for (const [pattern, flags, text] of [
      ["^", "m", "a\nb\n"],
      ["x*", "", "axb"],
      ["", "u", "a😀b"],
      ["$", "m", "a\n\nb"],
    ] as const) {
      const native: number[] = [];
      text.replace(new RegExp(pattern, `${flags}g`), (...args) => {
        native.push(args.at(-2) as number);
        return "";
      });
      expect((await findAll(pattern, flags, text)).matches.map(m => m.start)).toEqual(native);
    }
  });

  it("stops at its limit and says that there is more", async () => {
    const found = await findAll("a", "", "aaaa", { limit: 2 });
    expect([found.matches.length, found.more]).toEqual([2, true]);
    expect((await findAll("a", "", "aa", { limit: 2 })).more).toBe(false);
  });

  it("matches line by line on request, without a line after the last break", async () => {
    const found = await findAll("^.*$", "", "a\nb\n", { byLine: true });
    expect(found.matches.map(m => [m.start, m.end])).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect((await findAll("a\\s*b", "", "a\nb", { byLine: true })).matches).toEqual([]);
  });

  it("refuses an invalid pattern", async () => {
    await expect(findAll("(", "", "x")).rejects.toSatisfy(
      e => Fault.is(e, "invalid_pattern") && e.data.kind === "regex",
    );
    await expect(findAll("a".repeat(5000), "", "x")).rejects.toSatisfy(e => Fault.is(e, "invalid_pattern"));
  });

  it("stops a runaway pattern at its deadline; other patterns run during and after it", async () => {
    const runaway = findAll(endless, "", victim, { ms: 150 });
    const caught = expect(runaway).rejects.toSatisfy(e => Fault.is(e, "timeout") && e.data.ms === 150);
    expect((await findAll("b", "", "abc")).matches.length).toBe(1);
    await caught;
    const many = await Promise.allSettled(
      Array.from({ length: 5 }, () => findAll(endless, "", victim, { ms: 50 })),
    );
    expect(many.every(one => one.status === "rejected")).toBe(true);
    expect((await findAll("c", "", "abc")).matches.length).toBe(1);
  });

  it("can be cancelled", async () => {
    const control = new AbortController();
    const runaway = findAll(endless, "", victim, { ms: 60_000, signal: control.signal });
    setTimeout(() => control.abort(), 20);
    await expect(runaway).rejects.toSatisfy(e => Fault.is(e, "cancelled"));
  });

  it("takes a literal literally", async () => {
    const odd = "a.b*c[$]{1}/\\-^|?()";
    for (const flags of ["", "u", "iu"])
      expect((await findAll(literalPattern(odd), flags, `x${odd}x`)).matches.length).toBe(1);
  });
});

describe("searching the lines of many texts", () => {
  it("returns each line once, with its first match and the number of matches", async () => {
    const { hits, timedOut } = await searchLines("o", "i", ["one\nfoo\nbar", "", "O\n"]);
    expect(timedOut).toBe(false);
    expect(hits).toEqual([
      [
        { line: 1, start: 0, end: 1, count: 1 },
        { line: 2, start: 1, end: 2, count: 2 },
      ],
      [],
      [{ line: 1, start: 0, end: 1, count: 1 }],
    ]);
  });

  it("returns what it has when time runs out", async () => {
    const { hits, timedOut } = await searchLines(endless, "", ["aaa\n", victim, "aaa\n"], { ms: 3000 });
    expect([hits.length, hits[0]?.length, timedOut]).toEqual([1, 1, true]);
  });
});

describe("a replacement text", () => {
  const where = { path: "f", edit: 0 };
  const replaced = async (pattern: string, template: string, text: string, style = dollarStyle) => {
    const found = await findAll(pattern, "", text);
    const parts = readReplacement(template, style, found, where);
    return found.matches.map(match => expand(parts, text, match)).join("|");
  };

  it("supports dollar references, names and the whole match", async () => {
    expect(await replaced("(?<first>\\w)(\\w)", `$2$1\${first}$<first>[$&]$$1 $`, "ab cd")).toBe(
      "baaa[ab]$1 $|dccc[cd]$1 $",
    );
    expect(await replaced("(a)", "$10 $0 \\1 \\n", "a")).toBe("a0 $0 \\1 \\n");
    expect(await replaced("(?:[(](?<open>x)|(y))", `<$1$2\${open}>`, "(xy")).toBe("<xx>|<y>");
  });

  it("supports backslash references on request", async () => {
    expect(await replaced("(a)(b)?", "\\1\\2-\\0-$0-$&-$1-$$-\\n-\\t-\\\\-\\q-$x", "a", sedStyle)).toBe(
      "a-a-a-a-a-$-\n-\t-\\-\\q-$x",
    );
    expect(await replaced("(a)", "$10", "a", sedStyle)).toBe("a0");
  });

  it("is refused if it names a missing group, or keeps it as text", async () => {
    await expect(replaced("a", "$1", "a")).rejects.toSatisfy(
      e => Fault.is(e, "missing_group") && e.data.reference === "$1",
    );
    await expect(replaced("(a)", "\\2", "a", sedStyle)).rejects.toSatisfy(e => Fault.is(e, "missing_group"));
    await expect(replaced("(a)", `\${b}`, "a")).rejects.toSatisfy(e => Fault.is(e, "missing_group"));
    expect(await replaced("a", "$5.00", "a", { ...dollarStyle, missing: "keep" })).toBe("$5.00");
  });
});

describe("the worker thread", () => {
  it("starts from a minified bundle that keeps names", async () => {
    const directory = await mkdtemp(join(tmpdir(), "regex-"));
    try {
      const outfile = join(directory, "bundle.mjs");
      const contents = `import { findAll } from "./src/engine/regex/find.ts";
        console.log(JSON.stringify((await findAll("(b)", "", "abc")).matches));`;
      const stdin = { contents, resolveDir: join(import.meta.dirname, "../.."), loader: "ts" } as const;
      await build({
        stdin,
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
        minify: true,
        keepNames: true,
        logLevel: "error",
      });
      const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
      expect(JSON.parse(stdout)).toEqual([{ start: 1, end: 2, groups: [{ start: 1, end: 2 }] }]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
