import fc from "fast-check";
import { expect, it } from "vitest";
import { RuleFile } from "../../src/engine/search/rules.ts";

it("a name whose ending is in no rule of an ignore file is matched by no rule", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    ".",
    "/",
    "*",
    "**/",
    "?",
    "[ab]",
    "\\",
    "é",
    "x",
    "41",
    "~",
    "!",
    "A",
    " ",
  );
  const lines = fc.array(
    fc.array(part, { minLength: 1, maxLength: 5 }).map(parts => parts.join("")),
    { maxLength: 4 },
  );
  const letter = fc.constantFrom("a", "b", ".", "\\x41", "\\xe9", "\\", "é", "x", "4", "1", "~", "A", " ");
  const names = fc.array(letter, { minLength: 1, maxLength: 4 }).map(letters => letters.join(""));
  fc.assert(
    fc.property(
      lines,
      names,
      fc.constantFrom("", "a/", "b/a/"),
      fc.boolean(),
      (rules, name, prefix, isDirectory) => {
        const file = new RuleFile(rules.join("\n"));
        if (file.decide(prefix, 0, name, isDirectory) !== undefined)
          expect(file.endings.mayHave(name)).toBe(true);
      },
    ),
    { numRuns: 20_000 },
  );
});
