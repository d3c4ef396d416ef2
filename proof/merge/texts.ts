// Random files, and random changes of them: repeated lines, blocks of code, insertions at one place, deletions, files
// without a final line break, and both line endings.
import type { Edit } from "../../src/engine/edit/edits.ts";
import type { Chance } from "../chance.ts";
import type { Hunk } from "./exact.ts";

export interface Fixture {
  /** With their endings. */
  readonly lines: readonly string[];
  readonly ending: string;
  /** Any line that fits into the file, without its ending. */
  line(): string;
}

export function fixture(chance: Chance, longest: number): Fixture {
  const kinds: (() => string)[] = [
    () => chance.pick(["a", "b"]),
    () => chance.pick([..."abcdef"]),
    () => chance.pick(["f {", "  x1", "  x2", "}", "", "  return", "  if (x) {", "  }"]),
    () => `line ${chance.below(1000)}`,
    () => chance.pick(["a", "b", `only ${chance.below(1e6)}`]),
  ];
  const line = chance.pick(kinds);
  const count = chance.below(longest + 1);
  const ending = count > 1 && chance.below(4) === 0 ? "\r\n" : "\n";
  const lines = Array.from({ length: count }, () => line() + ending);
  return { lines: chance.below(4) === 0 ? withoutFinal(lines) : lines, ending, line };
}

function withoutFinal(lines: readonly string[]): string[] {
  return lines
    .map((text, i) => (i === lines.length - 1 ? text.replace(/\r?\n$/, "") : text))
    .filter(text => text !== "");
}

/** Another caller's version of a file. */
export function changed({ lines, ending, line }: Fixture, chance: Chance): string[] {
  const made = [...lines];
  for (let left = chance.below(3); left >= 0; left--) {
    const at = chance.below(made.length + 1);
    const removed = chance.below(3);
    made.splice(at, removed, ...Array.from({ length: chance.below(3) }, () => line() + ending));
  }
  // Only the last line may be without its break.
  const whole = made.map((text, i) => (i < made.length - 1 && !text.endsWith("\n") ? text + ending : text));
  return chance.below(12) === 0 ? withoutFinal(whole) : whole;
}

/** Edits of separate lines, and the meaning of each on its own. */
export function edits({ lines, ending, line }: Fixture, chance: Chance): { edits: Edit[]; hunks: Hunk[] } {
  const made: Edit[] = [];
  const hunks: Hunk[] = [];
  const isOpen = lines.length > 0 && !lines.at(-1)?.endsWith("\n");
  const block = (count: number) => Array.from({ length: count }, line);
  const ended = (texts: readonly string[], open: boolean) =>
    texts.map((text, i) => (open && i === texts.length - 1 ? text : text + ending));
  for (let at = chance.below(3); at < lines.length; at += 1 + chance.below(6)) {
    const size = 1 + chance.below(Math.min(3, lines.length - at));
    const reachesOpenEnd = isOpen && at + size === lines.length;
    const texts = block(1 + chance.below(3));
    if (texts.at(-1) === "" || texts.join("") === "") continue; // "" removes lines, and a last empty one is a break
    if (chance.below(3) === 0) {
      made.push({ kind: "insert", after: at, new: texts.join("\n") });
      hunks.push({ start: at, end: at, lines: ended(texts, false) });
    } else if (chance.below(4) === 0 && !reachesOpenEnd) {
      made.push({ kind: "lines", from: at + 1, to: at + size, new: "" });
      hunks.push({ start: at, end: at + size, lines: [] });
      at += size;
    } else {
      made.push({ kind: "lines", from: at + 1, to: at + size, new: texts.join("\n") });
      hunks.push({ start: at, end: at + size, lines: ended(texts, reachesOpenEnd) });
      at += size;
    }
  }
  const last = hunks.at(-1)?.end ?? 0;
  if (chance.below(6) === 0 && last < lines.length - (isOpen ? 1 : 0)) {
    const texts = [line() || "end"];
    made.push({ kind: "insert", after: -1, new: texts.join("\n") });
    const open = lines.at(-1) ?? "";
    if (isOpen)
      hunks.push({
        start: lines.length - 1,
        end: lines.length,
        lines: [open + ending, ...ended(texts, true)],
      });
    else hunks.push({ start: lines.length, end: lines.length, lines: ended(texts, false) });
  }
  return { edits: made, hunks };
}
