// A ripgrep pattern (Rust's syntax) as tokens: enough to count groups and to tell characters from notation.

const token =
  /\\x\{[\da-fA-F]+\}|\\x[\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\[pP](?:\{[^}]*\}|.)|\\b\{[a-z-]+\}|\\.|\((?:\?(?:P?<\w+>|[a-zA-Z-]*[:)]|<?[=!]))?|\{\d*,?\d*\}|\[|./gsu;

/** A class is one token. Undefined if one is not closed. */
export function ripgrepTokens(pattern: string): string[] | undefined {
  const tokens: string[] = [];
  token.lastIndex = 0;
  for (let match = token.exec(pattern); match !== null; match = token.exec(pattern)) {
    if (match[0] === "[") {
      const end = classEnd(pattern, match.index);
      if (end === undefined) return undefined;
      tokens.push(pattern.slice(match.index, end));
      token.lastIndex = end;
    } else tokens.push(match[0]);
  }
  return tokens;
}

/** After the `]` of the class that opens at `start`, which may hold others. */
function classEnd(pattern: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "\\") at++;
    else if (char === "[") {
      depth++;
      if (pattern[at + 1] === "^") at++;
      if (pattern[at + 1] === "]") at++;
    } else if (char === "]" && --depth === 0) return at + 1;
  }
  return undefined;
}
