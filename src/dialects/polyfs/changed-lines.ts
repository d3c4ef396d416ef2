// The lines that a change replaced, without context: enough to check the same change in many files.
import { textJob } from "../../engine/edit/thread/thread.ts";
import type { Text } from "../../engine/text/text.ts";
import { type AnswerLines, shownLine } from "./answer.ts";

const longest = 300;
/** The shortest line takes some bytes of an answer. */
const leastBytes = 6;

/** Adds them, `12- old` and `12+ new`, as long as there is room: false if some did not fit. */
export async function addChangedLines(
  lines: AnswerLines,
  before: Pick<Text, "body">,
  after: Pick<Text, "body">,
): Promise<boolean> {
  const [old, made] = [before.body, after.body];
  const most = Math.ceil(lines.room / leastBytes) + 1;
  const replaced = await textJob("replacedStart", old.length + made.length, old, made, most);
  for (const { sign, line, text } of replaced.lines) {
    const shown = shownLine(text.replace(/\n$/, "")).slice(0, longest);
    if (!lines.add(`  ${line}${sign} ${shown}`)) return false;
  }
  return replaced.all;
}
