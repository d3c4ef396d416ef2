// The net effect of changes, as a diff by file. Hunks are numbered, so that undo can revert single ones.
import type { CallContext } from "../../contract/context.ts";
import { textJob } from "../../engine/edit/thread/thread.ts";
import { hunkContext, type NetText, netTexts } from "../../engine/history/hunks.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import { type AnswerLines, counted, longestInDiff, shownDiffLine } from "./answer.ts";
import { shownAt } from "./paths.ts";

const letters = { created: "A", changed: "M", removed: "D" } as const;

export async function addNetLines(
  lines: AnswerLines,
  records: readonly ChangeRecord[],
  { workspace }: CallContext,
  isWanted: (file: NetText) => boolean,
): Promise<void> {
  const all = await netTexts(workspace, records);
  const files = all.filter(file => isWanted(file) && !workspace.isHidden(file.at));
  if (files.length === 0) lines.note("[no difference]");
  const visible = async (at: string, text: Text | undefined) =>
    text === undefined
      ? ""
      : (await decode(at, workspace.shown(at, text.bytes), { encoding: text.codec.name })).body;
  for (const [i, file] of files.entries()) {
    const { at, from, before, after, effect, isDirectory, opaque, first, overwrites, mixed } = file;
    const name = shownAt(workspace, at) + (isDirectory ? "/" : "");
    const [old, made] = [await visible(from ?? at, before), await visible(at, after)];
    const options = { context: hunkContext, room: lines.room, longest: longestInDiff };
    const diff = await textJob("diffStart", old.length + made.length, old, made, options);
    const letter = from !== undefined ? "R" : letters[effect];
    const moved = from === undefined || workspace.isHidden(from) ? "" : `${shownAt(workspace, from)} -> `;
    const others =
      (overwrites ? " (over another file)" : "") + (mixed ? " (with other changes of it in between)" : "");
    const counts = (opaque ? "" : ` +${diff.added} -${diff.removed}`) + others;
    if (!lines.add(`${letter} ${moved}${name}${counts}`)) {
      lines.note(`[no room for ${counted(files.length - i, "more file")}; path=${name} shows the next]`);
      return;
    }
    if (opaque) continue;
    let number = first;
    for (const [j, line] of diff.lines.entries()) {
      const isHead = typeof line === "string" && line.startsWith("@@ ");
      const numbered = isHead ? `[${number++}] ${line}` : shownDiffLine(line);
      if (lines.add(numbered)) continue;
      lines.note(`[${counted(diff.total - j, "more line")} of this diff]`);
      break;
    }
  }
}
