// Changes in an answer: a small unified diff without file names, truncated if long.
import { textJob } from "../../engine/edit/thread/thread.ts";
import { type ChangedPart, changedPart } from "../../engine/text/changed-part.ts";
import type { Text } from "../../engine/text/text.ts";
import { AnswerLines, counted, longestInDiff, shownDiffLine } from "./answer.ts";

const footing = 60;
const context = 2;

/** The input of a diff. */
export function changeOf(before: Text, after: Text): Promise<ChangedPart> {
  return changedPart(before, after, context);
}

/** A change as it is shown, and how many lines it added and removed. */
export interface ShownDiff {
  readonly text: string;
  readonly added: number;
  readonly removed: number;
}

/** The hunks of a change, within this many bytes. */
export async function diffOf(
  { before, after, skipped }: ChangedPart,
  bytes: number,
  longest = longestInDiff,
): Promise<ShownDiff> {
  const room = Math.max(bytes - footing, 400);
  // Endings are the file's business: a diff that shows them would make every line of a CRLF file look changed.
  const [old, made] = [before.body, after.body];
  const options = { context, skipped, room, longest };
  const diff = await textJob("diffStart", old.length + made.length, old, made, options);
  const { total, added, removed } = diff;
  if (total === 0) {
    const isSame = before.raw === after.raw;
    return { text: isSame ? "[no difference]" : "[only line endings differ]", added, removed };
  }
  const lines = new AnswerLines(room);
  for (const line of diff.lines) if (!lines.add(shownDiffLine(line))) break;
  const left = total - lines.count;
  if (left > 0) lines.note(`[${counted(left, "more line")} of this diff]`);
  return { text: lines.toString(), added, removed };
}

/** How many lines a change added and removed. */
export function countsOf({ before, after }: ChangedPart): Promise<{ added: number; removed: number }> {
  const [old, made] = [before.body, after.body];
  return textJob("diffCounts", old.length + made.length, old, made);
}
