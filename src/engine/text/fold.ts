// Letters without their case, unit for unit, so that offsets stay: two texts are the same here if a regular expression
// with the flags `iu` takes one for the other. A regular expression of a long text is not a way to find it: it can be
// too large to compile, and takes quadratic time.
import { once } from "../once.ts";
import { isAscii } from "./ascii.ts";

export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  // Two letters have a lower case that depends on their context, or takes two units.
  const lower = text
    .replaceAll("Σ", "σ")
    .split("İ")
    .map(part => part.toLowerCase())
    .join("İ");
  if (isAscii(lower)) return lower;
  const { pattern, folded } = oddities();
  return lower.replace(pattern, char => folded.get(char) ?? char);
}

interface Oddities {
  readonly pattern: RegExp;
  readonly folded: ReadonlyMap<string, string>;
}

const oddities = once(findOddities);

/** Small letters that share their capital with another one, as "ς" and "ſ" do. */
function findOddities(): Oddities {
  const folded = new Map<string, string>();
  for (let code = 0x80; code < 0xd800; code++) {
    const char = String.fromCharCode(code);
    const other = char.toUpperCase().toLowerCase();
    if (char.toLowerCase() !== char || other === char || other.length !== 1) continue;
    if (new RegExp(char, "iu").test(other)) folded.set(char, other);
  }
  return { pattern: new RegExp(`[${[...folded.keys()].join("")}]`, "g"), folded };
}
