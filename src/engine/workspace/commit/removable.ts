// Whether everything in a tree can be removed. A tree is taken away as a whole, and removed when the commit is over: what
// the system does not let go would stay under a temporary name. Files that are append-only are not seen.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf } from "../errno.ts";
import type { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";
import { mountOf } from "../system/mounts.ts";
import type { Stats } from "./commit-plan.ts";

const sticky = 0o1000;

/**
 * Refuses an entry that is immutable, on a read-only file system (a snapshot), or another user's in a directory where
 * only owners remove entries. That it may not be written does not matter: its directory decides.
 */
export function refuseStuck(address: Address, stat: Stats, directory: Handle, path: () => string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (user !== 0 && stat.uid !== user) {
    const { mode, uid } = directory.stat();
    if ((mode & sticky) !== 0 && uid !== user) throw new Fault("permission_denied", { path: path() });
  }
  if (stat.isSymbolicLink()) return;
  try {
    sys.access(address, constants.W_OK);
  } catch (error) {
    if (errnoOf(error) === "EPERM" || errnoOf(error) === "EROFS") throw faultOf(error, path());
  }
}

/** A disk that is mounted in a tree goes along when the tree is renamed, and its mount point cannot be removed. */
export function refuseMounted(directory: Handle, top: Handle, path: () => string): void {
  if (mountOf(directory) !== mountOf(top))
    throw new Fault("io", { path: path(), errno: "EBUSY", call: "rmdir" });
}
