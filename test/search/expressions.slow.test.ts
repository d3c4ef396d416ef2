// JavaScript expressions by two engines: what ripgrep finds by the translation is what JavaScript finds line by
// line, for hand-picked patterns and for random ones.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { type Expression, readExpression } from "../../src/engine/regex/expression.ts";
import type { GrepReport } from "../../src/engine/search/grep-terms.ts";
import { matches } from "../../src/engine/search/matches.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const alphabet = [
  "a",
  "b",
  "B",
  "1",
  "_",
  " ",
  "-",
  ".",
  "{",
  "}",
  "[",
  "]",
  "(",
  "\\",
  "$",
  "é",
  "ß",
  "٣",
  "😀",
  "\t",
  "\u00a0",
];
const lines = [
  "",
  "aab1 a-b",
  "x{2} $" + "{name} [a] (b)",
  "naïve café Größe",
  "٣ digits",
  "😀 smile 😀😀",
  "a\tb\u00a0c\u2028d",
  "C:\\dir\\file",
  "Kelvin K and ſ",
  "^start end$",
  "a.b*c+d?",
  "foo_bar foo-bar foobar",
];

let root: string;
let workspace: Workspace;
const random = fc.sample(fc.array(fc.constantFrom(...alphabet), { maxLength: 12 }), {
  numRuns: 400,
  seed: 7,
});

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "polyfs-expressions-"));
  lines.push(...random.map(chars => chars.join("")));
  writeFileSync(join(root, "lines.txt"), lines.map(line => `${line}\n`).join(""));
  workspace = Workspace.open([{ path: root, access: "read-only" }]);
});
afterAll(() => {
  workspace[Symbol.dispose]();
  rmSync(root, { recursive: true });
});

async function byRipgrep(expression: Expression): Promise<[number, number][]> {
  using directory = workspace.directory(workspace.at("."));
  const report: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
  const options = { context: 0, limit: 10_000, maxFileSize: 1e6, maxFiles: 10 };
  const found: [number, number][] = [];
  for await (const file of matches(directory, expression, options, report)) {
    found.push(...file.lines.map(({ number, count }): [number, number] => [number, count]));
  }
  return found;
}

function byJavaScript({ source, flags }: Expression): [number, number][] {
  const regex = new RegExp(source, `${flags}g`);
  return lines.flatMap((line, i): [number, number][] => {
    const count = line.match(regex)?.length ?? 0;
    return count === 0 ? [] : [[i + 1, count]];
  });
}

describe("both engines find the same", () => {
  it.each([
    "\\d",
    "\\D",
    "\\w+",
    "\\W",
    "\\s",
    "\\S+",
    "\\bfoo\\b",
    "\\Bb",
    "^$",
    "^a",
    "b$",
    "a.b",
    "a\\.b",
    "{",
    "}",
    "]",
    "x{2}",
    "x\\{2\\}",
    "a{1,2}b",
    "a{2,}",
    "$" + "{name}",
    "\\$\\{name\\}",
    "[\\w-]+",
    "[^a-z]",
    "[a\\-_.]",
    "[\\]\\[]",
    "[[:digit:]]",
    "[[:punct:]]+",
    "[^[:alpha:] ]",
    "é",
    "[é-ü]",
    "ß",
    "\\u00e9",
    "\\xe9",
    "\\u{1F600}",
    "😀{2}",
    "[😀]",
    "\\p{L}+",
    "\\P{L}",
    "\\p{Lu}",
    "(?:a|b)+",
    "(?<x>a)b",
    "(?P<x>a)b",
    "(a|ab)(c|bcd)?",
    "a*?b",
    "a+?",
    "\\t",
    "\\cI",
    "[\\s\\S]",
    "[\\d\\D]b",
    "\\\\",
    "C:\\\\dir",
    "a|b|",
    "(|a)",
    "k",
    "(?i)KELVIN",
    "s",
    "[a&&b]",
    "[a~~b]",
    "[!--]",
    "#",
    "a b",
    "\\/",
    "\\-",
    "\\_",
    "[^\\n]",
    ".",
    "^.$",
    "^..$",
    "\\0",
    "[\\b]",
  ])("%s", async pattern => {
    // An empty word may be between the halves of a character for the one engine, and nowhere for the other.
    const wholeWord = !new RegExp(readExpression(pattern).source, "u").test("");
    for (const options of [{}, { ignoreCase: true, wholeWord }]) {
      const expression = readExpression(pattern, options);
      expect(expression.linear, "it is known to the linear engine").toBeDefined();
      expect(await byRipgrep(expression)).toEqual(byJavaScript(expression));
    }
  });

  it("for a hundred random patterns", async () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "1",
      "\\d",
      "\\w",
      "\\s",
      ".",
      "[ab]",
      "[^a]",
      "é",
      "\\b",
      "\\.",
      "-",
      "{",
      "}",
      "😀",
      "[\\w.-]",
      "$",
      "^",
    );
    const piece = fc
      .tuple(atom, fc.constantFrom("", "", "", "+", "*", "?", "{2}", "{1,}", "+?"))
      .map(parts => parts.join(""));
    const sequence = fc.array(piece, { minLength: 1, maxLength: 4 }).map(parts => parts.join(""));
    const pattern = fc.oneof(
      sequence,
      fc.tuple(sequence, sequence).map(([a, b]) => `${a}|${b}`),
      fc.tuple(sequence, sequence).map(([a, b]) => `(?:${a})${b}`),
    );
    await fc.assert(
      fc.asyncProperty(pattern, fc.boolean(), async (written, ignoreCase) => {
        let expression: Expression;
        try {
          expression = readExpression(written, { ignoreCase });
        } catch (error) {
          // Whatever is refused, JavaScript refuses.
          expect(Fault.is(error, "invalid_pattern")).toBe(true);
          expect(() => new RegExp(written)).toThrow();
          return;
        }
        expect(await byRipgrep(expression)).toEqual(byJavaScript(expression));
      }),
      { numRuns: 100, seed: 11 },
    );
  });
});

describe("only JavaScript's engine gets", () => {
  it.each(["(?=a)", "(?!a)", "(?<=a)b", "(?<!a)b", "(a)\\1", "(?<n>a)\\k<n>", "[^]", "[]"])(
    "%s",
    async pattern => {
      const expression = readExpression(pattern);
      expect(expression.linear).toBeUndefined();
      expect(await byRipgrep(expression)).toEqual(byJavaScript(expression));
    },
  );
});

describe("a pattern that is invalid with the flag u", () => {
  it.each([
    ["\\a\\-b", "a-b"],
    ["\\a\\_b", "a_b"],
    ["[+\\--/]\\a", ".a"],
  ])("keeps its escapes: %s", (pattern, line) => {
    const { source, flags } = readExpression(pattern);
    expect(flags).toBe("");
    expect(new RegExp(source, flags).test(line)).toBe(true);
  });
});
