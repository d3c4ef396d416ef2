import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffCounts, unifiedDiff } from "../../src/engine/text/diff.ts";
import { countLines, LineIndex, splitLines } from "../../src/engine/text/lines.ts";
import { mimeType } from "../../src/engine/text/mime.ts";
import { humanSize } from "../../src/engine/text/size.ts";
import { version } from "../../src/engine/text/version.ts";

describe("a unified diff", () => {
  it("shows a change with its context, numbered as in the file", () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join("");
    const after = before.replace("line 10\n", "line ten\nand more\n");
    expect(unifiedDiff(before, after, { from: "a/f", to: "b/f" })).toBe(
      "--- a/f\n+++ b/f\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n+and more\n line 11\n line 12\n line 13\n",
    );
    expect(unifiedDiff(before, after, { context: 0 })).toBe(
      "@@ -10 +10,2 @@\n-line 10\n+line ten\n+and more\n",
    );
    expect(diffCounts(before, after)).toEqual({ added: 2, removed: 1 });
  });

  it("marks a missing final newline on either side", () => {
    expect(unifiedDiff("a\nb", "a\nb\n")).toBe("@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    expect(unifiedDiff("", "x")).toBe("@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
    expect(unifiedDiff("same", "same")).toBe("");
  });

  it("shows a changed line ending", () => {
    expect(unifiedDiff("a\r\nb\n", "a\nb\n")).toBe("@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n");
  });

  it("can be applied back to both texts, line by line", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "\n", "a\r\n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom("", "a", "z"))
      .map(([l, end]) => l.join("") + end);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const whole = unifiedDiff(before, after, { context: 1000 });
        fc.pre(whole !== "");
        const lines = whole
          .replaceAll("\n\\ No newline at end of file\n", "\u0000\n")
          .split(/(?<=\n)/)
          .slice(1);
        const side = (sign: string) =>
          lines
            .filter(l => l[0] === " " || l[0] === sign)
            .map(l => l.slice(1).replace("\u0000\n", ""))
            .join("");
        expect(side("-")).toBe(before);
        expect(side("+")).toBe(after);
      }),
      { numRuns: 500 },
    );
  });

  it("gives every hunk full context, also among equal lines", () => {
    const lines = fc.array(fc.constantFrom("a\n", "b\n"), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, lines, lines, fc.nat(4), (head, old, made, tail, context) => {
        const before = [...head, ...old, ...tail];
        const diff = unifiedDiff(before.join(""), [...head, ...made, ...tail].join(""), { context });
        for (const [, at, count = "1", hunk = ""] of diff.matchAll(
          /@@ -(\d+)(?:,(\d+))? .*\n((?:[^@].*\n)*)/g,
        )) {
          const above = Number(at) - (count === "0" ? 0 : 1);
          const below = before.length - above - Number(count);
          const signs = hunk.split("\n").map(line => line[0] ?? "");
          if (above > 0) expect(signs.findIndex(sign => sign !== " ")).toBe(context);
          if (below > 0)
            expect(signs.toReversed().findIndex(sign => sign === "+" || sign === "-")).toBe(context + 1);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("small facts about files", () => {
  it("counts lines by terminators or by pieces", () => {
    expect([countLines("a\n", "terminated"), countLines("a\n", "split")]).toEqual([1, 2]);
    expect([countLines("", "terminated"), countLines("", "split")]).toEqual([0, 1]);
    expect(splitLines("a\nb\n", "terminated")).toEqual(["a", "b"]);
    const index = new LineIndex("a\nbb\nc");
    expect([index.lineAt(0), index.lineAt(1), index.lineAt(2), index.lineAt(5)]).toEqual([1, 1, 2, 3]);
    expect([index.start(2), index.end(2), index.count("terminated")]).toEqual([2, 4, 3]);
  });

  it("names versions by content, sizes for people, and types by name", () => {
    expect(version(Buffer.from(""))).toBe("v:e3b0c44298fc");
    expect([humanSize(26), humanSize(3482), humanSize(1024), humanSize(1048575)]).toEqual([
      "26 B",
      "3.4 KB",
      "1 KB",
      "1 MB",
    ]);
    expect([mimeType("a/b.PNG"), mimeType("Makefile"), mimeType("png"), mimeType("x.ts")]).toEqual([
      "image/png",
      "text/plain",
      undefined,
      "application/typescript",
    ]);
  });
});
