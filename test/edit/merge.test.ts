import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits } from "../../src/engine/edit/apply.ts";
import type { Edit } from "../../src/engine/edit/edits.ts";
import { merge } from "../../src/engine/edit/merge.ts";
import { decode } from "../../src/engine/text/text.ts";

const merged = async (base: string, ours: string, theirs: string) => {
  const [b, o, t] = await Promise.all(
    [base, ours, theirs].map(text => decode("f", Buffer.from(text), { encoding: "utf-8" })),
  );
  if (b === undefined || o === undefined || t === undefined) throw new Error("three texts");
  const result = await merge(b, { text: o }, t);
  return "text" in result ? result.text.bytes.toString() : result.overlaps;
};

/** Merges edits of the base, as edit_file does; "refused" where they collide. */
const mergedEdits = async (base: string, edits: readonly Edit[], theirs: string) => {
  const [b, t] = [await decode("f", Buffer.from(base)), await decode("f", Buffer.from(theirs))];
  const ours = await applyEdits(b, edits, { order: "original" });
  const result = await merge(b, ours, t);
  return "text" in result ? result.text.bytes.toString() : "refused";
};
const lines = (from: number, to: number, text: string): Edit => ({ kind: "lines", from, to, new: text });
const insert = (after: number, text: string): Edit => ({ kind: "insert", after, new: text });
const replace = (old: string, text: string): Edit => ({ kind: "replace", old, new: text, times: "unique" });

describe("merging two changes of one file", () => {
  it("keeps both where they lie apart, and refuses where they adjoin, as git does", async () => {
    expect(await merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")).toBe("A\nb\nC\n");
    for (const [ours, theirs] of [
      ["A\nb\nc\n", "a\nB\nc\n"],
      ["a\nB\nc\n", "A\nb\nc\n"],
      ["a\nx\nb\nc\n", "a\nB\nc\n"],
      ["a\nB\nc\n", "a\nx\nb\nc\n"],
    ] as const)
      expect(await merged("a\nb\nc\n", ours, theirs)).toBeInstanceOf(Array);
    expect(await merged("a\nb\nc\nd\n", "a\nd\n", "0\na\nb\nc\nd\n5\n")).toBe("0\na\nd\n5\n");
  });

  it("takes an identical change of both sides once", async () => {
    expect(await merged("a\nb\nc\n", "a\nX\nc\nY\n", "0\na\nX\nc\n")).toBe("0\na\nX\nc\nY\n");
  });

  it("refuses if both changed the same lines, and shows the current lines with context", async () => {
    const base = "1\n2\n3\na\nb\nc\n4\n5\n6\n";
    expect(await merged(base, base.replace("b", "ours"), `0\n${base.replace("b", "theirs")}`)).toEqual([
      {
        line: 6,
        edits: [],
        current: [{ line: 6, text: "theirs" }],
        around: [
          { line: 4, text: "3" },
          { line: 5, text: "a" },
          { line: 6, text: "theirs" },
          { line: 7, text: "c" },
          { line: 8, text: "4" },
        ],
      },
    ]);
    expect(await merged("a\nb\n", "a\nx\nb\n", "a\ny\nb\n")).toMatchObject([{ line: 2 }]);
    expect(await merged("a\nb\nc\n", "a\nc\n", "a\nB\nc\n")).toMatchObject([{ line: 2 }]);
  });

  it("keeps line endings as each side has them", async () => {
    expect(await merged("a\r\nb\nc\r\nd\n", "A\r\nb\nc\r\nd\n", "a\r\nb\nc\r\nD\n")).toBe("A\r\nb\nc\r\nD\n");
  });

  it("keeps a byte-order mark and bytes that are not text", async () => {
    const bytes = (text: string) => Buffer.from(`\xef\xbb\xbf\xe9\n${text}`, "latin1");
    const [b, o, t] = await Promise.all(
      [bytes("a\n\nb\n"), bytes("A\n\nb\n"), bytes("a\n\nB\xff\n")].map(x => decode("f", x)),
    );
    if (b === undefined || o === undefined || t === undefined) throw new Error("three texts");
    const result = await merge(b, { text: o }, t);
    expect("text" in result && result.text.bytes.equals(bytes("A\n\nB\xff\n"))).toBe(true);
  });

  it("gives one side's text where the other changed nothing, and is the same from both sides", async () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "d\r\n", "\n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 12 }), fc.constantFrom("", "", "z"))
      .map(([l, end]) => l.join("") + end);
    await fc.assert(
      fc.asyncProperty(text, text, text, async (base, ours, theirs) => {
        expect(await merged(base, ours, base)).toBe(ours);
        expect(await merged(base, base, theirs)).toBe(theirs);
        expect(await merged(base, ours, ours)).toBe(ours);
        const [one, other] = [await merged(base, ours, theirs), await merged(base, theirs, ours)];
        expect(typeof one).toBe(typeof other);
        if (typeof one === "string") expect(one).toBe(other);
      }),
      { numRuns: 1500 },
    );
  });

  it("has the lines of both sides if each changed its own part", async () => {
    const part = fc
      .array(fc.constantFrom("x\n", "y\n", "z\r\n"), { maxLength: 6 })
      .map(lines => lines.join(""));
    await fc.assert(
      fc.asyncProperty(part, part, part, part, async (head, newHead, tail, newTail) => {
        const middle = "one\ntwo\nthree\n";
        expect(await merged(head + middle + tail, newHead + middle + tail, head + middle + newTail)).toBe(
          newHead + middle + newTail,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe("merging edits", () => {
  it("places the lines that an edit names, not those of a computed diff", async () => {
    expect(await mergedEdits("b\nc\na\nd\n", [lines(1, 1, "c\na")], "b\nc\ne\nd\n")).toBe("c\na\nc\ne\nd\n");
    expect(await mergedEdits("f {\nx1\nx4\n}\n", [lines(1, 3, "x1")], "f {\nx4\n")).toBe("refused");
  });

  it("refuses lines that were named, touched or adjoined, and takes the others", async () => {
    const base = "1\n2\n3\n4\n5\n6\n7\n8\n";
    const theirs = base.replace("4\n", "four\n");
    for (const edit of [lines(4, 4, "x"), lines(3, 3, "x"), lines(5, 5, "x"), insert(3, "x"), insert(4, "x")])
      expect(await mergedEdits(base, [edit], theirs)).toBe("refused");
    expect(await mergedEdits(base, [lines(2, 2, "x")], theirs)).toBe(theirs.replace("2", "x"));
    expect(await mergedEdits(base, [insert(2, "x")], theirs)).toBe(theirs.replace("2\n", "2\nx\n"));
    expect(await mergedEdits(base, [insert(5, "x")], theirs)).toBe(theirs.replace("5\n", "5\nx\n"));
    // Lines that are named count even where they stay as they were.
    expect(await mergedEdits(base, [lines(5, 7, "5\n6\nx")], theirs)).toBe("refused");
    expect(await mergedEdits(base, [lines(4, 4, "four")], theirs)).toBe(theirs);
  });

  it("takes unchanged lines of a searched text as context only", async () => {
    const base = "1\n2\n3\n4\n5\n6\n7\n8\n";
    const theirs = base.replace("4\n", "four\n");
    expect(await mergedEdits(base, [replace("5\n6\n7", "5\n6\nseven")], theirs)).toBe(
      theirs.replace("7", "seven"),
    );
    expect(await mergedEdits(base, [replace("5\n6\n", "five\n6\n")], theirs)).toBe("refused");
  });

  it("follows git among repeated lines", async () => {
    // Which of the lines was removed cannot be known; git takes the last, and so it is taken.
    expect(await mergedEdits("a\na\na\na\nb\n", [lines(1, 1, "x")], "a\na\na\nb\n")).toBe("x\na\na\nb\n");
  });

  it("handles a last line without a break, and a file whose lines end with CR alone", async () => {
    expect(await mergedEdits("a\nb\nc", [insert(-1, "d")], "A\nb\nc")).toBe("A\nb\nc\nd");
    expect(await mergedEdits("a\nb\nc", [insert(-1, "d")], "a\nb\nc\nx")).toBe("refused");
    expect(await mergedEdits("a\nb\nc\n", [lines(1, 1, "A")], "a\nb\nc")).toBe("A\nb\nc");
    expect(await mergedEdits("a\rb\rc\rd\r", [lines(1, 1, "A")], "a\rb\rc\rD\r")).toBe("A\rb\rc\rD\r");
  });

  it("names the edits that collide", async () => {
    const [b, t] = [
      await decode("f", Buffer.from("1\n2\n3\n4\n5\n6\n")),
      await decode("f", Buffer.from("1\n2\n3\n4\nV\n6\n")),
    ];
    const ours = await applyEdits(b, [lines(1, 1, "x"), lines(5, 5, "y")], { order: "original" });
    expect(await merge(b, ours, t)).toMatchObject({ overlaps: [{ line: 5, edits: [1] }] });
  });

  it("treats a byte-order mark that one side removed as a change of the first line", async () => {
    const plain = "1\n2\n3\n4\n";
    expect(await mergedEdits(`\ufeff${plain}`, [lines(4, 4, "x")], plain)).toBe("1\n2\n3\nx\n");
    expect(await mergedEdits(`\ufeff${plain}`, [lines(1, 1, "x")], plain)).toBe("refused");
  });
});
