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
    yield* inSequence(workspace, entries, at);
    at += entries.length;
  }
}

/** Entries that follow a revision. Faults: `store_unavailable` where they do not follow it one by one. */
export function inSequence(
  workspace: WorkspaceId,
  entries: readonly LogEntry[],
  after: Revision,
): readonly LogEntry[] {
  const wrong = entries.findIndex(({ revision }, i) => revision !== after + i + 1);
  if (wrong < 0) return entries;
  throw new Fault("store_unavailable", {
    reason: "damaged",
    detail: `the log of workspace ${workspace} has no revision ${after + wrong + 1}`,
  });
}

/** The tree that a fork began as. */
export async function readOrigin(
  store: WorkspaceStore,
  origin: Origin,
  state = new TreeState(),
): Promise<TreeState> {
  for (const { workspace, revision } of await lineOf(store, origin))
    for await (const entry of entriesUntil(store, workspace, 0, revision))
      for (const operation of bodyOf(entry).operations) state.apply(operation);
  return state;
}

/** An origin and its own origins, the oldest first. */
async function lineOf(store: WorkspaceStore, origin: Origin): Promise<readonly Origin[]> {
  const line = new Map<WorkspaceId, Origin>();
  for (let at: Origin | undefined = origin; at !== undefined; ) {
    if (line.has(at.workspace))
      throw new Fault("store_unavailable", {
        reason: "damaged",
        detail: `workspace ${at.workspace} is forked from itself`,
      });
    line.set(at.workspace, at);
    at = (await store.info(at.workspace))?.parent;
  }
  return [...line.values()].reverse();
}
