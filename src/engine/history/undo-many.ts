// Undoes several changes, all or none: one after the other, newest first. If one is refused, those already undone are
// redone.
import { Fault } from "../fault.ts";
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type Undone, type UndoOptions, undo } from "./undo.ts";

export async function undoMany(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  options: Omit<UndoOptions, "change">,
  progress?: (done: number, total: number) => void,
): Promise<Undone[]> {
  const done: Undone[] = [];
  const newestFirst = records.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  try {
    for (const record of newestFirst) {
      const one = undo(workspace, { ...options, change: record.id });
      // A dry run sees each change on its own, with the later ones still in effect.
      done.push(await (options.dryRun && records.length > 1 ? one.catch(unlessStale(record)) : one));
      progress?.(done.length, records.length);
    }
  } catch (error) {
    await redo(workspace, done, options);
    throw error;
  }
  return done;
}

/** All or none holds for a cancelled undo, too. Faults: `partly_undone`. */
async function redo(
  workspace: Workspace,
  done: readonly Undone[],
  { path: _, chosenAfter: __, signal: ___, ...options }: Omit<UndoOptions, "change">,
): Promise<void> {
  const undone = done.filter(({ commit }) => commit !== undefined);
  for (let last = undone.at(-1); last !== undefined; last = undone.at(-1)) {
    try {
      await undo(workspace, { ...options, change: last.commit?.id });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const changes = undone.map(({ change }) => change.id);
      throw new Fault("partly_undone", { changes, reason: error }, { cause: error });
    }
    undone.pop();
  }
}

function unlessStale(change: ChangeRecord): (error: unknown) => Undone {
  return error => {
    if (!Fault.is(error, "stale")) throw error;
    return { change, restored: [] };
  };
}
