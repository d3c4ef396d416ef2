// Changes in an answer: a small unified diff without file names, truncated if long.
import { textJob } from "../../engine/edit/thread/thread.ts";
import { type ChangedPart, changedParts } from "../../engine/text/changed-part.ts";
import type { Text } from "../../engine/text/text.ts";
import { AnswerLines, counted, longestInDiff, shownDiffLine } from "./answer.ts";

const footing = 60;
const context = 2;

/** The input of a diff. */
export function changeOf(before: Text, after: Text): Promise<readonly ChangedPart[]> {
  return changedParts(before, after, context);
}

/** A change as it is shown, and how many lines it added and removed. */
export interface ShownDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** The hunks of a change, within this many bytes. */
export async function diffOf(
  parts: readonly ChangedPart[],
  bytes: number,
  longest = longestInDiff,
): Promise<ShownDiff> {
  const room = Math.max(bytes - footing, 400);
  const lines = new AnswerLines(room);
  let [total, added, removed] = [0, 0, 0];
  for (const { before, after, skipped, drift } of parts) {
    // Endings are the file's business: a diff that shows them would make every line of a CRLF file look changed.
    const [old, made] = [before.body, after.body];
    const options = { context, skipped, drift, room: lines.room, longest };
    const diff = await textJob("diffStart", old.length + made.length, old, made, options);
    if (lines.count === total) for (const line of diff.lines) if (!lines.add(shownDiffLine(line))) break;
    total += diff.total;
    added += diff.added;
    removed += diff.removed;
  }
  if (total === 0) {
    const isSame = parts.every(({ before, after }) => before.raw === after.raw);
    return { text: isSame ? "[no difference]" : "[only line endings differ]", added, removed };
  }
  const left = total - lines.count;
  if (left > 0) lines.note(`[${counted(left, "more line")} of this diff]`);
  return { text: lines.toString(), added, removed };
}

/** How many lines a change added and removed. */
export async function countsOf(parts: readonly ChangedPart[]): Promise<{ added: number; removed: number }> {
  let [added, removed] = [0, 0];
  for (const { before, after } of parts) {
    const [old, made] = [before.body, after.body];
    const counts = await textJob("diffCounts", old.length + made.length, old, made);
    added += counts.added;
    removed += counts.removed;
  }
  return { added, removed };
}
