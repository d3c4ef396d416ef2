// Whether everything in a tree can be removed. A tree is taken away as a whole, and removed when the commit is over: what
// the system does not let go would stay under a temporary name. An append-only directory without files is not seen.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf, system } from "../errno.ts";
import type { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";
import { mountPointBelow } from "../system/mounts.ts";
import { rootActsFor } from "../system/user.ts";
import type { Stats } from "./commit-plan.ts";
import { ConcurrentChange } from "./concurrent-change.ts";

const sticky = 0o1000;

/**
 * Refuses an entry that is immutable or append-only, on a read-only file system (a snapshot), or another user's in a
 * directory where only owners remove entries. That it may not be written does not matter: its directory decides.
 */
export function refuseStuck(address: Address, stat: Stats, directory: Handle, path: () => string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (stat.uid !== user && !(user === 0 && rootActsFor(stat.uid))) {
    const { mode, uid } = directory.stat();
    if ((mode & sticky) !== 0 && uid !== user) throw new Fault("permission_denied", { path: path() });
  }
  if (!stat.isDirectory()) askAsDirectory(address, path);
  if (!stat.isSymbolicLink()) refuseIf(() => sys.access(address, constants.W_OK), path);
}

/**
 * Refuses a directory that holds something and is another user's, unless this user may write to it. Only its owner can
 * change that, or root with the right to.
 */
export function refuseClosed(directory: Handle, path: string): void {
  const user = process.geteuid?.();
  if (user === undefined || directory.stat().uid === user) return;
  system(path, () => sys.access(directory.address, constants.W_OK | constants.X_OK));
}

/**
 * Asked to remove an entry as a directory, Linux says that it is stuck, or else that it is none. Another program may have
 * put an empty directory in its place by now: that is made again, and the commit starts over.
 */
function askAsDirectory(address: Address, path: () => string): void {
  let isRemoved = false;
  refuseIf(() => {
    sys.rmdir(address);
    isRemoved = true;
  }, path);
  if (!isRemoved) return;
  sys.mkdir(address);
  throw new ConcurrentChange(path());
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
