// Paths that a directory should have and does not: either a change here removed them, or the directory was emptied,
// replaced or restored while no server ran. Only removals may be sent to other replicas.
import type { ChangeEffect, ChangeLog } from "../workspace/archive/log.ts";
import { PathMap, pathsAbove } from "../workspace/within.ts";

/** What is below such a path came with it. */
const made: ReadonlySet<ChangeEffect> = new Set(["created", "moved", "copied"]);

/** Those that the latest change here that concerns them did not remove. The paths are absolute. */
export async function lostPaths(
  paths: readonly string[],
  changes: Pick<ChangeLog, "newestInTurns">,
): Promise<Set<string>> {
  const lost = new Set<string>();
  const open = new PathMap<string>();
  for (const path of paths) open.set(path, path);
  const isThere = (path: string) => {
    if (open.has(path)) lost.add(path);
    open.delete(path);
  };
  if (paths.length === 0) return lost;
  for await (const { files } of changes.newestInTurns()) {
    for (const { at, from, effect } of files.toReversed()) {
      const removed = effect === "removed" ? at : effect === "moved" ? from : undefined;
      if (effect !== "removed") for (const path of [at, ...pathsAbove(at)]) isThere(path);
      if (made.has(effect)) for (const [path] of open.within(at)) isThere(path);
      if (removed !== undefined) for (const [path] of open.within(removed)) open.delete(path);
    }
    if (open.isEmpty) return lost;
  }
  for (const [path] of open) lost.add(path);
  return lost;
}
