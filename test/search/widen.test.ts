// The wider expression that ripgrep gets where files may have other encodings.
import { spawnSync } from "node:child_process";
import { rgPath } from "@vscode/ripgrep";
import { expect, it } from "vitest";
import { widened } from "../../src/engine/search/widen.ts";

const parts = ["a", ".", "\\b", "^", "$", "\\w", "b?", "[^b]", "ä", "\\s*"];
const lines = ["", "a", "ab", "ba", " a b", "cab", "a-b a", "b b", "bb", "-", "aab ", "abba", "..", "b.a"];

function matching(pattern: string): string {
  const args = ["--no-config", "--text", "--crlf", "--line-number", "--engine=auto", "-e", pattern, "-"];
  const { stdout, status, stderr } = spawnSync(rgPath, args, { input: `${lines.join("\n")}\n` });
  if (status === 2) throw new Error(`${pattern}: ${stderr}`);
  return stdout.toString();
}

it("matches the same ASCII lines as the query if it says so", async () => {
  let exact = 0;
  for (let i = 0; i < 60; i++) {
    // A stride that is prime to the number of triples visits all parts in all places.
    const at = (i * 397) % parts.length ** 3;
    const pattern = [at % 10, Math.floor(at / 10) % 10, Math.floor(at / 100)].map(n => parts[n]).join("");
    const wider = await widened({ pattern, lookaround: true });
    if (wider?.isExactOnAscii !== true) continue;
    exact++;
    expect({ pattern, lines: matching(wider.query.pattern) }).toEqual({ pattern, lines: matching(pattern) });
  }
  expect(exact).toBeGreaterThan(15);
});

it.each([
  ["n[e]{2}dle\\s+in.*\\d{4}$", true],
  ["^a.c", true],
  ["a.c\\b", false],
  ["\\ba\\b", true],
  ["^.*$", false],
] as const)("%s is decided by the line alone: %s", async (pattern, expected) => {
  expect((await widened({ pattern }))?.isExactOnAscii).toBe(expected);
});
