// A configured state directory must not lie in a root, where callers could reach it. The user's default one may, when
// the home directory is served, and is concealed then (concealed.ts); so is it where the root is the whole file
// system.
import { basename, dirname, join, parse, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { Handle } from "../handle.ts";
import { isWithin } from "../root.ts";
import { namedStatePath } from "./state-path.ts";

/** To be asked before roots are opened. Faults: `state_in_root`. */
export function refuseStateIn(roots: readonly string[], wanted: string | undefined): void {
  const path = namedStatePath(wanted);
  if (path === undefined) return;
  const where = whereabouts(path);
  for (const root of roots) {
    const at = whereabouts(resolve(root));
    if (parse(at).root !== at && isWithin(where, at)) throw new Fault("state_in_root", { path, root });
  }
}

/** The canonical path of a directory, existing or not: links on the way count. */
function whereabouts(path: string): string {
  try {
    using handle = Handle.open(path);
    return handle.whereabouts();
  } catch {
    if (dirname(path) === path) return path;
    return join(whereabouts(dirname(path)), Buffer.from(basename(path)).toString("latin1"));
  }
}
