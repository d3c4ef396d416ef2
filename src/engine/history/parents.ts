// Directories that a change created are removed by its undo, if nothing else is in them. Their entries are compared
// name by name with what is removed, so that no other file is removed with them.
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import type { Change } from "../workspace/commit/change.ts";
import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A directory that a change created: by name (`explicit`), or as a parent. */
export interface MadeDirectory {
  readonly at: string;
  readonly explicit: boolean;
}

/**
 * The changes, with the removal of directories that they empty. The outermost of these is removed as a whole, instead
 * of each file in it. Faults: `stale` if an explicitly created directory holds something else.
 */
export async function withoutEmptied(
  workspace: Workspace,
  made: readonly MadeDirectory[],
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const leaving = new Set(changes.flatMap(leavingOf).map(path => path.absolute));
  const emptied = new Map<string, WorkspacePath>();
  const slice = new TimeSlice();
  // Those inside of others come first.
  const inner = made.toSorted((a, b) => b.at.length - a.at.length);
  for (const { at, explicit } of inner) {
    if (slice.isOver) await slice.turn();
    const path = workspace.place(at);
    if (leaving.has(path.absolute) || (!explicit && leaving.size === 0)) continue;
    const others = othersIn(workspace, path, leaving);
    if (others === undefined) continue; // it is gone
    if (!others) {
      leaving.add(path.absolute);
      emptied.set(path.absolute, path);
    } else if (explicit) throw new Fault("stale", { path: at, current: [], version: "" });
  }
  if (emptied.size === 0) return changes;
  const goes = (path: WorkspacePath) => emptied.has(path.parent.absolute);
  const result: Change[] = [];
  for (const change of changes) {
    if (leavingOf(change).some(goes)) append(result, staying(workspace, change));
    else result.push(change);
  }
  const outermost = [...emptied.values()].filter(path => !goes(path));
  // First: restored paths may take their names.
  return [...outermost.map(path => ({ kind: "remove", path, recursive: true }) as const), ...result];
}

/** The rest of a change to something that is removed with its directory: a move becomes a copy. */
function staying(workspace: Workspace, change: Change): Change[] {
  if (change.kind !== "move") return [];
  const { from, to, bytes } = change;
  const { target, mode } = workspace.lstat(from);
  if (target !== undefined) return [{ kind: "symlink", path: to, target }];
  if (bytes === undefined) return [{ kind: "copy", from, to }];
  return [{ kind: "write", path: to, bytes, mode, expect: "absent" }];
}

function leavingOf(change: Change): WorkspacePath[] {
  if (change.kind === "remove") return [change.path];
  return change.kind === "move" ? [change.from] : [];
}

/** Whether a directory holds anything that stays. Undefined if there is no such directory. */
function othersIn(
  workspace: Workspace,
  path: WorkspacePath,
  leaving: ReadonlySet<string>,
): boolean | undefined {
  try {
    if (workspace.lstat(path).kind !== "directory") return undefined;
    using directory = workspace.directory(path);
    return directory.entries().some(entry => !leaving.has(path.below(entry.name).absolute));
  } catch (error) {
    if (Fault.is(error, "not_found") || Fault.is(error, "not_a_directory")) return undefined;
    if (error instanceof Fault) return true;
    throw error;
  }
}
