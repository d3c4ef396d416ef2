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
    const { path: _, chosenAfter: __, ...again } = options;
    for (const { commit } of done.toReversed())
      if (commit !== undefined)
        await undo(workspace, { ...again, change: commit.id }).catch(reason => {
          throw inDoubt(reason);
        });
    throw error;
  }
  return done;
}

/** Some changes stay undone: if the store is lost now, the answer must not say that nothing was changed. */
function inDoubt(reason: unknown): unknown {
  if (!Fault.is(reason, "store_unavailable")) return reason;
  return new Fault("store_unavailable", { ...reason.data, change: "unknown" }, { cause: reason });
}

function unlessStale(change: ChangeRecord): (error: unknown) => Undone {
  return error => {
    if (!Fault.is(error, "stale")) throw error;
    return { change, restored: [] };
  };
}
