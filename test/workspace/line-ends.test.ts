// Passing over lines in a piece of a file: large pieces go by vectors, with the same results.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineEnds } from "../../src/engine/workspace/line-ends.ts";

/** The same, byte by byte. */
function skipped(chunk: Buffer, most: number) {
  let lines = 0;
  for (let at = 0; at < chunk.length; at++) {
    if (chunk[at] === 10) lines++;
    if (lines === most) return { lines, end: at + 1, partial: false };
  }
  return { lines, end: chunk.length, partial: chunk.at(-1) !== 10 };
}

/** Pieces of more than one block, with lines of all lengths and of one. */
const pieces = fc
  .record({
    length: fc.integer({ min: 100_000, max: 300_000 }),
    every: fc.constantFrom(1, 2, 13, 100, 4096, 65_536, 131_072, 1_000_000),
    first: fc.nat(200),
    end: fc.constantFrom("a", "\n"),
  })
  .map(({ length, every, first, end }) => {
    const chunk = Buffer.alloc(length, "x");
    for (let at = first; at < length; at += every) chunk[at] = 10;
    chunk.write(end, length - 1);
    return chunk;
  });

describe("skipping lines", () => {
  it("finds the same line end as a scan of each byte", () => {
    fc.assert(
      fc.property(pieces, fc.double({ min: 0, max: 1.2, noNaN: true }), (chunk, part) => {
        const all = skipped(chunk, Number.POSITIVE_INFINITY).lines;
        for (const most of [Math.floor(all * part) + 1, 1, all, all + 1, Number.POSITIVE_INFINITY]) {
          if (most === 0) continue;
          expect(new LineEnds().skip(chunk, most)).toEqual(skipped(chunk, most));
        }
      }),
      { numRuns: 60 },
    );
  });
});
