// The change records of a workspace: newest first, and only those that the caller may see completely.
import { Fault } from "../fault.ts";
import { nextTurn } from "../turn.ts";
import { type ChangeRecord, listStart, type RecordedFile, replicated } from "../workspace/archive/log.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { snapshotIn } from "./restore.ts";

/** Files of a change whose record takes milliseconds to parse. */
const many = 500;

/** Which changes to list. */
export interface ChangeQuery {
  /** Only changes of this file, or of what is in this directory. */
  readonly path?: WorkspacePath | undefined;
  /** Only changes before this one. */
  readonly before?: string | undefined;
  /** Only changes after this one, or from this time on. */
  readonly after?: string | undefined;
  readonly since?: number | undefined;
  /** Only changes of this connection. */
  readonly connection?: string | undefined;
  readonly limit: number;
}

/** The recorded changes of a workspace, newest first. Leaves out what a replica fetched. */
export async function listChanges(workspace: Workspace, query: ChangeQuery): Promise<ChangeRecord[]> {
  const { path, before, after = "", since, connection, limit } = query;
  await workspace.othersRecorded();
  const { changes } = workspace.archive;
  const known = changes.get(after);
  const start = listStart(known, since);
  const found: ChangeRecord[] = [];
  const at = path && workspace.locate(path).path;
  for await (const record of changes.newestInTurns(before, known === undefined ? after : undefined)) {
    if (found.length === limit || start.isEnd(record.id)) break;
    if (!start.has(record) || record.action === replicated) continue;
    if (connection !== undefined && record.connection !== connection) continue;
    if (isVisible(workspace, record) && (at === undefined || touches(record, at))) found.push(record);
  }
  return found;
}

/** The change with this id. Faults: `unknown_change`. */
export async function changeNamed(workspace: Workspace, id: string): Promise<ChangeRecord> {
  await workspace.othersRecorded();
  const record = workspace.archive.changes.get(id);
  if (record === undefined || !isVisible(workspace, record))
    throw new Fault("unknown_change", { id: id.length > 80 ? `${id.slice(0, 80)}…` : id });
  if (record.files.length > many) await nextTurn(); // parsing it took long
  return record;
}

function touches(record: ChangeRecord, at: string): boolean {
  return record.files.some(file => concerns(file, at));
}

/** Whether a file of a change is `at`, or is in it. */
export function concerns(file: RecordedFile, at: string): boolean {
  return (
    isWithin(file.at, at) || (file.from !== undefined && file.effect === "moved" && isWithin(file.from, at))
  );
}

/** Whether a change removed a directory as a whole that held something at a path. */
export function wasRemovedWithin(workspace: Workspace, { files }: ChangeRecord, at: string): boolean {
  const { objects } = workspace.archive;
  return files.some(({ at: removed, effect, before }) => {
    if (effect !== "removed" || before === undefined || !isWithin(at, removed)) return false;
    return snapshotIn(before, at.slice(removed.length + 1).split("/"), objects) !== undefined;
  });
}

/** Whether a recorded change touched a path, or a directory above it, since the oldest of some changes. */
export async function wasChangedSince(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  at: string,
): Promise<boolean> {
  const ids = records.map(({ id }) => id);
  const oldest = ids.reduce((least, id) => (least === "" || id < least ? id : least), "");
  for await (const { id, files } of workspace.archive.changes.newestInTurns(undefined, oldest)) {
    if (ids.includes(id)) continue;
    const isAbove = files.some(file =>
      [file.at, file.from].some(one => one !== undefined && isWithin(at, one)),
    );
    if (isAbove || files.some(file => concerns(file, at))) return true;
  }
  return false;
}

/** A change is visible to callers that may reach all of its files. */
export function isVisible(workspace: Workspace, record: ChangeRecord): boolean {
  return record.files.length > 0 && placesOf(record).every(path => isReachable(workspace, path));
}

/** Whether a change touched anything that the caller may reach. */
export function isPartlyVisible(workspace: Workspace, record: ChangeRecord): boolean {
  return placesOf(record).some(path => isReachable(workspace, path));
}

export function placesOf({ files }: ChangeRecord): string[] {
  return files.flatMap(({ at, from }) => (from ? [at, from] : [at]));
}

function isReachable({ roots }: Workspace, path: string): boolean {
  return roots.some(root => isWithin(path, root.path));
}
