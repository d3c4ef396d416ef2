// A configured state directory must not be in a root, where callers could reach it, whatever paths the two are mounted
// at. The user's default state directory may, because the home directory may be served, and is concealed then
// (concealed.ts). The same goes for a root that is the whole file system.
import { parse, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { Location } from "../location.ts";
import { namedStatePath } from "./state-path.ts";

/** To be asked before roots are opened. Faults: `state_in_root`. */
export function refuseStateIn(roots: readonly string[], wanted: string | undefined): void {
  const path = namedStatePath(wanted);
  if (path === undefined) return;
  using state = new Location(path);
  for (const root of roots) {
    using at = new Location(resolve(root));
    if (parse(at.path).root !== at.path && state.isIn(at)) throw new Fault("state_in_root", { path, root });
  }
}
