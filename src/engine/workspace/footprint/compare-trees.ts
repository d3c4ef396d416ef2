// What differs between two snapshots of a tree: what a command created, changed and deleted.
import { display } from "../handle.ts";
import type { EntryRecord, TreeSnapshot } from "./tree-snapshot.ts";

export interface TreeChange {
  readonly path: string;
  /** `mode`: only the permissions differ. `touched`: it was written to, or replaced, and may be the same as before. */
  readonly change: "created" | "deleted" | "modified" | "mode" | "touched";
  readonly before?: EntryRecord;
  readonly after?: EntryRecord;
  /** Whether what was there before can be brought back. */
  readonly restorable: boolean;
}

export interface TreeComparison {
  /** By path, in the order of bytes. */
  readonly changes: readonly TreeChange[];
  /** False where a snapshot was cut: there may be more, and what seems created may have been there. */
  readonly complete: boolean;
  /** Directories that were not looked into. */
  readonly skipped: readonly string[];
}

export function compareTrees(before: TreeSnapshot, after: TreeSnapshot): TreeComparison {
  const changes: [string, TreeChange][] = [];
  for (const [path, now] of after.entries) {
    const then = before.entries.get(path);
    if (then === undefined) {
      if (before.complete) changes.push([path, { path, change: "created", after: now, restorable: true }]);
      continue;
    }
    const change = changeOf(then, now);
    if (change !== undefined)
      changes.push([
        path,
        { path, change, before: then, after: now, restorable: change === "mode" || then.kept },
      ]);
  }
  if (after.complete) {
    for (const [path, then] of before.entries) {
      if (!after.entries.has(path))
        changes.push([path, { path, change: "deleted", before: then, restorable: then.kept }]);
    }
  }
  return {
    changes: changes.sort(byPath).map(([path, change]) => ({ ...change, path: display(path) })),
    complete: before.complete && after.complete,
    skipped: [...new Set([...before.skipped, ...after.skipped])].sort(),
  };
}

/** The times of a directory say only that something in it changed, and that is told by the entry itself. */
function changeOf(then: EntryRecord, now: EntryRecord): TreeChange["change"] | undefined {
  const same = then.kind === now.kind && then.inode === now.inode && then.device === now.device;
  if (then.kind === "directory" && now.kind === "directory")
    return then.mode === now.mode ? undefined : "mode";
  if (then.kind !== now.kind || then.size !== now.size) return "modified";
  if (same && then.modified === now.modified) {
    if (then.mode !== now.mode) return "mode";
    // The time of the contents can be set back; the time of the inode then tells.
    return then.changed === now.changed ? undefined : "touched";
  }
  return "modified";
}

function byPath([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
