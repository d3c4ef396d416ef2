// Putting a snapshot back, and finding out whether something is still as a snapshot has it.
import { Fault } from "../fault.ts";
import { hashInTurns } from "../text/version.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import { listedIn, type Snapshot, type SnapshotEntry } from "../workspace/archive/snapshot.ts";
import type { Change } from "../workspace/commit/change.ts";
import { TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The changes that put a snapshot back at `path`; undefined if a part of it is not (or no longer) kept. */
export async function restoring(
  snapshot: Snapshot,
  path: WorkspacePath,
  objects: Objects,
): Promise<Change[] | undefined> {
  const slice = new TimeSlice();
  const changes: Change[] = [];
  const left: { readonly snapshot: Snapshot; readonly path: WorkspacePath }[] = [{ snapshot, path }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (slice.isOver) await slice.turn();
    const { snapshot: one, path: at } = next;
    if (one.kind === "directory") {
      const listed = listedIn(one, objects);
      if (listed === undefined) return undefined;
      changes.push({ kind: "mkdir", path: at, mode: one.mode });
      for (const entry of listed.toReversed()) left.push({ snapshot: entry, path: at.below(entry.name) });
    } else {
      const change = await restored(one, at, objects);
      if (change === undefined) return undefined;
      changes.push(change);
    }
  }
  return changes;
}

async function restored(
  snapshot: Snapshot,
  path: WorkspacePath,
  objects: Objects,
): Promise<Change | undefined> {
  if (snapshot.kind === "symlink") return { kind: "symlink", path, target: snapshot.target };
  const { hash } = snapshot.kind === "file" ? snapshot : {};
  const bytes = hash === undefined ? undefined : await objects.getLater(hash);
  if (bytes === undefined || snapshot.kind !== "file") return undefined;
  const { mode } = snapshot;
  return { kind: "write", path, bytes, mode, modified: new Date(snapshot.modified), expect: "absent" };
}

/** The part of a snapshot of a directory that these names lead to; undefined if there is none, or it is not kept. */
export function snapshotIn(
  snapshot: Snapshot,
  names: readonly string[],
  objects: Objects,
): Snapshot | undefined {
  let found: Snapshot | undefined = snapshot;
  for (const name of names) found = found && listedIn(found, objects)?.find(entry => entry.name === name);
  return found;
}

interface Comparing {
  /** Paths that are not there anymore. */
  readonly gone?: ReadonlySet<string> | undefined;
  /** Whether a file differs whatever it holds. */
  readonly isOther: (at: string) => boolean;
}

/** Whether `path` holds what the snapshot holds, without the paths in `gone`: names, kinds and bytes. */
export async function sameTree(
  workspace: Workspace,
  path: WorkspacePath,
  snapshot: Snapshot,
  objects: Objects,
  comparing: Comparing,
): Promise<boolean> {
  const slice = new TimeSlice();
  const left: { readonly snapshot: Snapshot; readonly path: WorkspacePath }[] = [{ snapshot, path }];
  try {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (slice.isOver) await slice.turn();
      const { snapshot: one, path: at } = next;
      const listed = await sameEntry(workspace, at, one, objects, comparing);
      if (listed === undefined) return false;
      for (const entry of listed) left.push({ snapshot: entry, path: at.below(entry.name) });
    }
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** The children to compare below an equal entry. Undefined if it differs. */
async function sameEntry(
  workspace: Workspace,
  path: WorkspacePath,
  snapshot: Snapshot,
  objects: Objects,
  { gone, isOther }: Comparing,
): Promise<readonly SnapshotEntry[] | undefined> {
  const stat = workspace.lstat(path);
  if (stat.kind !== snapshot.kind) return undefined;
  if (snapshot.kind === "symlink") return stat.target === snapshot.target ? [] : undefined;
  if (snapshot.kind === "file") {
    if (isOther(path.absolute) || stat.size !== snapshot.size || snapshot.hash === undefined)
      return undefined;
    using file = await workspace.openUnmasked(path);
    return snapshot.hash === (await hashInTurns(await file.read(0, stat.size + 1))) ? [] : undefined;
  }
  const isLeft = ({ name }: SnapshotEntry) => !gone?.has(path.below(name).absolute);
  const listed = listedIn(snapshot, objects)?.filter(isLeft);
  if (listed === undefined) return undefined;
  using directory = workspace.directory(path);
  return directory.entries().length === listed.length ? listed : undefined;
}
