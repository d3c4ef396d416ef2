// A configured state directory must not lie in a root, where callers could reach it, by whatever path either of them is
// mounted. The user's default one may, when the home directory is served, and is concealed then (concealed.ts); so is
// it where the root is the whole file system.
import { basename, dirname, join, parse, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { Handle } from "../handle.ts";
import { isWithin } from "../root.ts";
import { type InnerPath, innerPathOf } from "../system/mounts.ts";
import { namedStatePath } from "./state-path.ts";

/** To be asked before roots are opened. Faults: `state_in_root`. */
export function refuseStateIn(roots: readonly string[], wanted: string | undefined): void {
  const path = namedStatePath(wanted);
  if (path === undefined) return;
  const state = locationOf(path);
  for (const root of roots) {
    const at = locationOf(resolve(root));
    if (parse(at.path).root === at.path) continue;
    if (isWithin(state.path, at.path) || isInside(state.inner, at.inner))
      throw new Fault("state_in_root", { path, root });
  }
}

interface Location {
  /** The canonical path: links on the way count. */
  readonly path: string;
  readonly inner?: InnerPath | undefined;
}

/** Where a directory is, existing or not. */
export function locationOf(path: string): Location {
  try {
    using handle = Handle.open(path);
    return { path: handle.whereabouts(), inner: innerPathOf(handle) };
  } catch {
    if (dirname(path) === path) return { path };
    const above = locationOf(dirname(path));
    const name = Buffer.from(basename(path)).toString("latin1");
    const inner = above.inner && { ...above.inner, path: join(above.inner.path, name) };
    return { path: join(above.path, name), inner };
  }
}

/** Whether something lies in a directory of the same file system, under whatever mounts. */
function isInside(inner: InnerPath | undefined, root: InnerPath | undefined): boolean {
  if (inner === undefined || root === undefined || inner.device !== root.device) return false;
  return isWithin(inner.path, root.path);
}
