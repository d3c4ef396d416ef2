// Putting a snapshot back, and finding out whether something is still as a snapshot has it.
import { Fault } from "../fault.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import { listedIn, type Snapshot } from "../workspace/archive/snapshot.ts";
import type { Change } from "../workspace/commit/change.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The changes that put a snapshot back at `path`; undefined where a part of it is not kept (any more). */
export function restoring(snapshot: Snapshot, path: WorkspacePath, objects: Objects): Change[] | undefined {
  switch (snapshot.kind) {
    case "file": {
      const bytes = snapshot.hash === undefined ? undefined : objects.get(snapshot.hash);
      if (bytes === undefined) return undefined;
      const { mode } = snapshot;
      return [{ kind: "write", path, bytes, mode, modified: new Date(snapshot.modified), expect: "absent" }];
    }
    case "symlink":
      return [{ kind: "symlink", path, target: snapshot.target }];
    case "special":
      return undefined;
    case "directory": {
      const listed = listedIn(snapshot, objects);
      if (listed === undefined) return undefined;
      const changes: Change[] = [{ kind: "mkdir", path, mode: snapshot.mode }];
      for (const entry of listed) {
        const below = restoring(entry, path.below(entry.name), objects);
        if (below === undefined) return undefined;
        changes.push(...below);
      }
      return changes;
    }
  }
}

/** Whether what stands at `path` is what the snapshot holds: names, kinds, modes and bytes. */
export function sameTree(
  workspace: Workspace,
  path: WorkspacePath,
  snapshot: Snapshot,
  objects: Objects,
): boolean {
  try {
    const stat = workspace.lstat(path);
    if (stat.kind !== snapshot.kind) return false;
    if (snapshot.kind === "symlink") return stat.target === snapshot.target;
    if (snapshot.kind === "file") {
      if (stat.size !== snapshot.size || snapshot.hash === undefined) return false;
      using file = workspace.unmaskedFile(path);
      return objects.isHash(snapshot.hash, file.readNow(0, stat.size + 1));
    }
    const listed = listedIn(snapshot, objects);
    if (listed === undefined) return false;
    using directory = workspace.directory(path);
    if (directory.entries().length !== listed.length) return false;
    return listed.every(entry => sameTree(workspace, path.below(entry.name), entry, objects));
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
