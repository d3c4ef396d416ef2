// A change may have made directories on its way. Taking it back takes them away again where nothing else has come
// into them: then the outermost one goes as a whole, instead of each file in it.
import { Fault } from "../fault.ts";
import type { Change } from "../workspace/commit/change.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";

export function withoutEmptied(
  workspace: Workspace,
  parents: readonly string[],
  changes: readonly Change[],
): readonly Change[] {
  const leaving = new Set(changes.flatMap(leavingOf));
  let result = changes;
  for (const parent of parents) {
    if (leaving.size === 0 || [...leaving].some(gone => isWithin(parent, gone))) continue;
    const path = workspace.recorded(parent);
    if (!isEmptied(workspace, path, leaving)) continue;
    result = result.flatMap(change => (isInside(change, parent) ? staying(workspace, change) : [change]));
    result = [...result, { kind: "remove", path, recursive: true }];
    leaving.add(parent);
  }
  return result;
}

function isInside(change: Change, parent: string): boolean {
  return leavingOf(change).some(leaving => isWithin(leaving, parent));
}

/** What is left to do of a change to something that leaves with its directory: a move becomes a copy. */
function staying(workspace: Workspace, change: Change): Change[] {
  if (change.kind !== "move") return [];
  const { from, to, bytes } = change;
  const { target, mode } = workspace.lstat(from);
  if (target !== undefined) return [{ kind: "symlink", path: to, target }];
  if (bytes === undefined) return [{ kind: "copy", from, to }];
  return [{ kind: "write", path: to, bytes, mode, expect: "absent" }];
}

function leavingOf(change: Change): string[] {
  if (change.kind === "remove") return [change.path.absolute];
  return change.kind === "move" ? [change.from.absolute] : [];
}

/** Whether all that lies in a directory is leaving. */
function isEmptied(workspace: Workspace, path: WorkspacePath, leaving: ReadonlySet<string>): boolean {
  try {
    using directory = workspace.directory(path);
    return directory.entries().every(entry => {
      const below = path.below(entry.name);
      if (leaving.has(below.absolute)) return true;
      return entry.kind === "directory" && isEmptied(workspace, below, leaving);
    });
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
