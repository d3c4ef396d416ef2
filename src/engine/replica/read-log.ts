// What a workspace held at a revision, read from its log and those of its origins.
import { Fault } from "../fault.ts";
import type {
  LogEntry,
  Origin,
  Revision,
  WorkspaceId,
  WorkspaceInfo,
  WorkspaceStore,
} from "../store/store.ts";
import type { EarlierTree } from "./earlier-paths.ts";
import { bodyOf, type EntryBody } from "./entry-body.ts";
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
    if (entries.length === 0) throw endsEarly(workspace, at, until);
    yield* inSequence(workspace, entries, at);
    at += entries.length;
  }
}

/** A log that is shorter than its head says. */
export function endsEarly(workspace: WorkspaceId, at: Revision, head: Revision): Fault {
  return damaged(`the log of workspace ${workspace} ends at revision ${at} of ${head}`);
}

/**
 * Compares the head of a workspace, as it was read, with its log, as far as that goes without reading all of it. Faults:
 * `store_unavailable` where they cannot belong together.
 */
export async function assertSound(store: WorkspaceStore, { id, revision }: WorkspaceInfo): Promise<void> {
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw damaged(`workspace ${id} cannot be at revision ${revision}`);
  if (revision > 0 && (await store.entries(id, revision - 1, 1)).length === 0)
    throw damaged(`the log of workspace ${id} has no revision ${revision}, where it should end`);
  const [beyond] = await store.entries(id, revision, 1);
  if (beyond === undefined) return;
  // An entry is there when its head is: asked afterwards, the head has moved too.
  const later = await store.info(id);
  if (later === undefined || later.revision >= beyond.revision) return;
  throw damaged(`the log of workspace ${id} continues after revision ${later.revision}, where it should end`);
}

/** Entries that follow a revision. Faults: `store_unavailable` where they do not follow it one by one. */
export function inSequence(
  workspace: WorkspaceId,
  entries: readonly LogEntry[],
  after: Revision,
): readonly LogEntry[] {
  const wrong = entries.findIndex(({ revision }, i) => revision !== after + i + 1);
  if (wrong < 0) return entries;
  throw damaged(`the log of workspace ${workspace} has no revision ${after + wrong + 1}`);
}

/** The tree that a fork began as. */
export async function readOrigin(
  store: WorkspaceStore,
  origin: Origin,
  state = new TreeState(),
): Promise<TreeState> {
  for (const { workspace, revision } of await lineOf(store, origin))
    for await (const entry of entriesUntil(store, workspace, 0, revision))
      state.applyAll(bodyOf(entry).operations);
  return state;
}

/** What a workspace held from its beginning to a revision. It is one tree, which changes. */
export async function* treesUntil(
  store: WorkspaceStore,
  workspace: WorkspaceId,
  origin: Origin | undefined,
  until: Revision,
): AsyncGenerator<EarlierTree> {
  const tree = origin === undefined ? new TreeState() : await readOrigin(store, origin);
  yield { tree, touched: [""] };
  for await (const entry of entriesUntil(store, workspace, 0, until)) {
    const { operations } = bodyOf(entry);
    tree.applyAll(operations);
    yield { tree, touched: operations.map(({ at }) => at) };
  }
}

/** What the entries of a workspace after a revision did. */
export async function entriesSince(
  store: WorkspaceStore,
  { workspace, revision: after }: Origin,
): Promise<readonly (Pick<EntryBody, "operations"> & Pick<LogEntry, "id" | "revision">)[]> {
  const { revision: until = after } = (await store.info(workspace)) ?? {};
  const found = [];
  for await (const entry of entriesUntil(store, workspace, after, until))
    found.push({ id: entry.id, revision: entry.revision, operations: bodyOf(entry).operations });
  return found;
}

/** The paths that the entries of a workspace name, without those of its origins. */
export async function writtenPaths(store: WorkspaceStore, workspace: WorkspaceId): Promise<Set<string>> {
  const { revision = 0 } = (await store.info(workspace)) ?? {};
  const paths = new Set<string>();
  for await (const entry of entriesUntil(store, workspace, 0, revision))
    for (const { at } of bodyOf(entry).operations) paths.add(at);
  return paths;
}

/** An origin and its own origins, the oldest first. */
async function lineOf(store: WorkspaceStore, origin: Origin): Promise<readonly Origin[]> {
  const line = new Map<WorkspaceId, Origin>();
  for (let at: Origin | undefined = origin; at !== undefined; ) {
    if (line.has(at.workspace)) throw damaged(`workspace ${at.workspace} is forked from itself`);
    line.set(at.workspace, at);
    at = (await store.info(at.workspace))?.parent;
  }
  return [...line.values()].reverse();
}

function damaged(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "damaged", detail });
}
