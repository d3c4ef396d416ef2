// Whether everything in a tree can be removed. A tree is taken away as a whole, and removed when the commit is over: what
// the system does not let go would stay under a temporary name. An append-only directory without files is not seen.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf } from "../errno.ts";
import type { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";
import { mountPointBelow } from "../system/mounts.ts";
import type { Stats } from "./commit-plan.ts";

const sticky = 0o1000;

/**
 * Refuses an entry that is immutable or append-only, on a read-only file system (a snapshot), or another user's in a
 * directory where only owners remove entries. That it may not be written does not matter: its directory decides.
 */
export function refuseStuck(address: Address, stat: Stats, directory: Handle, path: () => string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (user !== 0 && stat.uid !== user) {
    const { mode, uid } = directory.stat();
    if ((mode & sticky) !== 0 && uid !== user) throw new Fault("permission_denied", { path: path() });
  }
  if (!stat.isDirectory()) refuseIf(() => sys.rmdir(address), path); // Linux says that it is stuck, or else no directory
  if (!stat.isSymbolicLink()) refuseIf(() => sys.access(address, constants.W_OK), path);
}

function refuseIf(question: () => void, path: () => string): void {
  try {
    question();
  } catch (error) {
    if (errnoOf(error) === "EPERM" || errnoOf(error) === "EROFS") throw faultOf(error, path());
  }
}

/** What is mounted in a tree, on a directory or a file, goes along when the tree is renamed, and cannot be removed. */
export function refuseMounted(tree: Handle, path: (inside: string) => string): void {
  const inside = mountPointBelow(tree);
  if (inside !== undefined) throw new Fault("busy", { path: path(inside) });
}
