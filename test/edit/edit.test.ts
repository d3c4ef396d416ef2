import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyEdits, type EditOptions } from "../../src/engine/edit/apply.ts";
import type { Edit, ReplaceEdit, Tolerance } from "../../src/engine/edit/edits.ts";
import { Fault, type FaultCode, type Faults } from "../../src/engine/fault.ts";
import { dollarStyle, sedStyle } from "../../src/engine/regex/replacement.ts";
import { decode } from "../../src/engine/text/text.ts";

const replace = (old: string, text: string, more: Partial<ReplaceEdit> = {}): ReplaceEdit => ({
  kind: "replace",
  old,
  new: text,
  times: "unique",
  ...more,
});
const regex = (pattern: string, text: string, more = {}): Edit => ({
  kind: "regex",
  pattern,
  flags: "m",
  new: text,
  style: dollarStyle,
  times: "all",
  ...more,
});
const run = async (content: string, edits: readonly Edit[], options: Partial<EditOptions> = {}) =>
  applyEdits(await decode("f", Buffer.from(content)), edits, { order: "sequence", ...options });
const edited = async (content: string, edits: readonly Edit[], options: Partial<EditOptions> = {}) =>
  (await run(content, edits, options)).text.bytes.toString();
const refusal = async <C extends FaultCode>(
  code: C,
  content: string,
  edits: readonly Edit[],
  options = {},
): Promise<Faults[C]> => {
  const fault: unknown = await run(content, edits, options).then(
    () => undefined,
    error => error,
  );
  if (!Fault.is(fault, code)) throw new Error(`expected ${code}, got ${String(fault)}`);
  return fault.data;
};
const tolerant = (old: string, text: string, ...tolerances: Tolerance[]) => [
  replace(old, text, { tolerances }),
];

describe("replacing a text", () => {
  it("applies to a single exact match", async () => {
    const result = await run("a b c", [replace("b", "$& $1 \\1")]);
    expect(result.text.bytes.toString()).toBe("a $& $1 \\1 c");
    expect([result.count, result.outcomes]).toEqual([1, [{ count: 1 }]]);
  });

  it("is refused where it occurs twice, with the lines; overlapping matches count as two", async () => {
    const data = await refusal("ambiguous", "x\ny\nx\n", [replace("y", "z"), replace("x", "z")]);
    expect([data.count, data.lines, data.edit, data.tolerance]).toEqual([2, [1, 3], 1, "exact"]);
    expect((await refusal("ambiguous", "aaa", [replace("aa", "b")])).count).toBe(2);
  });

  it("can mean all places, the first few, and any case", async () => {
    expect(await edited("aXaxa", [replace("x", "-", { times: "all", ignoreCase: true })])).toBe("a-a-a");
    expect(await edited("x x x", [replace("x", "y", { times: 2 })])).toBe("y y x");
    expect((await refusal("ambiguous", "Ab aB", [replace("ab", "", { ignoreCase: true })])).count).toBe(2);
    expect(
      await edited("x\nx\nx\n", [replace("x", "y", { times: "all", within: { from: 2, to: 99 } })]),
    ).toBe("x\ny\ny\n");
  });

  it("matches any line ending with a line break, and keeps the original one", async () => {
    expect(await edited("a\r\nb\r\nc\n", [replace("a\nb\n", "a\nB\nnew\n")])).toBe("a\r\nB\r\nnew\r\nc\n");
    expect(await edited("a\nb\nc", [replace("a\r\nb\r\n", "x\r\n")])).toBe("x\nc");
    expect(await edited("a\rb\nc\n", [replace("a\nb", "a\nB")])).toBe("a\rB\nc\n");
    expect(await edited("a\rb\rc\r", [replace("b\n", "x\ny\n")])).toBe("a\rx\ry\rc\r");
  });

  it("is refused as usual, however long the text is and however much the file repeats", async () => {
    const half = "a".repeat(50_000);
    const all: readonly Tolerance[] = ["dedented", "trimmed_lines", "collapsed", "flowed", "trimmed"];
    for (const more of [{}, { ignoreCase: true }, { tolerances: all }]) {
      const letters = await refusal("no_match", "a".repeat(1_000_000), [
        replace(`${half}b${half}`, "", more),
      ]);
      expect(letters.near).toBeUndefined();
      const lines = [replace(`${"a\n".repeat(20_000)}b`, "", more)];
      expect((await refusal("no_match", "  a\n".repeat(500_000), lines)).edit).toBe(0);
    }
    expect(await edited("A".repeat(70_000), [replace("a".repeat(70_000), "b", { ignoreCase: true })])).toBe(
      "b",
    );
  });

  it("with a result that would not fit into memory is refused before it is built", async () => {
    const growing = regex("x", "$&".repeat(200_000), { flags: "" });
    const data = await refusal("too_large", "x".repeat(500_000), [growing]);
    expect(data.size).toBe(500_000 + 500_000 * 200_000);
  });

  it("never leaves half of a character behind", async () => {
    for (const [content, edit] of [
      ["a\u{1f600}b", replace("\ud83d", "x")],
      ["a\u{1f480}b", replace("\ud83d", "x")],
      ["a\u{1f480}b", replace("\udc80", "")],
      ["\u{1f480}", regex(".", "x", { times: 1 })],
      ["\u{1f480}", regex(".(.)", "$1")],
      ["\u{1f480}", regex("(.)(.)", "$2$1")],
      ["\u{1f480}", regex("(?=\\udc80)", "-")],
    ] as const) {
      expect((await refusal("unencodable", content, [edit])).line).toBe(1);
    }
    expect(await edited("\u{1f480}", [regex(".", "x")])).toBe("xx");
    expect(await edited("\u{1f480}b", [regex("x*", "-")])).toBe("-\u{1f480}-b-");
    expect(await edited("\u{1f600}", [replace("\u{1f600}", "\u{1f601}")])).toBe("\u{1f601}");
  });

  it("keeps bytes that are not UTF-8 even inside a replaced match", async () => {
    const text = await decode("f", Buffer.from("name: caf\xe9!\n", "latin1"));
    const result = await applyEdits(text, [regex("(caf.)!", '"$1"')], { order: "sequence" });
    expect(result.text.bytes.toString("latin1")).toBe('name: "caf\xe9"\n');
    const broken = applyEdits(text, [replace("name", "\udce9")], { order: "sequence" });
    await expect(broken).rejects.toSatisfy(e => Fault.is(e, "unencodable"));
  });
});

describe("several edits", () => {
  it("run one after the other, each on the result of the last", async () => {
    expect(
      await edited("one two", [replace("one", "1 x"), replace("x two", "2"), replace("1 2", "done")]),
    ).toBe("done");
  });

  it("or all apply to the original, and then must not overlap", async () => {
    const swap = [replace("one", "two"), replace("two", "one")];
    expect(await edited("one two", swap, { order: "original" })).toBe("two one");
    const data = await refusal("edits_overlap", "a\nb c d\n", [replace("b c", "x"), replace("c d", "y")], {
      order: "original",
    });
    expect([data.edits, data.line]).toEqual([[0, 1], 2]);
  });

  it("can be mixed with line numbers, which refer to the original file", async () => {
    const edits: Edit[] = [
      { kind: "insert", after: 0, new: "top" },
      replace("two", "TWO\nTWO"),
      { kind: "lines", from: 3, to: 3, new: "THREE" },
      { kind: "insert", after: 3, new: "3.5\n" },
      { kind: "insert", after: -1, new: "end" },
      replace("THREE\n", "three!\n"),
    ];
    expect(await edited("one\ntwo\nthree\nfour\n", edits)).toBe(
      "top\none\nTWO\nTWO\nthree!\n3.5\nfour\nend\n",
    );
    const clash: Edit[] = [replace("two", "2"), { kind: "lines", from: 1, to: 2, new: "x" }];
    expect((await refusal("edits_overlap", "one\ntwo\n", clash)).edits).toEqual([0, 1]);
  });

  it("report which lines they changed", async () => {
    const { changed } = await run("1\n2\n3\n4\n5\n", [
      replace("2\n", "a\nb\nc\n"),
      replace("4\n", ""),
      { kind: "insert", after: 5, new: "6" },
    ]);
    expect(changed).toEqual([
      { before: { from: 2, to: 2 }, after: { from: 2, to: 4 } },
      { before: { from: 4, to: 4 }, after: { from: 6, to: 5 } },
      { before: { from: 6, to: 5 }, after: { from: 7, to: 7 } },
    ]);
  });

  it("report a changed line as a whole, also where a part of it changed", async () => {
    const { changed } = await run("1\n22\n3\n4\n", [replace("2\n3", "a"), replace("4", "b\nc")]);
    expect(changed).toEqual([
      { before: { from: 2, to: 3 }, after: { from: 2, to: 2 } },
      { before: { from: 4, to: 4 }, after: { from: 3, to: 4 } },
    ]);
  });

  it("can go on without those that fail, and say which", async () => {
    const { outcomes, text } = await run("a b", [replace("x", "y"), replace("b", "B")], { failing: "skip" });
    expect(Fault.is(outcomes[0], "no_match")).toBe(true);
    expect(text.body).toBe("a B");
  });

  it("find a unique text also across what earlier edits inserted, and nowhere else", async () => {
    const word = fc.constantFrom("a", "b", "c", "ab", "ca", "\n", "bcb");
    const old = fc.array(word, { minLength: 1, maxLength: 3 }).map(words => words.join(""));
    const step = fc.record({ old, put: fc.array(word, { maxLength: 3 }).map(words => words.join("")) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 15 }),
        fc.array(step, { maxLength: 12 }),
        async (words, steps) => {
          let expected = words.join("");
          const edits = steps.filter(({ old, put }) => {
            const at = expected.indexOf(old);
            if (at < 0 || expected.indexOf(old, at + 1) >= 0) return false;
            expected = expected.slice(0, at) + put + expected.slice(at + old.length);
            return true;
          });
          expect(
            await edited(
              words.join(""),
              edits.map(({ old, put }) => replace(old, put)),
            ),
          ).toBe(expected);
          const failing = await run(
            words.join(""),
            steps.map(({ old, put }) => replace(old, put)),
            { failing: "skip" },
          );
          expect(failing.text.body).toBe(expected);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("give the same result as applying them one by one to a string", async () => {
    const word = fc.constantFrom("a", "b", "ab", "\n", "ba", "");
    const step = fc.record({
      old: fc.constantFrom("a", "b", "ab", "\n"),
      put: word,
      times: fc.constantFrom("all" as const, 1, 2),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 20 }),
        fc.array(step, { maxLength: 6 }),
        async (words, steps) => {
          let expected = words.join("");
          const edits = steps.filter(({ old, put, times }) => {
            const had = expected.includes(old);
            for (
              let left = times === "all" ? 999 : times, at = expected.indexOf(old);
              had && left > 0 && at >= 0;
              left--
            ) {
              expected = expected.slice(0, at) + put + expected.slice(at + old.length);
              at = expected.indexOf(old, at + put.length);
            }
            return had;
          });
          expect(
            await edited(
              words.join(""),
              edits.map(({ old, put, times }) => replace(old, put, { times })),
            ),
          ).toBe(expected);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("edits by line", () => {
  it("replace, remove and insert lines with the endings of their place", async () => {
    const file = "a\r\nb\r\nc\nd";
    expect(await edited(file, [{ kind: "lines", from: 2, to: 2, new: "x\ny\n" }])).toBe(
      "a\r\nx\r\ny\r\nc\nd",
    );
    expect(await edited(file, [{ kind: "lines", from: 3, to: 4, new: "" }])).toBe("a\r\nb");
    expect(await edited(file, [{ kind: "lines", from: 1, to: 1, new: "" }])).toBe("b\r\nc\nd");
    expect(await edited(file, [{ kind: "lines", from: 4, to: 4, new: "D" }])).toBe("a\r\nb\r\nc\nD");
    expect(await edited(file, [{ kind: "insert", after: 4, new: "e" }])).toBe("a\r\nb\r\nc\nd\ne");
    expect(await edited("", [{ kind: "insert", after: -1, new: "e" }])).toBe("e\n");
  });

  it("count as the caller does, and refuse missing lines", async () => {
    expect(await refusal("past_end", "a\nb\n", [{ kind: "lines", from: 3, to: 3, new: "" }])).toMatchObject({
      line: 3,
      lines: 2,
    });
    for (const [from, to] of [
      [0, 1],
      [2, 1],
    ] as const)
      expect(await refusal("past_end", "a\nb\n", [{ kind: "lines", from, to, new: "" }])).toMatchObject({
        line: from,
      });
    expect(await edited("a\nb\n", [{ kind: "insert", after: 3, new: "c" }], { counting: "split" })).toBe(
      "a\nb\n\nc",
    );
    expect(await edited("a\nb\n", [{ kind: "insert", after: 2, new: "c" }], { counting: "split" })).toBe(
      "a\nb\nc\n",
    );
  });

  it("may require the current lines, at line numbers of the original", async () => {
    const edits: Edit[] = [
      { kind: "anchored", line: 2, old: "b", new: "b1\nb2", compare: "exact" },
      { kind: "anchored", line: 3, old: "c\nd", new: "cd", compare: "exact" },
    ];
    expect(
      await edited(
        "a\nb\n  c\nd\n",
        edits.with(1, { kind: "anchored", line: 3, old: "c\nd", new: "cd", compare: "trimmed" }),
      ),
    ).toBe("a\nb1\nb2\ncd\n");
    const { near } = await refusal("no_match", "a\nb\n  c\nd\n", edits);
    expect(near).toEqual({
      line: 3,
      difference: "whitespace",
      current: [
        { line: 3, text: "  c" },
        { line: 4, text: "d" },
      ],
    });
  });
});

describe("a regular expression", () => {
  it("replaces with groups, and adds no line of its own", async () => {
    expect(await edited("a=1\r\nb=2\r\n", [regex("^(\\w)=(\\d)$", "$2=$1")])).toBe("1=a\r\n2=b\r\n");
    expect(await edited("x\ny\n", [regex("^(.*)$", "<\\1>", { style: sedStyle })])).toBe("<x>\n<y>\n");
    expect(await edited("a\r\nb\r\n", [regex("a\\r\\nb", "a\\nb\\nc", { style: sedStyle })])).toBe(
      "a\r\nb\r\nc\r\n",
    );
    expect(await edited("ab ab", [regex("b", "c", { times: 1 })])).toBe("ac ab");
    expect(
      await edited("a\nb\na\n", [regex("^a\\s*", "-", { byLine: true, within: { from: 2, to: 3 } })]),
    ).toBe("a\nb\n-\n");
  });

  it("can be required to be unique, and is refused if nothing matches", async () => {
    expect((await refusal("ambiguous", "a a", [regex("a", "b", { times: "unique" })])).count).toBe(2);
    expect((await refusal("no_match", "a", [regex("x", "y")])).old).toBe("x");
    expect((await refusal("missing_group", "a", [regex("a", "$2")])).groups).toBe(0);
  });
});

describe("tolerance", () => {
  const file = "class A {\n    run() {\n        go();\n    }\n}\n";

  it("ignores a common indentation, and inserts verbatim or re-indented", async () => {
    const old = "run() {\n    go();\n}";
    expect(await edited(file, tolerant(old, "walk();", "dedented"))).toBe("class A {\nwalk();\n}\n");
    expect(await edited(file, tolerant(old, "  run() {\n\n    stop();\n  }\n", "reindented"))).toBe(
      "class A {\n    run() {\n\n      stop();\n    }\n}\n",
    );
    expect((await run(file, tolerant(old, "x", "dedented"))).outcomes).toEqual([
      { count: 1, tolerance: "dedented" },
    ]);
  });

  it("measures indentation in the units of both sides, and refuses if that is ambiguous", async () => {
    const wrapped = "\tif (b) {\n\t\tx();\n\t}";
    expect(await edited("{\n    x();\n}\n", tolerant("\t\tx();", wrapped, "indentation"))).toBe(
      "{\n  if (b) {\n    x();\n  }\n}\n",
    );
    expect(await edited("\t\tx();\n", tolerant("    x();", "  if (b) {\n    x();\n  }", "indentation"))).toBe(
      "\tif (b) {\n\t\tx();\n\t}\n",
    );
    expect(
      await edited("    a\n        b\n", tolerant("  a\n    b", "  a\n    b\n      c", "indentation")),
    ).toBe("    a\n        b\n            c\n");
    // How wide a tab is, and what is less than nothing, cannot be known.
    await refusal("no_match", "    a\n    b\n", tolerant("a\nb", "a\n\tb", "indentation"));
    await refusal("no_match", "  x();\n", tolerant("    x();", "if (b)\n    x();", "indentation"));
    await refusal("no_match", "   x();\n", tolerant("\t\tx();", wrapped, "indentation"));
  });

  it("carries indentation over from spaces to tabs and back", async () => {
    const tabs = "def f():\n\tif x:\n\t\ty()\n\treturn\n";
    const edit = tolerant(
      "    if x:\n        y()\n",
      "    if x:\n        for z in y:\n            z()\n",
      "indentation",
    );
    expect(await edited(tabs, edit)).toBe("def f():\n\tif x:\n\t\tfor z in y:\n\t\t\tz()\n\treturn\n");
    expect(
      await edited("  if x:\n    y()\n", tolerant("if x:\n\ty()", "if x:\n\tif y:\n\t\tz()", "indentation")),
    ).toBe("  if x:\n    if y:\n      z()\n");
  });

  it("ignores whitespace at line ends, around lines, between words, around the text, and typography", async () => {
    expect(await edited("a  \nb\n", tolerant("a\nb", "c", "trailing_space"))).toBe("c\n");
    expect(await edited("  a\n b\n", tolerant("a\n   b\n", "c\n", "trimmed_lines"))).toBe("c\n");
    expect(await edited("x =  1\n", tolerant("x = 1\n", "x = 2\n", "collapsed"))).toBe("x = 2\n");
    expect(await edited("f(a,\n  b)\ng\nh\n", tolerant("f(a, b)\ng", "k", "flowed"))).toBe("k\nh\n");
    expect(await edited("say foo bar", tolerant("\nfoo bar\n", "x", "trimmed"))).toBe("say x");
    expect(await edited("it\u2019s \u2013 so\n", tolerant("it's - so", "ok", "typography"))).toBe("ok\n");
  });

  it("is refused if several places match at the strictest level that matches", async () => {
    const twice = "  a();\n  b();\n    a();\n    b();\n";
    const data = await refusal("ambiguous", twice, tolerant("a();\nb();", "x", "dedented", "trimmed"));
    expect([data.tolerance, data.count, data.lines]).toEqual(["dedented", 2, [1, 3]]);
  });

  it("is limited to the levels that the caller allows", async () => {
    const stretch = { lines: 2, characters: 500 };
    const flowed = replace("f( a )", "x", { tolerances: ["flowed"], stretch });
    await refusal("no_match", "f(\n  a\n)\n", [flowed]);
    await refusal("no_match", `a${" ".repeat(600)}b\n`, [
      replace("a b", "x", { tolerances: ["collapsed"], stretch }),
    ]);
    const { stretch: _, ...free } = flowed;
    expect(await edited("f(\n  a\n)\n", [free])).toBe("x\n");
  });

  it("keeps endings and the final line break", async () => {
    expect(await edited("if\r\n\tx\r\n", tolerant("if\n    x\n", "if\n    y\n    z\n", "indentation"))).toBe(
      "if\r\n\ty\r\n\tz\r\n",
    );
    expect(await edited("  a\n  b", tolerant("a\nb\n", "c\nd\n", "reindented"))).toBe("  c\n  d");
    expect(await edited("  a\nb\n", tolerant("a  \n", "", "reindented", "trimmed_lines"))).toBe("b\n");
  });
});

describe("a text that is not there", () => {
  it("is refused with the most similar place and the difference", async () => {
    const file = "function f() {\n\treturn 'it';\n}\nlet Total = sum + 1;\n";
    const near = async (old: string) => (await refusal("no_match", file, [replace(old, "x")])).near;
    expect(await near("function f() {\n    return 'it';\n}")).toMatchObject({
      line: 1,
      difference: "whitespace",
    });
    expect(await near("     2\t\treturn 'it';\n     3\t}")).toMatchObject({
      line: 2,
      difference: "line_numbers",
    });
    expect(await near("return \u2018it\u2019")).toMatchObject({ line: 2, difference: "quotes" });
    expect(await near("let total = SUM")).toMatchObject({ line: 4, difference: "case" });
    expect(await near("{\\n\treturn")).toMatchObject({ line: 1, difference: "line_endings" });
    expect(await near("let Total = sum + 2;")).toMatchObject({
      line: 4,
      difference: "text",
      current: [{ line: 4, text: "let Total = sum + 1;" }],
    });
    expect(await near("nothing of the kind")).toBeUndefined();
  });
});
