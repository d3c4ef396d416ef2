// The brackets of C and C++, counted without the grammar, which finds little in code that is full of macros.
import { cppTokens } from "./cpp-tokens.ts";
import type { ParseError } from "./messages.ts";

const closing: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

interface OpenBracket {
  readonly start: number;
  readonly by: string;
}

/** The first bracket that closes nothing, or the last one that is never closed. */
export function bracketError(text: string): ParseError | undefined {
  let open: OpenBracket[] = [];
  /** For each `#if` around: what was open there, and at the end of its first branch. */
  const branches: { readonly atStart: OpenBracket[]; atEnd?: OpenBracket[] }[] = [];
  for (const { start, end, text: token } of cppTokens(text, "directives")) {
    const directive = /^[ \t]*#[ \t]*(\w*)/.exec(token)?.[1];
    if (directive === undefined) {
      const by = closing[token];
      if (by !== undefined) open.push({ start, by });
      else if (/^[)\]}]$/.test(token) && open.pop()?.by !== token) return { start, end, bracket: true };
    } else if (/^if/.test(directive)) branches.push({ atStart: [...open] });
    else if (/^el/.test(directive)) {
      const branch = branches.at(-1);
      if (branch === undefined) continue;
      branch.atEnd ??= open;
      open = [...branch.atStart];
    } else if (directive === "endif") open = branches.pop()?.atEnd ?? open;
  }
  const last = open.at(-1);
  return last && { start: last.start, end: last.start + 1, bracket: true };
}
