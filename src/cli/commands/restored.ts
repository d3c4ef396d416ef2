// What an undo or a redo did, for people: the changes, their files and diffs, and the change that it made.
import type { Restored, Undone } from "../../engine/history/undo.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";
import { print } from "../print.ts";
import { type Style, visibleName } from "../style.ts";
import { contentDiff, headOf, type ShownPast, shownFrom } from "./past.ts";

export interface UndoReport {
  readonly parts: readonly (Pick<Undone, "restored" | "follows"> & { readonly change?: ChangeRecord })[];
  readonly commits: readonly Commit[];
  readonly dryRun: boolean;
}

export async function printOutcome(
  { parts, commits, dryRun }: UndoReport,
  done: string,
  past: ShownPast,
  style: Style,
): Promise<void> {
  for (const { change, restored, follows } of parts) {
    if (change !== undefined) await print(process.stdout, `${headOf(change, style)}\n`);
    for (const one of restored) await print(process.stdout, await restoredLine(one, past, style));
    if (follows)
      await print(process.stdout, "  not shown: later changes of the same files are undone first\n");
  }
  const ids = commits.map(({ id }) => id);
  const end = dryRun
    ? "Nothing was changed: this is what an undo would do."
    : ids.length === 0
      ? "There was nothing left to undo."
      : `${done}, as ${ids.length === 1 ? "change" : `${ids.length} changes:`} ${ids.join(", ")}.`;
  await print(process.stdout, `${end}\n`);
}

async function restoredLine(
  { at, did, from, before, after }: Restored,
  past: ShownPast,
  style: Style,
): Promise<string> {
  const name = visibleName(shownFrom(process.cwd(), at));
  const source = from === undefined ? "" : ` from ${visibleName(shownFrom(process.cwd(), from))}`;
  const [old, made] = [before && past.shown(at, before), after && past.shown(at, after)];
  const diff = old && made ? await contentDiff(at, old, made, style) : "";
  return `  ${did} ${style.bold(name)}${source}\n${diff}`;
}
