// Which changes of all callers are still in effect, and which undo a redo reverts. An undo that was itself undone
// does not count. A change that was redone is as new as its last redo: a step back reverts what was done last.
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
  /** The change that put it in effect: itself, or its last redo. Changes are in the order of these. */
  readonly effective: string;
}

/**
 * Changes that are not undos, those last that took effect first, and whether each was undone, at once or file by file.
 * Those that also touched something outside the workspace are left out, unless `sees` says otherwise.
 */
export async function* madeChanges(
  workspace: Workspace,
  sees = isVisible,
): AsyncGenerator<Standing & { isUndone: boolean }> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  const parts = new Map<string, ChangeRecord[]>();
  const older = workspace.archive.changes.newestInTurns();
  /** Read and not gone through: the undos between a redo and its change count. */
  const ahead: ChangeRecord[] = [];
  const read = async () => {
    const { value, done } = await older.next();
    if (done) return undefined;
    const { id, undoes, partial } = value;
    if (undoes !== undefined && !undone.has(id)) {
      if (partial) parts.set(undoes, [...(parts.get(undoes) ?? []), value]);
      else undone.add(undoes);
    }
    ahead.push(value);
    return value;
  };
  const passed = new Set<string>();
  while (ahead.length > 0 || (await read())) {
    const found = ahead.shift() as ChangeRecord;
    const again = undone.has(found.id) ? [] : effectiveAgain(workspace, found);
    for (const record of [found, ...again]) {
      const { id, files } = record;
      if (isUndo(record) || passed.has(id) || isOfServer(record) || !sees(workspace, record)) continue;
      passed.add(id);
      while ((ahead.at(-1) ?? found).id > id && (await read()));
      const partly = parts.get(id) ?? [];
      const isUndone = undone.has(id) || isRestored(files, partly);
      yield { record, partly, isUndone, effective: found.id };
    }
  }
}

/** Of the changes that an undo reverts one by the other, those that are in effect again: every second. */
function effectiveAgain({ archive }: Pick<Workspace, "archive">, undo: ChangeRecord): ChangeRecord[] {
  const found: ChangeRecord[] = [];
  let at: ChangeRecord | undefined = undo;
  for (let depth = 1; at?.undoes !== undefined && !at.partial; depth++) {
    at = archive.changes.get(at.undoes);
    if (at !== undefined && depth % 2 === 0) found.push(at);
  }
  return found;
}

/** The one first that took effect last: in this order they can be undone. */
export async function lastFirst(
  { archive }: Workspace,
  records: readonly ChangeRecord[],
): Promise<ChangeRecord[]> {
  if (records.length < 2) return [...records];
  const effective = new Map(records.map(({ id }) => [id, id]));
  const [oldest] = [...effective.keys()].sort();
  const undone = new Set<string>();
  const redone = new Set<string>();
  for await (const record of archive.changes.newestInTurns(undefined, oldest)) {
    const { id, undoes, partial } = record;
    if (undoes === undefined || undone.has(id)) continue;
    if (!partial) undone.add(undoes);
    for (const again of effectiveAgain({ archive }, record)) {
      if (effective.has(again.id) && !redone.has(again.id)) effective.set(again.id, id);
      redone.add(again.id);
    }
  }
  const placeOf = ({ id }: ChangeRecord) => effective.get(id) ?? id;
  return records.toSorted((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1));
}

/** Changes that are not undos and have not been undone, newest first. */
export async function* standing(workspace: Workspace, sees = isVisible): AsyncGenerator<Standing> {
  for await (const { isUndone, ...one } of madeChanges(workspace, sees)) if (!isUndone) yield one;
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
