import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { merge } from "../../src/engine/edit/merge.ts";
import { decode } from "../../src/engine/text/text.ts";

const merged = async (base: string, ours: string, theirs: string) => {
  const [b, o, t] = await Promise.all(
    [base, ours, theirs].map(text => decode("f", Buffer.from(text), { encoding: "utf-8" })),
  );
  if (b === undefined || o === undefined || t === undefined) throw new Error("three texts");
  const result = merge(b, o, t);
  return "text" in result ? result.text.bytes.toString() : result.overlaps;
};

describe("merging two changes of one file", () => {
  it("keeps both where they lie apart, also side by side", async () => {
    expect(await merged("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n")).toBe("A\nb\nC\n");
    expect(await merged("a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n")).toBe("A\nB\nc\n");
    expect(await merged("a\nb\nc\n", "a\nB\nc\n", "A\nb\nc\n")).toBe("A\nB\nc\n");
    expect(await merged("a\nb\n", "a\nx\nb\n", "a\nB\n")).toBe("a\nx\nB\n");
    expect(await merged("a\nb\n", "a\nB\n", "a\nx\nb\n")).toBe("a\nx\nB\n");
    expect(await merged("a\nb\nc\nd\n", "a\nd\n", "0\na\nb\nc\nd\n5\n")).toBe("0\na\nd\n5\n");
  });

  it("takes what both did in the same way once", async () => {
    expect(await merged("a\nb\nc\n", "a\nX\nc\nY\n", "0\na\nX\nc\n")).toBe("0\na\nX\nc\nY\n");
  });

  it("refuses where both changed the same lines, with what stands there now", async () => {
    expect(await merged("a\nb\nc\n", "a\nours\nc\n", "0\na\ntheirs\nc\n")).toEqual([
      { line: 3, current: [{ line: 3, text: "theirs" }] },
    ]);
    expect(await merged("a\nb\n", "a\nx\nb\n", "a\ny\nb\n")).toEqual([
      { line: 2, current: [{ line: 2, text: "y" }] },
    ]);
    expect(await merged("a\nb\nc\n", "a\nc\n", "a\nB\nc\n")).toEqual([
      { line: 2, current: [{ line: 2, text: "B" }] },
    ]);
  });

  it("keeps line endings as each side has them", async () => {
    expect(await merged("a\r\nb\nc\r\nd\n", "A\r\nb\nc\r\nd\n", "a\r\nb\nc\r\nD\n")).toBe("A\r\nb\nc\r\nD\n");
  });

  it("keeps a byte-order mark and bytes that are no text", async () => {
    const bytes = (text: string) => Buffer.from(`\xef\xbb\xbf\xe9\n${text}`, "latin1");
    const [b, o, t] = await Promise.all(
      [bytes("a\nb\n"), bytes("A\nb\n"), bytes("a\nB\xff\n")].map(x => decode("f", x)),
    );
    if (b === undefined || o === undefined || t === undefined) throw new Error("three texts");
    const result = merge(b, o, t);
    expect("text" in result && result.text.bytes.equals(bytes("A\nB\xff\n"))).toBe(true);
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

  it("has the lines of both where each changed its own part", async () => {
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
