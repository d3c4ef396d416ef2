// Names that some file system takes for the same are the same when they are folded.
import { expect, it } from "vitest";
import { folded, foldedForms } from "../../src/engine/policy/path-globs.ts";
import { foldName, otherSpelling } from "../../src/engine/text/fold-name.ts";

const letters = Array.from({ length: 0x1ffff }, (_, code) => code)
  .filter(code => code < 0xd800 || code > 0xdfff)
  .map(code => String.fromCodePoint(code))
  .filter(letter => letter.toLowerCase() !== letter.toUpperCase() || letter.normalize("NFD") !== letter);

it("every letter folds to the same as its capital, its small letter and both Unicode forms of it", () => {
  const wrong = letters.filter(letter => {
    const others = [
      letter.toLowerCase(),
      letter.toUpperCase(),
      letter.normalize("NFD"),
      letter.normalize("NFC"),
    ];
    return others.some(other => foldName(`x${other}y`) !== foldName(`x${letter}y`));
  });
  expect(wrong).toEqual([]);
});

it("two letters that an expression with `iu` takes for one are one for a rule", () => {
  const wrong = letters.filter(letter => {
    const others = [letter.toLowerCase(), letter.toUpperCase(), letter.toUpperCase().toLowerCase()];
    return others.some(
      other =>
        other !== letter &&
        [...other].length === 1 &&
        !/[\\^$.*+?()[\]{}|/-]/.test(other) &&
        new RegExp(`^${other}$`, "iu").test(letter) &&
        folded(other) !== folded(letter),
    );
  });
  expect(wrong).toEqual([]);
});

it("a letter whose capital is several letters matches those, too", () => {
  expect(foldedForms("pa\u00dfword")).toContain("password");
  expect(foldedForms("\ufb01le")).toContain("file");
  expect(folded("\u017fecrets")).toBe("secrets");
  expect(foldName("STRASSE")).toBe(foldName("stra\u00dfe"));
});

it("another spelling of a name is the same name, or does not exist", () => {
  expect(otherSpelling("123 -_")).toBeUndefined();
  for (const name of ["a", "A", "\u00e9", "e\u0301", "\u65e5", "\ud55c", "README.md"]) {
    const other = otherSpelling(name);
    if (other !== undefined) expect([other !== name, foldName(other)]).toEqual([true, foldName(name)]);
  }
});
