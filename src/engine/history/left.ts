// What is left of a change that was undone in part, by path or by hunks: a step back goes past a change of which nothing
// is left.
import { Fault } from "../fault.ts";
import type { RecordedFile } from "../workspace/archive/log.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { concerns } from "./changes.ts";
import type { Standing } from "./standing.ts";
import { undo } from "./undo.ts";

/** Whether anything is left of a change that was undone in part. */
export async function isLeft(
  workspace: Workspace,
  { record, partly }: Standing,
  path: WorkspacePath | undefined,
): Promise<boolean> {
  const at = path && workspace.locate(path).path;
  const files = record.files.filter(file => at === undefined || concerns(file, at));
  if (files.every(file => partly.some(undone => undone.files.some(other => restores(other, file)))))
    return false;
  try {
    const { restored } = await undo(workspace, { change: record.id, path, dryRun: true });
    return restored.some(({ before, after }) => !(before && after && before.equals(after)));
  } catch (error) {
    // The undo conflicts with itself: what it removed exists again, or what it created is gone.
    if (Fault.is(error, "exists") || Fault.is(error, "not_found")) return false;
    throw error;
  }
}

/** Whether the one left a file as it was before the other. */
function restores(one: RecordedFile, other: RecordedFile): boolean {
  const [made, was] = [one.after, other.before];
  if (one.at !== other.at || made?.kind !== was?.kind) return false;
  return made?.kind === "file" && was?.kind === "file" ? made.hash === was.hash : made === undefined;
}
