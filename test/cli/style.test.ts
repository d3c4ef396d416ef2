// What files and names hold cannot steer the terminal of the person who looks at them, or show something else.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { colouredDiff, styleOf, visible } from "../../src/cli/style.ts";

const steering = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;
const piece = fc.constantFrom(
  ...["\r", "\x1b[2J", "\x9b31m", "\x07", "\u202e", "\u2066", "\u2028", "\x7f"],
  ...["+", "-", " ", "\n", "+++ a", "--- b", "@@ -1 +1 @@", "text", "\t"],
);
const text = fc.array(piece, { maxLength: 30 }).map(parts => parts.join(""));
const plain = styleOf(process.stdout, { NO_COLOR: "1" });

describe("text printed for a person", () => {
  it("contains no terminal control sequences", () => {
    fc.assert(
      fc.property(text, from => {
        expect(visible(from)).not.toMatch(steering);
        expect(colouredDiff(from, plain)).not.toMatch(steering);
      }),
    );
  });
  it("shows the whole of a line that contains a carriage return", () => {
    expect(colouredDiff("+rm -rf ~\r+echo hello\n", plain)).toBe("+rm -rf ~\\x0d+echo hello\n");
  });
  it("keeps the line endings of a CRLF file", () => {
    expect(colouredDiff("-a\r\n+b\r\n", plain)).toBe("-a\n+b\n");
  });
});
