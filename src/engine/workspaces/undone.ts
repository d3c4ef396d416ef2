// Which changes of a workspace were undone as a whole. A merge that was undone can be made again.
import type { Workspace } from "../workspace/workspace.ts";

/** The answer reads the history when it is first asked. */
export async function undoneChanges(workspace: Workspace): Promise<(change: string) => Promise<boolean>> {
  let undone: Set<string> | undefined;
  return async change => {
    if (change === "") return false;
    if (undone === undefined) {
      undone = new Set();
      await workspace.allRecorded();
      for (const { id, undoes, partial } of workspace.archive.changes.newest())
        if (undoes !== undefined && !partial && !undone.has(id)) undone.add(undoes);
    }
    return undone.has(change);
  };
}
