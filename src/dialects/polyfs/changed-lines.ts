// The lines that a change replaced, without context: enough to check the same change in many files.
import { textJob } from "../../engine/edit/thread/thread.ts";
import type { ReplacedLine } from "../../engine/text/replaced-start.ts";
import type { Text } from "../../engine/text/text.ts";
import { type AnswerLines, shownLine } from "./answer.ts";

const longest = 300;
/** The shortest line takes some bytes of an answer. */
const leastBytes = 6;

/**
 * Adds them, `12- old` and `12+ new`, as long as there is room: false if some did not fit. No removed line is shown
 * without the one that replaced it, which would look like a deletion.
 */
export async function addChangedLines(
  lines: AnswerLines,
  before: Pick<Text, "body">,
  after: Pick<Text, "body">,
): Promise<boolean> {
  const [old, made] = [before.body, after.body];
  const most = Math.ceil(lines.room / leastBytes) + 1;
  const replaced = await textJob("replacedStart", old.length + made.length, old, made, most);
  for (const [removed, added] of replacements(replaced.lines)) {
    const all = [...removed, ...added].map(shownChange);
    if (lines.add(all.join("\n"))) continue;
    let room = lines.room;
    let fitting = 0;
    for (; fitting < Math.max(removed.length, added.length); fitting++) {
      const pair = [removed[fitting], added[fitting]].flatMap(one => (one ? [shownChange(one)] : []));
      room -= Buffer.byteLength(pair.join("\n")) + 1;
      if (room < 0) break;
    }
    for (const one of [...removed.slice(0, fitting), ...added.slice(0, fitting)]) lines.add(shownChange(one));
    return false;
  }
  return replaced.all;
}

/** Lines that follow each other, and those that took their place. */
function replacements(lines: readonly ReplacedLine[]): [ReplacedLine[], ReplacedLine[]][] {
  const found: [ReplacedLine[], ReplacedLine[]][] = [];
  let before: ReplacedLine | undefined;
  for (const one of lines) {
    const isNext = before?.sign === one.sign ? one.line === before.line + 1 : before?.sign === "-";
    if (!isNext) found.push([[], []]);
    found.at(-1)?.[one.sign === "-" ? 0 : 1].push(one);
    before = one;
  }
  return found;
}

function shownChange({ sign, line, text }: ReplacedLine): string {
  return `  ${line}${sign} ${shownLine(text.replace(/\n$/, "")).slice(0, longest)}`;
}
