// How much of its conflicts a refused merge shows. What it does not show, no fork can have resolved, so the answer and
// the record of the refusal ask here.
import type { MergeConflict, NumberedLine } from "../fault.ts";

export const mostConflicts = 20;
/** Of one side of all conflicts together. A long line counts as several. */
const mostOfAll = 400;
/** Of one side of a conflict, even if earlier ones took all that. */
const mostOfOne = 40;
const longLine = 100;

/** How many lines of each conflict are shown, of one side. */
export function shownLines(conflicts: readonly MergeConflict[], side: "fork" | "base"): number[] {
  let left = mostOfAll;
  return conflicts.slice(0, mostConflicts).map(conflict => {
    const lines = conflict[side] ?? [];
    const room = Math.max(mostOfOne, left);
    let [shown, taken] = [0, 0];
    for (; shown < lines.length; shown++) {
      taken += weight(lines[shown]);
      if (taken > room && shown > 0) break;
    }
    left -= taken;
    return shown;
  });
}

function weight(line: NumberedLine | undefined): number {
  return Math.max(1, Math.ceil((line?.text.length ?? 0) / longLine));
}
