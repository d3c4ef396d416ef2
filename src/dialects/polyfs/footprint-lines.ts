// What a command changed, in a few lines: trees that came or went are one.
import type { Footprint } from "../../engine/history/footprint.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { counted } from "./answer.ts";
import { shownAt } from "./paths.ts";
import { undoHint } from "./writing.ts";

const most = 20;
const letters = { created: "A", modified: "M", deleted: "D", mode: "M", touched: "M" } as const;

export function footprintLines(
  { changes, complete }: Footprint,
  recorded: ChangeRecord | undefined,
  workspace: Workspace,
): string[] {
  const lines: string[] = [];
  let tree: string | undefined;
  for (const { path, change, before, after } of changes) {
    if (tree !== undefined && isWithin(path, tree)) continue;
    const isDirectory = (after ?? before)?.kind === "directory";
    if (isDirectory) tree = path;
    lines.push(
      `${letters[change]} ${shownAt(workspace, path)}${isDirectory ? "/" : ""}${change === "mode" ? " (mode)" : ""}`,
    );
  }
  if (lines.length > most)
    lines.splice(most, lines.length, `[${counted(lines.length - most, "more change")}]`);
  if (recorded !== undefined) lines.push(undoHint(recorded));
  else if (changes.length > 0) lines.push("[not all of this could be kept: it cannot be undone]");
  if (!complete)
    lines.push("[the roots hold too much to see all that a command changes; undo does not cover it]");
  return lines;
}
