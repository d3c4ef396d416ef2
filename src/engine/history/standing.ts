// Which changes of all callers are still in effect, and which undo a redo reverts. An undo that was itself undone
// does not count.
import { type ChangeRecord, type RecordedFile, replicated } from "../workspace/archive/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isVisible } from "./changes.ts";

/** The action of a change that only saves what a command has printed. */
export const savedOutput = "save_output";

/**
 * Changes that are the server's, not a caller's work: undo takes one back where it is named, and passes over it on the
 * way to the last change. Taking back what a replica has fetched would remove it from all replicas.
 */
const ofServer: ReadonlySet<string> = new Set([savedOutput, replicated]);

export interface Standing {
  readonly record: ChangeRecord;
  /** The undos of a path or of hunks of it. */
  readonly partly: readonly ChangeRecord[];
}

/**
 * Changes that are not undos, newest first, and whether each was undone, at once or file by file. Those that also
 * touched something outside the workspace are left out, unless `sees` says otherwise.
 */
export async function* madeChanges(
  workspace: Workspace,
  sees = isVisible,
): AsyncGenerator<Standing & { isUndone: boolean }> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  const parts = new Map<string, ChangeRecord[]>();
  for await (const record of workspace.archive.changes.newestInTurns()) {
    const { id, undoes, partial } = record;
    if (undoes !== undefined && !undone.has(id)) {
      if (partial) parts.set(undoes, [...(parts.get(undoes) ?? []), record]);
      else undone.add(undoes);
    }
    if (isUndo(record) || isOfServer(record) || !sees(workspace, record)) continue;
    const partly = parts.get(id) ?? [];
    yield { record, partly, isUndone: undone.has(id) || isRestored(record.files, partly) };
  }
}

/** Changes that are not undos and have not been undone, newest first. */
export async function* standing(workspace: Workspace, sees = isVisible): AsyncGenerator<Standing> {
  for await (const { record, partly, isUndone } of madeChanges(workspace, sees))
    if (!isUndone) yield { record, partly };
}

/** Whether undos have left each of the files as it was before its change. */
export function isRestored(files: readonly RecordedFile[], undos: readonly ChangeRecord[]): boolean {
  return (
    undos.length > 0 &&
    files.every(file => undos.some(undo => undo.files.some(other => restores(other, file))))
  );
}

function restores(one: RecordedFile, other: RecordedFile): boolean {
  const [made, was] = [one.after, other.before];
  if (one.at !== other.at || made?.kind !== was?.kind) return false;
  return made?.kind === "file" && was?.kind === "file" ? made.hash === was.hash : made === undefined;
}

/**
 * The newest undo that has not been redone; undefined if there is none. A change after an undo ends redo, as in an
 * editor.
 */
export async function nextRedo(workspace: Workspace): Promise<ChangeRecord | undefined> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  for await (const record of workspace.archive.changes.newestInTurns()) {
    const { id, undoes } = record;
    if (undoes !== undefined && !undone.has(id)) undone.add(undoes);
    if (isOfServer(record) || !isVisible(workspace, record)) continue;
    if (!isUndo(record)) return undefined;
    if (!undone.has(id) && !isRedo(workspace, record)) return record;
  }
  return undefined;
}

function isOfServer({ action }: ChangeRecord): boolean {
  return ofServer.has(action);
}

export function isUndo({ action, undoes }: ChangeRecord): boolean {
  return undoes !== undefined || action === "undo";
}

/** An undo of an undo makes the change again, an undo of that reverts it, and so on. */
function isRedo({ archive }: Workspace, record: ChangeRecord): boolean {
  let redo = true;
  for (let at: ChangeRecord | undefined = record; at && isUndo(at); redo = !redo)
    at = at.undoes === undefined ? undefined : archive.changes.get(at.undoes);
  return redo;
}
