// Undoes several changes, all or none: one after the other, newest first. If one is refused, those already undone are
// redone. One that is in a shared store and not here yet is undone: the others are undone as well, and the answer says
// what is not here.
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import { isRelated } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { lastFirst } from "./standing.ts";
import { FilesByThen, type Undone, type UndoOptions, undo, undoByThen } from "./undo.ts";

export async function undoMany(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  options: Omit<UndoOptions, "change">,
  progress?: (done: number, total: number) => void,
): Promise<Undone[]> {
  const done: Undone[] = [];
  /** Changes and the paths where their undoing could not be applied. */
  const notHere = new Map<string, readonly string[]>();
  const later: RecordedFile[] = [];
  const byThen: FilesByThen | undefined = options.dryRun ? new FilesByThen() : undefined;
  try {
    for (const record of await lastFirst(workspace, records)) {
      try {
        done.push(
          byThen
            ? await undoByThen(workspace, record.id, options, byThen)
            : await undo(workspace, { ...options, change: record.id }),
        );
      } catch (error) {
        if (Fault.is(error, "not_applied")) notHere.set(record.id, error.data.paths);
        // A dry run sees directories, links and moves with the later changes still in effect.
        else if (options.dryRun && later.some(file => isInTheWay(file, error)))
          done.push({ change: record, restored: [], follows: true });
        else throw error;
      }
      append(later, record.files);
      progress?.(done.length + notHere.size, records.length);
    }
  } catch (error) {
    await redo(workspace, done, [...notHere.keys()], options);
    if (notHere.size > 0 && error instanceof Fault) throw partlyUndone([...notHere.keys()], error);
    throw error;
  }
  if (notHere.size > 0) throw new Fault("not_applied", { paths: [...new Set([...notHere.values()].flat())] });
  return done;
}

/** Whether a refusal is about what a later change did. */
function isInTheWay({ at, from }: RecordedFile, error: unknown): boolean {
  const isAbout = ["stale", "not_found", "exists", "not_a_file", "is_a_link"] as const;
  const code = isAbout.find(one => Fault.is(error, one));
  if (code === undefined || !Fault.is(error, code)) return false;
  const { path } = error.data;
  return [at, from].some(one => one !== undefined && isRelated(path, one));
}

/** All or none holds for a cancelled undo, too. `lost` cannot be redone. Faults: `partly_undone`. */
async function redo(
  workspace: Workspace,
  done: readonly Undone[],
  lost: readonly string[],
  { path: _, chosenAfter: __, signal: ___, ...options }: Omit<UndoOptions, "change">,
): Promise<void> {
  const undone = done.filter(({ commit }) => commit !== undefined);
  for (let last = undone.at(-1); last !== undefined; last = undone.at(-1)) {
    try {
      await undo(workspace, { ...options, change: last.commit?.id });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // In the store and not here yet: it is redone.
      if (error.code !== "not_applied")
        throw partlyUndone([...undone.map(({ change }) => change.id), ...lost], error);
    }
    undone.pop();
  }
}

function partlyUndone(changes: readonly string[], reason: Fault): Fault {
  return new Fault("partly_undone", { changes, reason }, { cause: reason });
}
