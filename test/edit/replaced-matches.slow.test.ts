// An expression replaced everywhere in a large file takes a way of its own (replace-everywhere.ts). The same edit of all
// lines takes the ordinary way: both have the same result, or the same refusal.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { applyEdits } from "../../src/engine/edit/apply.ts";
import type { Edit } from "../../src/engine/edit/edits.ts";
import { Fault } from "../../src/engine/fault.ts";
import { dollarStyle, sedStyle } from "../../src/engine/regex/replacement.ts";
import { decode } from "../../src/engine/text/text.ts";

describe("an expression replaced everywhere in a large file", () => {
  it("gives the same result as an edit of all its lines, or the same refusal", async () => {
    const styles = { dollar: dollarStyle, sed: sedStyle };
    for (const content of ["foo bär foo 🙂 aaa\n".repeat(15_000), `${"ab 12\n\n".repeat(40_000)}end`]) {
      const file = await decode("f", Buffer.from(content));
      const count = content.split("\n").length;
      for (const [pattern, flags, added, style, byLine] of [
        ["fo+|a", "", "<$&>", "dollar"],
        ["(\\w+) (\\d+)", "", "$2 $1", "dollar"],
        ["(?<word>b)(x)?", "", "$<word>$2", "dollar"],
        ["^", "m", "> ", "dollar"],
        ["$", "m", ";", "dollar"],
        ["^", "m", "> ", "sed", true],
        ["\\n", "", "\\n\\n", "sed"],
        [".", "", "$&", "dollar"],
        [".", "u", "x$&", "dollar"],
        ["a", "i", "A", "dollar"],
        ["a", "", "a", "dollar"],
        ["a", "", "$3", "dollar"],
        ["(", "", "", "dollar"],
        ["nowhere", "", "", "dollar"],
        ["\ud83d", "", "", "dollar"],
        ["[^\\n]*", "", "$&".repeat(5000), "dollar"],
      ] as const) {
        const edit = {
          kind: "regex",
          pattern,
          flags,
          new: added,
          style: styles[style],
          times: "all",
        } as const;
        const one = { ...edit, byLine: byLine ?? false };
        for (const failing of added.length === 1 ? (["throw"] as const) : (["throw", "skip"] as const)) {
          const apply = async (edits: readonly Edit[]) => {
            try {
              const made = await applyEdits(file, edits, { order: "original", failing });
              const outcomes = made.outcomes.map(some => (some instanceof Fault ? some.code : some.count));
              return { bytes: made.text.bytes.toString(), outcomes, isSame: made.text === file };
            } catch (error) {
              if (!(error instanceof Fault)) throw error;
              return { code: error.code, data: error.data };
            }
          };
          const whole = await apply([one]);
          const lines = await apply([{ ...one, within: { from: 1, to: count } }]);
          const said = JSON.stringify([pattern, flags, added, failing, content.slice(0, 8)]);
          expect(isDeepStrictEqual(whole, lines), said).toBe(true);
        }
      }
    }
  });
});
