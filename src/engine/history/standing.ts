// Which changes are still in effect, whoever made them, and which undo a redo reverts. An undo that was itself undone
// does not count.
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isVisible } from "./changes.ts";

export interface Standing {
  readonly record: ChangeRecord;
  /** The undos of a path or of hunks of it. */
  readonly partly: readonly ChangeRecord[];
}

/** Changes that are no undo and have not been undone, newest first. */
export async function* standing(workspace: Workspace): AsyncGenerator<Standing> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  const partly = new Map<string, ChangeRecord[]>();
  for (const record of workspace.archive.changes.newest()) {
    const { id, undoes, partial } = record;
    if (undoes !== undefined && !undone.has(id)) {
      if (partial) partly.set(undoes, [...(partly.get(undoes) ?? []), record]);
      else undone.add(undoes);
    }
    if (isUndo(record) || undone.has(id) || !isVisible(workspace, record)) continue;
    yield { record, partly: partly.get(id) ?? [] };
  }
}

/**
 * The newest undo that has not been redone; undefined if there is none. A change after an undo ends redo, as in an
 * editor.
 */
export async function nextRedo(workspace: Workspace): Promise<ChangeRecord | undefined> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  for (const record of workspace.archive.changes.newest()) {
    const { id, undoes } = record;
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes);
    if (!isVisible(workspace, record)) continue;
    if (!isUndo(record)) return undefined;
    if (!undone.has(id) && !isRedo(workspace, record)) return record;
  }
  return undefined;
}

function isUndo({ action, undoes }: ChangeRecord): boolean {
  return undoes !== undefined || action === "undo";
}

/** An undo of an undo does the change again, an undo of that takes it back, and so on. */
function isRedo({ archive }: Workspace, record: ChangeRecord): boolean {
  let redo = true;
  for (let at: ChangeRecord | undefined = record; at && isUndo(at); redo = !redo)
    at = at.undoes === undefined ? undefined : archive.changes.get(at.undoes);
  return redo;
}
