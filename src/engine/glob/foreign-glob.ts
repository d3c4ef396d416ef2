// Glob notations of other tools that polyfs does not support. As plain characters they would match nothing: a search
// would find nothing, and a rule would protect nothing. So they are refused with a suggestion.
import type { PatternProblem } from "../fault.ts";
import { classEnd } from "./braces.ts";

const range = /^\{(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(\.\.-?\d+)?\}/;
/** `*(1)` and `?(1)` may well be a name with parentheses after a wildcard; with a bar inside they are not. */
const group = /^(?:[@+!]\([^()/]*\)|[*?]\([^()/]*\|[^()/]*\))/;

/** Why the pattern is refused; undefined if it is fine. */
export function foreignIn(pattern: string): PatternProblem | undefined {
  for (let i = 0; i < pattern.length; i++) {
    const rest = () => pattern.slice(i);
    switch (pattern[i]) {
      case "\\":
        i++;
        break;
      case "[": {
        const end = classEnd(pattern, i);
        const backwards = end < 0 ? undefined : backwardsIn(pattern.slice(i + 1, end));
        if (backwards !== undefined) return { is: "backwards_range", found: backwards };
        i = Math.max(i, end);
        break;
      }
      case "{": {
        const found = range.exec(rest())?.[0];
        if (found !== undefined) return { is: "brace_range", found };
        break;
      }
      case "@":
      case "+":
      case "!":
      case "*":
      case "?": {
        const found = group.exec(rest())?.[0];
        if (found !== undefined) return { is: "group", found };
        break;
      }
    }
  }
  return undefined;
}

function backwardsIn(body: string): string | undefined {
  for (const [whole, low = "", high = ""] of body
    .replace(/^[!^]/, "")
    .matchAll(/\\?([^\\])-\\?([^\\])|\\?[^\\]/gsu)) {
    if (high !== "" && (low.codePointAt(0) ?? 0) > (high.codePointAt(0) ?? 0)) return whole;
  }
  return undefined;
}
