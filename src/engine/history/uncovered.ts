// What a command changed, or may have changed, that its record in the history does not cover. The answer and the audit
// log say the same about it.
import type { Footprint } from "./footprint.ts";

export interface Uncovered {
  /** Changed, with contents that are not kept. */
  readonly notKept?: readonly string[];
  /** Changed by the command and by others alternately. */
  readonly shared?: readonly string[];
  /** Directories that are not entered, such as `.git`, with changes inside. */
  readonly inside?: readonly string[];
  /** Directories that are not entered, and too large to compare. */
  readonly tooLarge?: readonly string[];
  /** Why there may be any other change. */
  readonly unknown?: "background" | "not compared" | "too many entries";
}

export function uncoveredIn({ complete, leftOut, shared, unseen }: Footprint) {
  const inside = (wanted: string) =>
    unseen.flatMap(({ path, state }) => (state === wanted && !leftOut.includes(path) ? [`${path}/`] : []));
  return {
    notKept: leftOut,
    shared,
    inside: inside("changed"),
    tooLarge: inside("unknown"),
    ...(!complete && { unknown: "too many entries" as const }),
  } satisfies Uncovered;
}
