// What keeps a directory of workspaces in order: unused forks are dropped, what was dropped long ago is
// removed, and so is what a dead process left half made. Safe to run at any time and in several processes.
import { sys } from "../workspace/disk/syscalls.ts";
import { claimsIn, clearClaims } from "../workspace/system/claim.ts";
import { dismantle, removeMoved } from "./materialise.ts";
import type { WorkspaceRecord } from "./record.ts";
import type { ListedWorkspace, Workspaces } from "./workspaces.ts";

/** Forks that will be dropped soon unless they are used. The caller announces them. */
export async function expiring(workspaces: Workspaces): Promise<ListedWorkspace[]> {
  const soon = (await workspaces.described()).filter(({ expires }) => expires !== undefined);
  for (const { record, used } of soon) workspaces.announcements.announce(record.tree ?? "", used);
  return soon;
}

/** Drops what is due and was announced. Answers what it dropped. A fork that has forks of its own stays until those are gone. */
export async function dropUnused(workspaces: Workspaces, now = Date.now()): Promise<WorkspaceRecord[]> {
  const all = await workspaces.described();
  const bases = new Set(all.map(({ record }) => record.base));
  const dropped: WorkspaceRecord[] = [];
  for (const { record, expires = Number.POSITIVE_INFINITY } of all) {
    if (expires > now || bases.has(record.id)) continue;
    await workspaces.store.drop(record.id);
    workspaces.markDropped(record);
    dropped.push(record);
  }
  return dropped;
}

/** Removes what was dropped long enough ago, and everything that no workspace needs. */
export async function collect(workspaces: Workspaces, graceMs: number): Promise<void> {
  await workspaces.store.collect({ graceMs });
  await tidy(workspaces);
}

/** Removes what belongs to no workspace: of dead processes, and of workspaces that are gone. */
export async function tidy(workspaces: Workspaces): Promise<void> {
  const { layout, snapshots } = workspaces;
  // In this order: what is made has a claim until the store knows it.
  const trees = sys.names(layout.trees).map(String);
  const claims = new Set(claimsIn(layout.claims));
  const known = await everyRecord(workspaces);
  const kept = new Set(known.map(({ tree }) => tree));
  for (const tree of trees) {
    if (!kept.has(tree) && !claims.has(`tree-${tree}`) && (await dismantle(layout, tree))) {
      workspaces.usage.forget(tree);
      workspaces.announcements.forget(tree);
    }
  }
  await snapshots.retire(async () => {
    const all = await everyRecord(workspaces);
    const latest = snapshots.latestOf(new Set(all.map(({ id }) => id)));
    return new Set([...latest, ...all.map(({ snapshot }) => snapshot ?? "")]);
  });
  for (const name of sys.names(layout.removing).map(String)) await removeMoved(layout, name);
  clearClaims(layout.claims);
}

/**
 * Also of those that were dropped and can be restored. The first look finds one that is dropped during the second, the
 * third one that is restored during it.
 */
async function everyRecord(workspaces: Workspaces): Promise<WorkspaceRecord[]> {
  const looks = [await workspaces.list(), await workspaces.list({ dropped: true }), await workspaces.list()];
  return looks.flat();
}
