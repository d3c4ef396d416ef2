// Large texts as JSON: whatever the text, the bytes are those of JSON.stringify.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonPieces } from "../../src/engine/text/json-pieces.ts";
import { memoryFrom, program } from "../../src/engine/text/simd/program.ts";

function encoded(text: string): string {
  let whole = "";
  for (const piece of jsonPieces(text)) whole += piece.toString("utf8");
  return whole;
}

/** Made of everything that JSON or UTF-8 treats in its own way, and of plain runs between. */
const anyText = fc.array(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: "grapheme-ascii", maxLength: 40 }),
    fc.constantFrom(
      '"',
      "\\",
      "\n",
      "\r\n",
      "\t",
      "\b",
      "\f",
      "\0",
      "\x1f",
      "\x7f",
      "\u2028",
      "é",
      "漢",
      "😀",
    ),
    fc.constantFrom("\ud800", "\udc00", "\udfff\ud800"),
  ),
  { maxLength: 30 },
);

describe("a text in pieces of JSON", () => {
  it("is what JSON.stringify makes of it", () => {
    fc.assert(
      fc.property(anyText, parts => {
        const text = parts.join("");
        expect(encoded(text)).toBe(JSON.stringify(text));
      }),
      { numRuns: 500 },
    );
  });

  it("is the same across the boundaries of the pieces, wherever a character is", () => {
    for (const unit of ["x", "é", "漢", "😀", "\u0001", '"\\\n', "a😀"]) {
      const text = unit.repeat(Math.ceil(400_000 / unit.length));
      for (const before of ["", "x", "xx", "xxx"]) {
        expect(encoded(before + text) === JSON.stringify(before + text)).toBe(true);
      }
    }
  });

  it("holds each byte below 128 in each place of a vector", () => {
    for (let code = 0; code < 128; code++) {
      const text = Array.from({ length: 33 }, (_, i) => `${"-".repeat(i)}${String.fromCharCode(code)}`).join(
        "",
      );
      expect(encoded(text)).toBe(JSON.stringify(text));
    }
  });

  it("is made by vectors on this machine, so that the above is about them", () => {
    expect(program()).toBeDefined();
  });
});

describe("line ends", () => {
  it("are counted from any place to any place", () => {
    const quick = program();
    if (quick === undefined) throw new Error("no program");
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(10, 13, 0, 65, 138, 255), { maxLength: 100 }),
        fc.nat(40),
        (bytes, skip) => {
          quick.memory.set(bytes, memoryFrom);
          const from = Math.min(skip, bytes.length);
          const expected = bytes.slice(from).filter(byte => byte === 10).length;
          expect(quick.countBreaks(memoryFrom + from, memoryFrom + bytes.length)).toBe(expected);
        },
      ),
    );
  });
});
