// What is left of a change that was undone in part, by path or by hunks: a step back goes past a change of which nothing
// is left.
import { Fault } from "../fault.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { concerns } from "./changes.ts";
import { isRestored, type Standing } from "./standing.ts";
import { undo } from "./undo.ts";

/** Whether anything is left of a change that was undone in part. */
export async function isLeft(
  workspace: Workspace,
  { record, partly }: Standing,
  path: WorkspacePath | undefined,
): Promise<boolean> {
  const at = path && workspace.locate(path).path;
  const files = record.files.filter(file => at === undefined || concerns(file, at));
  if (isRestored(files, partly)) return false;
  try {
    const { restored } = await undo(workspace, { change: record.id, path, dryRun: true });
    return restored.some(
      ({ at: one, before, after }) => !workspace.isShownWhole(one) || !(before && after?.equals(before)),
    );
  } catch (error) {
    // The undo conflicts with itself: what it removed exists again, or what it created is gone.
    if (Fault.is(error, "exists") || Fault.is(error, "not_found")) return false;
    throw error;
  }
}
