// Which changes of a workspace were undone as a whole, and by which. A merge that was undone can be made again.
import type { Workspace } from "../workspace/workspace.ts";

/** The answer reads the history when it is first asked. */
export async function undoneChanges(
  workspace: Workspace,
): Promise<(change: string) => Promise<string | undefined>> {
  let undone: Map<string, string> | undefined;
  return async change => {
    if (change === "") return undefined;
    if (undone === undefined) {
      undone = new Map();
      await workspace.allRecorded();
      for (const { id, undoes, partial } of workspace.archive.changes.newest())
        if (undoes !== undefined && !partial && !undone.has(id) && !undone.has(undoes))
          undone.set(undoes, id);
    }
    return undone.get(change);
  };
}
