// Character classes in Rust's expressions.

/** Behind the `]` of the class that opens at `start`, which may hold others. */
export function classEnd(pattern: string, start: number): number | undefined {
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
