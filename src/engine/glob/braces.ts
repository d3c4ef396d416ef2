// `{a,b}` in a glob, written out. The product is counted before anything is made: twenty-five pairs are 33
// million patterns, and must be refused in no time.

type BracePiece = string | readonly (readonly BracePiece[])[];

/** The patterns without braces that a pattern expands to; undefined if they would exceed `limit`. */
export function expandBraces(pattern: string, limit: number): readonly string[] | undefined {
  if (!pattern.includes("{")) return [pattern];
  const pieces = parse(pattern, { at: 0 }, 0);
  return count(pieces) > limit ? undefined : expand(pieces);
}

/** Whether every `{` and `[` is closed; with `openClasses`, a `[` that is not counts as a plain character. */
export function isBalanced(pattern: string, openClasses = false): boolean {
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === "\\") {
      if (++i === pattern.length) return false;
    } else if (c === "[") {
      const end = classEnd(pattern, i);
      if (end < 0 && !openClasses) return false;
      i = Math.max(i, end);
    } else if (c === "{") depth++;
    else if (c === "}" && depth > 0) depth--;
  }
  return depth === 0;
}

/** The index of the `]` that closes the class opened at `start`, or -1. */
export function classEnd(pattern: string, start: number): number {
  let i = start + 1;
  if (pattern[i] === "!" || pattern[i] === "^") i++;
  if (pattern[i] === "]") i++;
  for (; i < pattern.length; i++) {
    if (pattern[i] === "\\") i++;
    else if (pattern[i] === "]") return i;
  }
  return -1;
}

function parse(pattern: string, cursor: { at: number }, depth: number): BracePiece[] {
  const pieces: BracePiece[] = [];
  let literal = "";
  while (cursor.at < pattern.length) {
    const c = pattern[cursor.at] as string;
    if (depth > 0 && (c === "," || c === "}")) break;
    if (c === "\\") {
      literal += pattern.slice(cursor.at, cursor.at + 2);
      cursor.at += 2;
    } else if (c === "[" && classEnd(pattern, cursor.at) > 0) {
      const end = classEnd(pattern, cursor.at) + 1;
      literal += pattern.slice(cursor.at, end);
      cursor.at = end;
    } else if (c === "{" && depth < 32 && closes(pattern, cursor.at)) {
      if (literal !== "") pieces.push(literal);
      literal = "";
      const choices: BracePiece[][] = [];
      do {
        cursor.at++;
        choices.push(parse(pattern, cursor, depth + 1));
      } while (pattern[cursor.at] === ",");
      cursor.at++;
      pieces.push(choices);
    } else {
      literal += c;
      cursor.at++;
    }
  }
  if (literal !== "") pieces.push(literal);
  return pieces;
}

function closes(pattern: string, start: number): boolean {
  let depth = 0;
  for (let i = start; i < pattern.length; i++) {
    const c = pattern[i];
    if (c === "\\") i++;
    else if (c === "[") i = Math.max(i, classEnd(pattern, i));
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return true;
  }
  return false;
}

function count(pieces: readonly BracePiece[]): number {
  let product = 1;
  for (const piece of pieces) {
    if (typeof piece !== "string") product *= piece.reduce((sum, choice) => sum + count(choice), 0);
  }
  return product;
}

function expand(pieces: readonly BracePiece[]): string[] {
  let found = [""];
  for (const piece of pieces) {
    const ends = typeof piece === "string" ? [piece] : piece.flatMap(expand);
    found = found.flatMap(start => ends.map(end => start + end));
  }
  return found;
}
