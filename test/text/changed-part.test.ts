// A difference that is looked for in a part of the file must be the one that the whole file shows.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChangedPart, changedParts } from "../../src/engine/text/changed-part.ts";
import { countBreaks } from "../../src/engine/text/count-breaks.ts";
import { diffCounts, unifiedDiff } from "../../src/engine/text/diff.ts";
import { decode, type Text } from "../../src/engine/text/text.ts";

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

async function onlyPart(before: Text, after: Text, context: number): Promise<ChangedPart> {
  const [part, ...others] = await changedParts(before, after, context);
  expect(others).toEqual([]);
  if (part === undefined) throw new Error("no part");
  return part;
}

describe("the part in which two versions differ", () => {
  it("gives the same difference as the whole files, whatever surrounds it", async () => {
    await fc.assert(
      fc.asyncProperty(versions, fc.nat(4), async ([old, made], context) => {
        const before = await decode("f", old);
        const after = await decode("f", made);
        const part = await onlyPart(before, after, context);
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
        const part = await onlyPart(before, after, context);
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
    const { before: old, after: made, skipped } = await onlyPart(before, after, 1);
    expect(skipped).toBe(12_343);
    expect(old.raw).toBe("line 12344, a long one\nline 12345, a long one\nline 12346, a long one\n");
    expect(made.raw).toBe("line 12344, a long one\nanother\nline 12346, a long one\n");
  });

  it("is the whole file if its lines cannot be found in its bytes", async () => {
    const before = await decode("f", Buffer.from("\ufeffa\nb\nc\nd\n", "utf16le"));
    const after = await decode("f", Buffer.from("\ufeffa\nb\nX\nd\n", "utf16le"));
    expect(await onlyPart(before, after, 0)).toMatchObject({ before, after, skipped: 0 });
  });
});

describe("the parts in which two versions of a large file differ", () => {
  /** Lines that occur once, some that occur often, and some that are long. */
  const base = Array.from({ length: 5500 }, (_, i) => {
    if (i % 7 === 0) return "}\n";
    return `line ${i + 1}${i % 1000 === 1 ? ", a long one".repeat(300) : ", of a large file"}\n`;
  });
  const change = fc.record({
    line: fc.nat(base.length - 1),
    removed: fc.nat(15),
    added: fc.array(fc.constantFrom("}\n", "new\n", "line 1, of a large file\n"), { maxLength: 15 }),
  });

  /** Replaces the lines of each hunk exactly where it says. */
  function applied(diff: string, lines: readonly string[]): string {
    const result: string[] = [];
    let at = 0;
    for (const [, old, count = "1", made, , hunk = ""] of diff.matchAll(
      /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n((?:[-+ ].*\n)*)/gm,
    )) {
      const above = Number(old) - (count === "0" ? 0 : 1);
      while (at < above) result.push(lines[at++] ?? "");
      const [was, is] = ["-", "+"].map(sign => hunk.match(new RegExp(`^[ ${sign}].*\n`, "gm")) ?? []);
      expect(was?.map(line => line.slice(1))).toEqual(lines.slice(at, at + Number(count)));
      expect(Number(made) - (is?.length === 0 ? 0 : 1)).toBe(result.length);
      at += Number(count);
      for (const line of is ?? []) result.push(line.slice(1));
    }
    return [...result, ...lines.slice(at)].join("");
  }

  it("give a difference that is as short as that of the whole files", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 12 }),
        fc.nat(4),
        async (changes, context) => {
          const lines = [...base];
          for (const { line, removed, added } of changes.toSorted((a, b) => b.line - a.line))
            lines.splice(line, removed, ...added);
          const before = await decode("f", Buffer.from(base.join("")));
          const after = await decode("f", Buffer.from(lines.join("")));
          const parts = await changedParts(before, after, context);
          const diffs = parts.map(part =>
            unifiedDiff(part.before.raw, part.after.raw, {
              context,
              skipped: part.skipped,
              drift: part.drift,
            }),
          );
          expect(applied(diffs.join(""), base)).toBe(lines.join(""));
          const counts = parts.map(part => diffCounts(part.before.body, part.after.body));
          const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
          expect({
            added: sum(counts.map(one => one.added)),
            removed: sum(counts.map(one => one.removed)),
          }).toEqual(diffCounts(before.body, after.body));
        },
      ),
      { numRuns: 25 },
    );
  });

  it("end with the file, however long its last line is and whether it has a break", async () => {
    const last = "x".repeat(3000);
    const ends = [last, `${last}\n`, `${last}\nmore`, `${last}\nmore\n`, `${last}${last}`, "}"];
    const linesOf = (text: string) => text.split(/(?<=\n)/);
    for (const old of ends)
      for (const made of ends)
        for (const first of ["first\n", ""]) {
          const [before, after] = [base.join("") + old, first + base.join("") + made];
          if (before === after) continue;
          const parts = await changedParts(
            await decode("f", Buffer.from(before)),
            await decode("f", Buffer.from(after)),
            2,
          );
          const lines = linesOf(before);
          for (const { before: was, after: is, skipped } of parts.toReversed()) {
            const removed = lines.splice(skipped, linesOf(was.raw).length, is.raw);
            expect(removed.join("")).toBe(was.raw);
          }
          expect(lines.join("") === after).toBe(true);
        }
  });

  it("are as many as there are changes that are far apart", async () => {
    const lines = [...base];
    for (const at of [100, 103, 2000, 5499]) lines[at] = "another\n";
    lines.splice(4000, 0, "more\n");
    const before = await decode("f", Buffer.from(base.join("")));
    const after = await decode("f", Buffer.from(lines.join("")));
    const parts = await changedParts(before, after, 1);
    expect(parts.map(({ skipped, drift }) => [skipped, drift])).toEqual([
      [99, 0],
      [1999, 0],
      [3999, 0],
      [5498, 1],
    ]);
    expect(parts[0]?.after.body.startsWith(lines.slice(99, 105).join(""))).toBe(true);
  });

  it("is one where it is not clear how the lines correspond", async () => {
    const lines = Array.from({ length: 40_000 }, (_, i) => `${i % 2}, the same\n`);
    const before = await decode("f", Buffer.from(lines.join("")));
    lines.splice(30_000, 0, "new\n");
    lines.splice(10_000, 1);
    const after = await decode("f", Buffer.from(lines.join("")));
    expect(await changedParts(before, after, 2)).toHaveLength(1);
  });
});

it("line ends are counted among few bytes and many", () => {
  for (const count of [0, 1, 10, 5000, 100_000]) {
    expect(countBreaks(Buffer.from("0123456789abcdefg\n".repeat(count)))).toBe(count);
    expect(countBreaks(Buffer.from(`${"\n".repeat(count)}no end`))).toBe(count);
  }
});
