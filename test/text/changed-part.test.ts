// A difference that is looked for in a part of the file must be the one that the whole file shows.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedPart } from "../../src/engine/text/changed-part.ts";
import { countBreaks } from "../../src/engine/text/count-breaks.ts";
import { diffCounts, unifiedDiff } from "../../src/engine/text/diff.ts";
import { decode } from "../../src/engine/text/text.ts";

const line = fc.constantFrom("a\n", "a\r\n", "b\n", "é\n", "è\n", "𝒳\r\n", "\n", "a\rb\n", "\xff\n");
const content = fc
  .tuple(
    fc.constantFrom("", "", "\ufeff"),
    fc.array(line, { maxLength: 30 }),
    fc.constantFrom("", "a", "a\rb"),
  )
  .map(([mark, lines, end]) => Buffer.concat([mark, ...lines, end].map(bytesOf)));

/** Two that have a beginning and an end in common. */
const versions = fc
  .tuple(content, content, content, content)
  .map(
    ([head, old, made, tail]) =>
      [old, made].map(middle => Buffer.concat([head, middle, tail])) as [Buffer, Buffer],
  );

function withCrlf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(/\r?\n/g, "\r\n"), "latin1");
}

/** In UTF-8, but for a byte that is none. */
function bytesOf(text: string): Buffer {
  return text.startsWith("\xff") ? Buffer.from(text, "latin1") : Buffer.from(text);
}

describe("the part in which two versions differ", () => {
  it("gives the same difference as the whole files, whatever surrounds it", async () => {
    await fc.assert(
      fc.asyncProperty(versions, fc.nat(4), async ([old, made], context) => {
        const before = await decode("f", old);
        const after = await decode("f", made);
        const part = await changedPart(before, after, context);
        expect(unifiedDiff(part.before.raw, part.after.raw, { context, skipped: part.skipped })).toBe(
          unifiedDiff(before.raw, after.raw, { context }),
        );
        expect(unifiedDiff(part.before.body, part.after.body, { context, skipped: part.skipped })).toBe(
          unifiedDiff(before.body, after.body, { context }),
        );
        expect(diffCounts(part.before.body, part.after.body)).toEqual(diffCounts(before.body, after.body));
      }),
      { numRuns: 1000 },
    );
  });

  it("gives the same in a file whose lines all end with CRLF", async () => {
    await fc.assert(
      fc.asyncProperty(versions, fc.nat(4), async ([old, made], context) => {
        const before = await decode("f", withCrlf(old));
        const after = await decode("f", withCrlf(made));
        const part = await changedPart(before, after, context);
        expect(unifiedDiff(part.before.body, part.after.body, { context, skipped: part.skipped })).toBe(
          unifiedDiff(before.body, after.body, { context }),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("is a few lines of a large file", async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i + 1}, a long one\n`);
    const before = await decode("f", Buffer.from(lines.join("")));
    lines[12_344] = "another\n";
    const after = await decode("f", Buffer.from(lines.join("")));
    const { before: old, after: made, skipped } = await changedPart(before, after, 1);
    expect(skipped).toBe(12_343);
    expect(old.raw).toBe("line 12344, a long one\nline 12345, a long one\nline 12346, a long one\n");
    expect(made.raw).toBe("line 12344, a long one\nanother\nline 12346, a long one\n");
  });

  it("is the whole file if its lines cannot be found in its bytes", async () => {
    const before = await decode("f", Buffer.from("\ufeffa\nb\nc\nd\n", "utf16le"));
    const after = await decode("f", Buffer.from("\ufeffa\nb\nX\nd\n", "utf16le"));
    expect(await changedPart(before, after, 0)).toMatchObject({ before, after, skipped: 0 });
  });
});

it("line ends are counted among few bytes and many", () => {
  for (const count of [0, 1, 10, 5000, 100_000]) {
    expect(countBreaks(Buffer.from("0123456789abcdefg\n".repeat(count)))).toBe(count);
    expect(countBreaks(Buffer.from(`${"\n".repeat(count)}no end`))).toBe(count);
  }
});
