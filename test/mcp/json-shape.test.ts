// The shape of a message is counted in pieces as they come, and the same as in one.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonShape } from "../../src/mcp/json-shape.ts";

/** Feeds a text in pieces of these sizes, the last one again and again. */
function problemOf(text: string, sizes: readonly number[]): string | undefined {
  const bytes = Buffer.from(text);
  const shape = new JsonShape();
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[Math.min(i, sizes.length - 1)] ?? bytes.length;
    const problem = shape.take(bytes.subarray(at, at + size));
    if (problem !== undefined) return problem;
    at += size;
  }
  return undefined;
}

describe("the shape of a message", () => {
  const text = fc.array(fc.constantFrom("\\", '"', "[", "{", ",", "a", "]"), { maxLength: 12 });

  it("does not count what is inside strings, however they are escaped and cut", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), fc.array(fc.nat(4), { minLength: 1 }), (texts, cuts) => {
        const value = texts.map(parts => parts.join(""));
        const sizes = cuts.map(cut => cut + 1);
        expect(problemOf(JSON.stringify(value), sizes)).toBeUndefined();
        const deep = `${JSON.stringify(value)},${"[".repeat(1001)}`;
        expect(problemOf(deep, [...sizes, 64])).toContain("nested deeper");
      }),
    );
  });

  it("is too deep or too large from one value to the next", () => {
    expect(problemOf("[".repeat(1000), [7])).toBeUndefined();
    expect(problemOf("[".repeat(1001), [7])).toContain("nested deeper");
    expect(problemOf(`["${"[,".repeat(300_000)}"]`, [1000])).toBeUndefined();
    expect(problemOf(`[${"1,".repeat(300_000)}1]`, [1000])).toContain("values");
  });
});
