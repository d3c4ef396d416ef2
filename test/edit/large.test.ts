// Large texts are compared, merged and replaced in a thread of their own, and on bytes. What comes out is what small
// texts get, and other work goes on meanwhile.
import { describe, expect, it } from "vitest";
import { applyEdits } from "../../src/engine/edit/apply.ts";
import { lineHunks } from "../../src/engine/edit/line-hunks.ts";
import { merge } from "../../src/engine/edit/merge.ts";
import { replaceBytes } from "../../src/engine/edit/replace-bytes.ts";
import { textJob } from "../../src/engine/edit/thread/thread.ts";
import { weave } from "../../src/engine/edit/weave.ts";
import { diffStart, unifiedDiff } from "../../src/engine/text/diff.ts";
import { decode } from "../../src/engine/text/text.ts";

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));
const text = (all: readonly string[]) => all.map(line => `${line}\n`).join("");

/** How often other work gets its turn until something is done. */
async function turnsBeside(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns++) await new Promise(resolve => setImmediate(resolve));
  await done;
  return turns;
}

describe("a diff of large texts", () => {
  const before = lines(60_000, i => `line ${i % 20_000} ${i}`);
  const after = before.map((line, i) => (i === 100 || i === 59_000 ? `${line} changed` : line));

  it("shows two edits far apart as two hunks", async () => {
    const [a, b] = [text(before), text(after)];
    const shown = await textJob("diffStart", a.length + b.length, a, b, { context: 2, room: 4000 });
    expect(shown.lines.filter(line => `${line}`.startsWith("@@"))).toEqual([
      "@@ -99,5 +99,5 @@",
      "@@ -58999,5 +58999,5 @@",
    ]);
    expect(shown).toMatchObject({ added: 2, removed: 2, total: shown.lines.length });
  });

  it("counts the lines that it does not show", () => {
    for (const [a, b] of [
      ["a\nb\nc\n", "a\nx\nc\n"],
      ["a\nb", "a\nc"],
      ["a\nb\nc", "x\nb\nc"],
      ["", "a\nb"],
      ["a\n\n\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\ne\nf\ng\nH"],
      [text(before), text([...after.slice(5), "more"])],
    ] as const) {
      const whole = unifiedDiff(a, b).split("\n").slice(0, -1);
      const start = diffStart(a, b, { room: 20 });
      expect(start.total).toBe(whole.length);
      expect(whole.slice(0, start.lines.length)).toEqual(start.lines);
    }
  });

  it("yields to the event loop, even if no line is the same", async () => {
    const [a, b] = [text(lines(150_000, i => `a${i}`)), text(lines(150_000, i => `b${i}`))];
    const work = textJob("diffStart", a.length + b.length, a, b, { room: 2000 });
    expect(await turnsBeside(work)).toBeGreaterThan(20);
    expect(await work).toMatchObject({ added: 150_000, removed: 150_000 });
  });
});

describe("a merge of large texts", () => {
  const base = lines(40_000, i => `const value${i} = ${i % 7};`);
  const theirs = base.map((line, i) => (i % 1000 === 0 ? `${line} // theirs` : line)).toSpliced(500, 10);
  const ours = base.map((line, i) =>
    i % 97 === 5 && i % 1000 > 20 && i % 1000 < 400 ? `${line} // ours` : line,
  );

  it("gives the same result as without a thread, and does not block other work", async () => {
    const [b, o, t] = await Promise.all([base, ours, theirs].map(all => decode("f", Buffer.from(text(all)))));
    if (b === undefined || o === undefined || t === undefined) throw new Error("no texts");
    const merging = merge(b, { text: o }, t);
    expect(await turnsBeside(merging)).toBeGreaterThan(5);
    const here = weave(b.raw, t.raw, o.raw);
    const merged = await merging;
    if (!("text" in merged) || !("incoming" in here)) throw new Error("the two do not overlap");
    expect(merged.incoming.flatMap(({ aStart, aEnd, bStart, bEnd }) => [aStart, aEnd, bStart, bEnd])).toEqual(
      [...here.incoming],
    );
    expect(merged.text.raw.match(/\/\/ ours/g)?.length).toBe(text(ours).match(/\/\/ ours/g)?.length);
    expect(merged.text.raw.match(/\/\/ theirs/g)?.length).toBe(text(theirs).match(/\/\/ theirs/g)?.length);
  });
});

describe("a text that is replaced everywhere in a large file", () => {
  const edit = (old: string, added: string) =>
    [{ kind: "replace", old, new: added, times: "all" } as const] as const;
  const replaced = async (content: string, old: string, added: string) => {
    const file = await decode("f", Buffer.from(content));
    const { text: made, count } = await applyEdits(file, edit(old, added), { order: "original" });
    return { made: made.bytes.toString(), count };
  };

  it("gives the same result as in a small file, line by line", async () => {
    const line = "foo bär foo 🙂 aaa\r\n";
    for (const [old, added] of [
      ["foo", "quux"],
      ["aa", ""],
      ["🙂", "é"],
      ["o b", "o\tb"],
      ["foo", "$&"],
    ] as const) {
      const small = await replaced(line, old, added);
      const large = await replaced(line.repeat(20_000), old, added);
      expect(large).toEqual({ made: small.made.repeat(20_000), count: small.count * 20_000 });
    }
  });

  it("keeps a byte-order mark and endings that differ from line to line", async () => {
    const content = `\ufeff${"foo\r\nfoo\n".repeat(40_000)}`;
    expect((await replaced(content, "foo", "x")).made).toBe(`\ufeff${"x\r\nx\n".repeat(40_000)}`);
    expect((await replaced(content, "foo\nfoo", "x")).made).toBe(`\ufeff${"x\n".repeat(40_000)}`);
  });

  it("still reports which lines were changed, if asked", async () => {
    const file = await decode("f", Buffer.from(`${"-\n".repeat(200_000)}foo\n`));
    const { changed, edits } = await applyEdits(file, edit("foo", "bar"), { order: "original" });
    expect(changed).toEqual([
      { before: { from: 200_001, to: 200_001 }, after: { from: 200_001, to: 200_001 } },
    ]);
    expect(lineHunks(file, edits)).toEqual([{ start: 200_000, end: 200_001, lines: ["bar\n"], edits: [0] }]);
  });

  it("is refused where the result would not fit", () => {
    expect(replaceBytes(Buffer.from("aaa"), "a", "bb", 5)).toBeUndefined();
    expect(replaceBytes(Buffer.from("aaa"), "a", "bb", 6)?.count).toBe(3);
  });
});
