// Follows what a change put at a path through the changes since. Edits replace a file by another one of the same name,
// moves take it or a directory above it elsewhere, and undos restore what was removed, often as a new file: all of
// these are still the same thing, because the records say so. Anything else of that name is not.
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import { listedIn, type Snapshot } from "../workspace/archive/snapshot.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** How to recognise it: the file or directory itself, or what it contains. */
export type TrackedIdentity = Pick<RecordedFile, "moved" | "after">;

interface Followed {
  /** Where it is; undefined if it was removed or replaced. */
  readonly at: string | undefined;
  readonly known: TrackedIdentity;
}

/**
 * What is known of the thing that the change with this id put at `at`, if it is still or again there. Undefined if it
 * was removed, replaced or moved away.
 */
export function lineage(
  workspace: Workspace,
  id: string,
  at: string,
  known: TrackedIdentity,
): TrackedIdentity | undefined {
  const later: ChangeRecord[] = [];
  for (const record of workspace.archive.changes.newest(undefined, id)) later.push(record);
  const now = afterwards(workspace, later, at, known);
  return now.at === at ? now.known : undefined;
}

/** Where it is after these changes, which come newest first. Undefined if it was removed or replaced. */
export function placeAfter(
  workspace: Workspace,
  later: readonly ChangeRecord[],
  at: string,
  known: TrackedIdentity,
): string | undefined {
  return afterwards(workspace, later, at, known).at;
}

function afterwards(
  workspace: Workspace,
  later: readonly ChangeRecord[],
  at: string,
  known: TrackedIdentity,
): Followed {
  let now: Followed = { at, known };
  /** Of each change: the thing before and after it. */
  const around = new Map<string, { readonly before: Followed; readonly after: Followed }>();
  for (const record of later.toReversed()) {
    const before: Followed = now;
    now = restored(workspace, record, before, around.get(record.undoes ?? "")) ?? followed(record, before);
    around.set(record.id, { before, after: now });
  }
  return now;
}

/**
 * An undo puts the thing back where it was before the change that it undoes, unless other changes have moved or
 * removed it in between. Undefined if it does nothing of the kind.
 */
function restored(
  workspace: Workspace,
  undo: ChangeRecord,
  now: Followed,
  undone: { readonly before: Followed; readonly after: Followed } | undefined,
): Followed | undefined {
  const back = undone?.before.at;
  if (back === undefined || now.at !== undone?.after.at) return undefined;
  const known = put(workspace, undo, back);
  return known && { at: back, known };
}

/** What a change has put at a path, by itself or in a directory that it copied or restored. */
function put(workspace: Workspace, { files }: ChangeRecord, at: string): TrackedIdentity | undefined {
  const last = files.findLast(file => file.at === at && file.effect !== "removed");
  if (last !== undefined) return last;
  const above = files.findLast(file => file.effect !== "removed" && isWithin(at, file.at));
  const after = above?.after && within(workspace, above.after, at.slice(above.at.length + 1).split("/"));
  return after && { after };
}

/** What a copied directory held at a path below it, if that is kept. */
function within(workspace: Workspace, directory: Snapshot, names: readonly string[]): Snapshot | undefined {
  let found: Snapshot | undefined = directory;
  for (const name of names)
    found = found && listedIn(found, workspace.archive.objects)?.find(entry => entry.name === name);
  return found;
}

function followed({ files }: ChangeRecord, before: Followed): Followed {
  let { at, known } = before;
  for (const file of files) {
    if (at === undefined) break;
    const { at: path, from, effect } = file;
    if (effect === "none") continue;
    if (effect === "removed") {
      if (isWithin(at, path)) at = undefined;
    } else if (effect === "moved" && from !== undefined && isWithin(at, from)) {
      if (at === from)
        known = file.after === undefined ? { ...known, ...(file.moved && { moved: file.moved }) } : file;
      at = path + at.slice(from.length);
    } else if (path === at) {
      // A directory stays the same one; a file that is written is another.
      if (effect === "modified" && file.kind === "directory")
        known = { ...known, ...(file.after && { after: file.after }) };
      else if (effect === "modified" || keepsContent(file)) known = file;
      else at = undefined;
    } else if (isWithin(at, path) && isNoDirectory(file)) at = undefined;
  }
  return { at, known };
}

/** Whether a change has put something else where a directory was, as commands do. */
function isNoDirectory({ after }: RecordedFile): boolean {
  return after !== undefined && after.kind !== "directory";
}

/** Whether a file was replaced by the same content. Undo has nothing to do for such a change, and records nothing. */
function keepsContent({ before, replaced = before, after }: RecordedFile): boolean {
  return replaced?.kind === "file" && after?.kind === "file" && replaced.hash === after.hash;
}
