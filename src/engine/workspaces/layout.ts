// Where things are in a directory of workspaces.
//
//   store/                 names, parents, logs (engine/store)
//   trees/<tree>/tree      the files of a workspace that was made here
//   trees/<tree>/upper     what an overlay mount holds of its own, with its work directory beside it
//   trees/<tree>/used      its time is when the workspace was last used
//   snapshots/<id>/tree    the files of a base as they were; never written
//   snapshots/<id>/entries what the base looked like then; a snapshot without it is not finished
//   latest/<workspace>     the newest snapshot of a workspace
//   sizes/                 how much each workspace held of its own when that was last measured, as names of empty files
//   announced/<tree>       its time is when it was announced that the fork will be dropped
//   bound/                 which workspaces grants were given for (bindings.ts)
//   claims/                what living processes are making (workspace/system/claim.ts)
//   removing/              what is being removed
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { makeDirectory } from "../workspace/commit/state.ts";

export interface Layout {
  readonly path: string;
  readonly store: string;
  readonly trees: string;
  readonly snapshots: string;
  readonly latest: string;
  readonly sizes: string;
  readonly announced: string;
  readonly bound: string;
  readonly claims: string;
  readonly removing: string;
}

/** Makes what is missing, for its owner alone. */
export function layoutAt(path: string): Layout {
  const at = (name: string) => join(path, name);
  const layout = {
    path,
    store: at("store"),
    trees: at("trees"),
    snapshots: at("snapshots"),
    latest: at("latest"),
    sizes: at("sizes"),
    announced: at("announced"),
    bound: at("bound"),
    claims: at("claims"),
    removing: at("removing"),
  };
  const { store: _, ...made } = layout;
  for (const directory of Object.values(made)) makeDirectory(directory);
  return layout;
}

/** Different each time, and good as a name everywhere. */
export function newId(): string {
  return randomBytes(8).toString("hex");
}
