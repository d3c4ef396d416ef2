// Whether a path still holds what a change put there, judging by later changes: an edit replaces a file by another
// one of the same name, and an undo restores what was removed or moved.
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import { listedIn, type Snapshot } from "../workspace/archive/snapshot.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";

/**
 * What the last change since `id` put at `at`, if that continues the earlier content. Undefined if it was removed,
 * replaced or moved away, or if no change has touched it.
 */
export function lineage(workspace: Workspace, id: string, at: string): RecordedFile | undefined {
  const later: ChangeRecord[] = [];
  for (const record of workspace.archive.changes.newest()) {
    if (record.id <= id) break;
    later.push(record);
  }
  const undone = new Set(later.flatMap(({ undoes }) => (undoes === undefined ? [] : [undoes])));
  // A change and its undo cancel out, whatever was between them.
  const remaining = later.filter(record => !undone.has(record.id) && !cancels(record, later));
  if (remaining.some(({ files }) => files.some(file => ends(file, at)))) return undefined;
  for (const { files } of later) {
    const last = files.findLast(file => file.at === at && file.effect !== "removed");
    if (last !== undefined) return last;
    const copied = files.findLast(file => file.effect === "copied" && isWithin(at, file.at));
    const after = copied?.after && within(workspace, copied.after, at.slice(copied.at.length + 1).split("/"));
    if (copied !== undefined && after !== undefined) return { ...copied, at, after };
  }
  return undefined;
}

/** What a copied directory held at a path below it, if that is kept. */
function within(workspace: Workspace, directory: Snapshot, names: readonly string[]): Snapshot | undefined {
  let found: Snapshot | undefined = directory;
  for (const name of names)
    found = found && listedIn(found, workspace.archive.objects)?.find(entry => entry.name === name);
  return found;
}

function cancels({ undoes }: ChangeRecord, later: readonly ChangeRecord[]): boolean {
  return undoes !== undefined && later.some(({ id }) => id === undoes);
}

/** Whether a path holds something else after a change, or nothing. */
function ends(file: RecordedFile, at: string): boolean {
  const { at: path, from, effect } = file;
  if (effect === "removed") return isWithin(at, path);
  if (effect === "moved" && from !== undefined && isWithin(at, from)) return true;
  return path === at && effect !== "modified" && !keepsContent(file);
}

/** Whether a file was replaced by the same content. Undo has nothing to do for such a change, and records nothing. */
function keepsContent({ before, replaced = before, after }: RecordedFile): boolean {
  return replaced?.kind === "file" && after?.kind === "file" && replaced.hash === after.hash;
}
