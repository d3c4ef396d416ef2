// What a workspace held at a revision, read from its log and those of its origins.
import { Fault } from "../fault.ts";
import type { LogEntry, Origin, Revision, WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { bodyOf } from "./entry-body.ts";
import { TreeState } from "./tree-state.ts";

const batch = 1000;

/** The entries up to a revision, in order. Faults: `store_unavailable` where some are missing. */
export async function* entriesUntil(
  store: WorkspaceStore,
  workspace: WorkspaceId,
  after: Revision,
  until: Revision,
): AsyncGenerator<LogEntry> {
  for (let at = after; at < until; ) {
    const entries = await store.entries(workspace, at, Math.min(batch, until - at));
    if (entries.length === 0)
      throw new Fault("store_unavailable", {
        reason: "damaged",
        detail: `the log of workspace ${workspace} ends at revision ${at} of ${until}`,
      });
    yield* entries;
    at += entries.length;
  }
}

/** The tree that a fork began as. */
export async function readOrigin(
  store: WorkspaceStore,
  { workspace, revision }: Origin,
  state = new TreeState(),
): Promise<TreeState> {
  const parent = (await store.info(workspace))?.parent;
  if (parent !== undefined) await readOrigin(store, parent, state);
  for await (const entry of entriesUntil(store, workspace, 0, revision))
    for (const operation of bodyOf(entry).operations) state.apply(operation);
  return state;
}
