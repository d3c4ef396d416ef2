import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldCase } from "../../src/engine/text/fold.ts";
import { indexOfText } from "../../src/engine/text/index-of.ts";

describe("finding a text", () => {
  it("returns what a string search returns, also for long texts that almost match everywhere", () => {
    const units = fc.constantFrom("a", "aaaaaaaaaaaaaaaa", "b", "ab");
    const body = fc.array(units, { maxLength: 60 }).map(parts => parts.join(""));
    const cut = fc.tuple(body, fc.nat(600), fc.nat(200), fc.nat(40));
    fc.assert(
      fc.property(cut, body, ([text, start, length, from], other) => {
        for (const wanted of [text.slice(start, start + length), other]) {
          const repeated = text.repeat(3);
          expect(indexOfText(repeated, wanted, from)).toBe(repeated.indexOf(wanted, from));
        }
      }),
    );
  });

  it("finishes where comparing at every position would take minutes", () => {
    const body = "a".repeat(5_000_000);
    const half = "a".repeat(10_000);
    expect(indexOfText(body, `${half}b${half}`)).toBe(-1);
    expect(indexOfText(`${body}b${half}`, `${half}b${half}`)).toBe(body.length - half.length);
  });
});

describe("a text without its case", () => {
  it("is the same as another one where a regular expression takes one for the other", () => {
    const wrong: string[] = [];
    for (let code = 1; code < 0xd800; code++) {
      const char = String.fromCharCode(code);
      if (foldCase(char).length !== 1) wrong.push(char);
      const cases = [char.toUpperCase(), char.toLowerCase(), char.toUpperCase().toLowerCase()];
      for (const other of new Set(cases)) {
        if (other.length !== 1 || other === char) continue;
        const same = new RegExp(other, "iu").test(char);
        if (same !== (foldCase(char) === foldCase(other))) wrong.push(char + other);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("has every character where it was", () => {
    expect(foldCase("ΟΔΟΣ. İSTANBUL ſtraße 𐐀 K")).toBe("οδοσ. İstanbul straße 𐐨 k");
  });
});
