// Which changes of a workspace were undone, by which undos, and at which paths. A merge that was undone can be made again.
import { join } from "node:path";
import type { ChangeRecord } from "../workspace/archive/log.ts";
import { isWithinAny } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface UndoOfChange {
  readonly id: string;
  /** Whether it is in effect at a path of the change: it covered that path, and was not itself undone there. */
  isAt(path: string): boolean;
}

/** The undos of a change, oldest first. */
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
      for (const record of workspace.archive.changes.newest()) {
        const { id, undoes, hunks } = record;
        if (undoes === undefined || hunks) continue;
        const redone = known.get(id) ?? []; // an undo is older than its own undos
        const covered = coveredBy(record, root);
        const isAt = (path: string) => covered(path) && !redone.some(redo => redo.isAt(path));
        known.set(undoes, [{ id, isAt }, ...(known.get(undoes) ?? [])]);
      }
    }
    return known.get(change) ?? [];
  };
}

function coveredBy({ partial, files }: ChangeRecord, root: string): (path: string) => boolean {
  if (!partial) return () => true;
  const paths = new Set(files.map(({ at }) => at));
  return path => isWithinAny(join(root, path), paths);
}
