// The lines that a change replaced, without context: enough to check the same change in many files.
import { diffLines, linesWithEndings } from "../../engine/text/line-diff.ts";
import type { Text } from "../../engine/text/text.ts";
import { type AnswerLines, shownLine } from "./answer.ts";

const longest = 300;

/** Adds them, `12- old` and `12+ new`, as long as there is room: false where some did not fit. */
export function addChangedLines(
  lines: AnswerLines,
  before: Pick<Text, "body">,
  after: Pick<Text, "body">,
): boolean {
  const [old, made] = [linesWithEndings(before.body), linesWithEndings(after.body)];
  const shown = (line = "") => shownLine(line.replace(/\n$/, "")).slice(0, longest);
  for (const { aStart, aEnd, bStart, bEnd } of diffLines(old, made)) {
    for (let at = aStart; at < aEnd; at++) if (!lines.add(`  ${at + 1}- ${shown(old[at])}`)) return false;
    for (let at = bStart; at < bEnd; at++) if (!lines.add(`  ${at + 1}+ ${shown(made[at])}`)) return false;
  }
  return true;
}
