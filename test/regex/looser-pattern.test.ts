// A looser pattern must match wherever the expression does, because files that it does not match are not read. Random
// expressions, with JavaScript as the oracle and ripgrep running the looser pattern.
import { spawnSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looserPattern } from "../../src/engine/regex/looser-pattern.ts";

const atoms = [
  ..."abAB01_ -.]}{,\"'/#&~é€😀\u017f\u212a\ufffd",
  ..."\\d \\w \\s \\D \\W \\S \\b \\B \\. \\* \\( \\[ \\\\ \\/ \\- \\t \\r \\x41 \\u00e9 \\1 \\k<n>".split(
    " ",
  ),
  ..."[ab] [^ab] [a-c0-9] [\\w-] [\\d.] [^\\s] [é-ü] [] [^] [-a] [a-] [\\]x] [+\\--/] ^ $ (?=a) (?!b) (?<=a) (?<!b)".split(
    " ",
  ),
];
const quantifiers = [
  "",
  "",
  "",
  "*",
  "+",
  "?",
  "{2}",
  "{0,1}",
  "{1,}",
  "{2,3}",
  "{0}",
  "{12}",
  "*?",
  "+?",
  "{,2}",
];

const expression = fc.letrec<{ node: string; group: string; sequence: string }>(tie => ({
  node: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(fc.constantFrom(...atoms), fc.constantFrom(...quantifiers)).map(p => p.join("")),
    },
    { weight: 1, arbitrary: tie("group") },
  ),
  group: fc
    .tuple(
      fc.constantFrom("(", "(?:", "(?<n>"),
      fc.array(tie("sequence"), { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...quantifiers),
    )
    .map(([open, parts, quantifier]) => `${open}${parts.join("|")})${quantifier}`),
  sequence: fc.array(tie("node"), { minLength: 1, maxLength: 4 }).map(parts => parts.join("")),
})).sequence;

const character = fc.constantFrom(
  ..."abABcc01_ -.,]{}\\/\"'#\t\r",
  "é",
  "ü",
  "€",
  "😀",
  "\u017f",
  "\u212a",
  "\ufffd",
  "\u2028",
);
const lines = fc.array(fc.string({ unit: character, maxLength: 12 }), { minLength: 20, maxLength: 20 });

function compiled(pattern: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(pattern, flags);
  } catch {
    return undefined;
  }
}

/** Which of the lines ripgrep finds; undefined if it refuses the pattern, and every file would be read. */
function found(pattern: string, ignoreCase: boolean, text: string): Set<number> | undefined {
  const args = ["--no-config", "--text", "--line-number", ignoreCase ? "-i" : "-s", "-e", pattern, "-"];
  const { status, stdout } = spawnSync(rgPath, args, { input: Buffer.from(text), encoding: "latin1" });
  if (status === 2) return undefined;
  return new Set(stdout.split("\n").map(line => Number.parseInt(line, 10)));
}

describe("a looser pattern", () => {
  it("matches every line that the expression matches", () => {
    let roughened = 0;
    fc.assert(
      fc.property(expression, fc.boolean(), lines, (pattern, ignoreCase, some) => {
        const regex = compiled(pattern, ignoreCase ? "i" : "");
        const looser = regex && looserPattern(pattern, ignoreCase);
        if (regex === undefined || looser === undefined) return;
        const hits = found(looser, ignoreCase, some.join("\n"));
        if (hits === undefined) return;
        roughened += 1;
        for (const [i, line] of some.entries()) {
          if (regex.test(line))
            expect([...hits], `/${pattern}/ as ${looser} misses ${JSON.stringify(line)}`).toContain(i + 1);
        }
      }),
      { numRuns: 600 },
    );
    expect(roughened, "most runs prove nothing").toBeGreaterThan(100);
  });

  it("also finds what is not UTF-8", () => {
    const hits = spawnSync(
      rgPath,
      ["--no-config", "-c", "--text", "-e", looserPattern("a.b", false) ?? "", "-"],
      {
        input: Buffer.from("a\xe9b\n", "latin1"),
      },
    );
    expect(hits.stdout.toString()).toBe("1\n");
  });

  it.each([
    ["TODO", "TODO"],
    ["foo|bar", "(?:foo|bar)"],
    ["(?<=x)y", "y"],
    ["^a$", "a"],
    ["\\cAx", "\\x{1}x"],
    ["[\\w-]!", "[0-9A-Z_-_a-z\\x{2d}-\\x{2d}]\\x{21}"],
  ])("is close where it can be: /%s/", (pattern, expected) => {
    expect(looserPattern(pattern, false)).toBe(expected);
  });

  it.each([".*", "a?", "^$", "\\s+", "a|", "\\p{L}x", "a\\nb", "(?=x)"])(
    "is absent if it would not help: /%s/",
    pattern => {
      expect(looserPattern(pattern, false)).toBeUndefined();
    },
  );
});
