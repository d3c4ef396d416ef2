// Which workspaces have to be kept because others descend from them.
import type { WorkspaceId, WorkspaceInfo } from "./store.ts";

/** Those that stay for themselves, and all that they descend from. */
export function neededBy(
  all: readonly WorkspaceInfo[],
  stays: (info: WorkspaceInfo) => boolean,
): ReadonlySet<WorkspaceId> {
  const byId = new Map(all.map(info => [info.id, info]));
  const needed = new Set<WorkspaceId>();
  for (const info of all.filter(stays))
    for (let at: WorkspaceInfo | undefined = info; at !== undefined && !needed.has(at.id); ) {
      needed.add(at.id);
      at = at.parent && byId.get(at.parent.workspace);
    }
  return needed;
}
