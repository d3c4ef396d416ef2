// Which changes of a workspace were undone, by which undos, and at which paths. A merge that was undone can be made again.
import { join } from "node:path";
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import { isWithinAny } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** An undo of a change, or of such an undo: a redo, which is undone by the next one. */
export interface UndoOfChange {
  readonly id: string;
  /** The change, or the undo of it, that it undoes. */
  readonly undoes: string;
  readonly isRedo: boolean;
  /** Whether it is about a path of the change. */
  covers(path: string): boolean;
}

/** The undos of a change, and the undos of these, oldest first. */
export type UndosOf = (change: string) => Promise<readonly UndoOfChange[]>;

/** The answer reads the history when it is first asked. An undo of hunks is an edit like any other. */
export function undosIn(workspace: Workspace): UndosOf {
  let known: Map<string, UndoOfChange[]> | undefined;
  return async change => {
    if (change === "") return [];
    if (known === undefined) {
      known = new Map();
      await workspace.allRecorded();
      const root = workspace.roots[0]?.path ?? "";
      const all = new Map<string, UndoOfChange & { readonly change: string }>();
      const undos: ChangeRecord[] = [];
      for (const record of workspace.archive.changes.newest())
        if (record.undoes !== undefined && !record.hunks) undos.push(record);
      for (const { undoes = "", ...record } of undos.reverse()) {
        const undone = all.get(undoes);
        const isRedo = undone?.isRedo === false;
        const own = covered(record, isRedo, root);
        const covers = (path: string) => own(path) && (undone?.covers(path) ?? true);
        const undo = { id: record.id, undoes, change: undone?.change ?? undoes, isRedo, covers };
        all.set(undo.id, undo);
        known.set(undo.change, [...(known.get(undo.change) ?? []), undo]);
      }
    }
    return known.get(change) ?? [];
  };
}

/** A redo covers what it changed: of an undo without an effect, nothing comes again. */
function covered({ partial, files }: ChangeRecord, isRedo: boolean, root: string): (path: string) => boolean {
  if (!partial && !isRedo) return () => true;
  const paths = new Set(files.filter(file => !isRedo || hasEffect(file)).map(({ at }) => at));
  return path => isWithinAny(join(root, path), paths);
}

function hasEffect({ effect, before, after }: RecordedFile): boolean {
  if (effect === "none") return false;
  return (
    before?.kind !== "file" ||
    after?.kind !== "file" ||
    before.hash !== after.hash ||
    before.mode !== after.mode
  );
}
