// Changes as answers show them: a small unified diff without file names, cut where it gets long.
import { type ChangedPart, changedPart } from "../../engine/text/changed-part.ts";
import { unifiedDiff } from "../../engine/text/diff.ts";
import type { Text } from "../../engine/text/text.ts";
import { AnswerLines, counted, shownLine } from "./answer.ts";

const footing = 60;
const context = 2;

/** What a diff of two texts has to look at. */
export function changeOf(before: Text, after: Text): ChangedPart {
  return changedPart(before, after, context);
}

/** The hunks of a change, within so many bytes. */
export function diffOf({ before, after, skipped }: ChangedPart, room: number): string {
  // Endings are the file's business: a diff that shows them would make every line of a CRLF file look changed.
  const diff = unifiedDiff(before.body, after.body, { context, skipped });
  if (diff === "") return before.raw === after.raw ? "[no difference]" : "[only line endings differ]";
  const all = diff.split("\n").slice(0, -1);
  const lines = new AnswerLines(Math.max(room - footing, 400));
  for (const line of all) if (!lines.add(shownLine(line))) break;
  const left = all.length - lines.count;
  if (left > 0) lines.note(`[${counted(left, "more line")} of this diff]`);
  return lines.toString();
}
