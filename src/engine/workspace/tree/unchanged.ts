// Whether a tree is as it was when its entries were taken: every name, and every inode's time of change.

import { isConcealed } from "../concealed.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { identityOf } from "../footprint/tree-snapshot.ts";
import type { Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import { lstatSync, readlinkSync } from "../system/calls.ts";
import { lstatNow } from "../system/identity.ts";
import type { TreeEntries } from "./clone-tree.ts";
import { directoryIfThere } from "./directory-if-there.ts";

/** The server's own directories are left out. */
export async function isUnchanged(
  tree: Handle,
  entries: TreeEntries,
  signal?: AbortSignal,
): Promise<boolean> {
  const slice = new TimeSlice();

  async function same(directory: Handle, known: TreeEntries): Promise<boolean> {
    let seen = 0;
    for (const name of rawNamesIn(directory)) {
      if (isTemporaryName(name)) continue;
      if (slice.isOver) {
        await slice.turn();
        signal?.throwIfAborted();
      }
      const address = directory.below(addressOf(name));
      const stats = lstatSync(address, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined) return false;
      const kind = kindOf(stats);
      const entry = known.get(name);
      if (entry === undefined) {
        // What has no copy is not among the entries.
        if (kind !== "file" && kind !== "directory" && kind !== "symlink") continue;
        if (kind === "directory" && isConcealed(lstatNow(address))) continue;
        return false;
      }
      seen++;
      if (entry.kind !== kind || entry.inode !== stats.ino || entry.device !== stats.dev) return false;
      if (kind === "symlink" && readlinkSync(address, "latin1") !== entry.target) return false;
      if (kind === "file" && (entry.changed !== stats.ctimeNs || entry.size !== Number(stats.size)))
        return false;
      if (kind !== "directory") continue;
      if (entry.mode !== (Number(stats.mode) & 0o7777)) return false;
      using below = directoryIfThere(address);
      if (below === undefined || identityOf(below) !== `${entry.device}:${entry.inode}`) return false;
      if (!(await same(below, entry.children ?? new Map()))) return false;
    }
    return seen === known.size;
  }

  return same(tree, entries);
}
