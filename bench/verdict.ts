// Whether an answer is right. A wrong one is reported and never counts as a win, however fast; a partial answer (of a
// server with a budget) is reported separately.

export interface Verdict {
  readonly is: "right" | "partial" | "wrong";
  readonly why?: string;
}

export const right: Verdict = { is: "right" };

export function wrong(why: string): Verdict {
  return { is: "wrong", why };
}

/** Whether the pieces occur in the text, in this order. */
export function inOrder(text: string, pieces: Iterable<string>): Verdict {
  let at = 0;
  let found = 0;
  for (const piece of pieces) {
    const next = text.indexOf(piece, at);
    if (next < 0)
      return found === 0 ? wrong(`${piece} is missing`) : { is: "partial", why: `cut before ${piece}` };
    at = next + piece.length;
    found++;
  }
  return right;
}

/** Whether all of these names are in the text; more are fine, fewer make the answer partial. */
export function named(text: string, names: ReadonlySet<string>): Verdict {
  const seen = new Set(text.match(/\bf\d{6}\.\w+/g));
  let missing = 0;
  for (const name of names) if (!seen.has(name)) missing++;
  if (missing === 0) return right;
  const why = `${missing} of ${names.size} are missing`;
  return seen.size > 0 ? { is: "partial", why } : wrong(why);
}

/** Whether the pattern is found often enough; some show more of each place than others. */
export function counted(text: string, pattern: RegExp, least: number): Verdict {
  const found = text.match(pattern)?.length ?? 0;
  if (found >= least) return right;
  return found === 0 ? wrong("nothing found") : { is: "partial", why: `${found} of ${least}` };
}

export function worst(verdicts: readonly Verdict[]): Verdict {
  return verdicts.find(({ is }) => is === "wrong") ?? verdicts.find(({ is }) => is === "partial") ?? right;
}
