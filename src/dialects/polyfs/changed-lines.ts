// The lines that a change replaced, without context: enough to check the same change in many files.
import { textJob } from "../../engine/edit/thread/thread.ts";
import { linePart, partStart } from "../../engine/text/line-part.ts";
import type { ReplacedLine } from "../../engine/text/replaced-start.ts";
import type { Text } from "../../engine/text/text.ts";
import { type AnswerLines, shownPart } from "./answer.ts";

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
  const [a, b] = [before.body, after.body];
  const most = Math.ceil(lines.room / leastBytes) + 1;
  const replaced = await textJob("replacedStart", a.length + b.length, a, b, most);
  for (const [removed, added] of replacements(replaced.lines)) {
    const from = (i: number) => partStart(lineOf(removed[i]), lineOf(added[i]), longest);
    const shown = (side: readonly ReplacedLine[]) => side.map((one, i) => shownChange(one, from(i)));
    const [old, made] = [shown(removed), shown(added)];
    if (lines.add([...old, ...made].join("\n"))) continue;
    let room = lines.room;
    let fitting = 0;
    for (; fitting < Math.max(old.length, made.length); fitting++) {
      const pair = [...old.slice(fitting, fitting + 1), ...made.slice(fitting, fitting + 1)];
      room -= Buffer.byteLength(pair.join("\n")) + 1;
      if (room < 0) break;
    }
    for (const one of [...old.slice(0, fitting), ...made.slice(0, fitting)]) lines.add(one);
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

function shownChange(change: ReplacedLine, from: number): string {
  const part = linePart(lineOf(change), longest, from);
  return `  ${change.line}${change.sign} ${shownPart(part, part.text)}`;
}

function lineOf({ text }: Pick<ReplacedLine, "text"> = { text: "" }): string {
  return text.replace(/\n$/, "");
}
