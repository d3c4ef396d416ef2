// Makes a directory a replica of a workspace of the store: the first one to come publishes what it holds, the others
// must be empty, or copies that this program has made before.

import { setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import type { Revision, WorkspaceId, WorkspaceInfo, WorkspaceStore } from "../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { bodyOf } from "./entry-body.ts";
import { LocalCopy } from "./local-copy.ts";
import { assertSound, endsEarly } from "./read-log.ts";
import { Replica } from "./replica.ts";
import { type EntryPlace, ReplicaNote } from "./replica-note.ts";
import { type ReplicaOptions, usualImportMs } from "./replica-options.ts";
import { TreeState } from "./tree-state.ts";

export interface OpenReplicaOptions extends ReplicaOptions {
  readonly store: WorkspaceStore;
  /** The name of the workspace in the store. It is created where there is none. */
  readonly name: string;
  /** The workspace itself, where it must be there: another one of the same name is not meant. */
  readonly id?: WorkspaceId | undefined;
  /** Has one root that may be written. */
  readonly workspace: Workspace;
  /** The directory was made for this workspace: it may hold anything, and becomes what the log says. */
  readonly isOwn?: boolean | undefined;
  /** The workspace, where it was just created and this directory is its first content. */
  readonly created?: WorkspaceInfo | undefined;
}

/** So many of the last changes are applied one by one on a new replica, so that they are in its history. */
const recentChanges = 200;
const waitMs = 200;
/** An empty directory waits so much longer for an import: the machine with the files may be starting again. */
const emptyWaits = 10;

/** Faults: `store_unavailable`, `not_empty` where the directory holds something else. */
export async function openReplica(options: OpenReplicaOptions): Promise<Replica> {
  const { store, name, id, workspace, created } = options;
  const [root, ...more] = workspace.roots;
  if (root === undefined || more.length > 0 || root.access !== "read-write")
    throw new Fault("store_unavailable", {
      reason: "invalid",
      detail: "one directory that may be written is needed",
    });
  const copy = new LocalCopy(workspace.withoutRules(), () => workspace.roots[0]?.rules);
  const note = ReplicaNote.of(workspace, root.path);
  const claim = note.claim();
  for (;;) {
    try {
      const found = created === undefined ? await ready(options, copy) : undefined;
      if (found === undefined && id !== undefined && created === undefined) throw gone();
      const made = created ?? found ?? (await store.create({ name }));
      if (typeof made === "string") continue; // another replica was faster
      const replica = new Replica(store, made.id, copy, note, options);
      try {
        if (found === undefined) await replica.start.import({ action: "import", client: "" });
        else await materialise(replica, copy, note, options, found);
        note.workspace = made.id;
        replica.follow();
        const withdraw = workspace.replicate(replica);
        replica.onClose(() => {
          withdraw();
          claim[Symbol.dispose]();
          copy.workspace[Symbol.dispose]();
        });
        return replica;
      } catch (error) {
        await replica[Symbol.asyncDispose]();
        throw error;
      }
    } catch (error) {
      claim[Symbol.dispose]();
      throw error;
    }
  }
}

/** The workspace, once it is complete. One whose import has stalled is dropped. */
async function ready(
  { store, name, id, importMs = usualImportMs }: OpenReplicaOptions,
  { files }: LocalCopy,
): Promise<WorkspaceInfo | undefined> {
  let seen: WorkspaceInfo | undefined;
  // An empty directory would publish nothing in place of the files that were on their way.
  const isPatient = async (waited: number) =>
    id === undefined &&
    waited < emptyWaits * importMs &&
    (await files.unpublished(new TreeState())).length === 0;
  for (let waited = 0; ; waited += waitMs) {
    const found = await (id === undefined ? store.find(name) : store.info(id));
    const info = found?.dropped === undefined ? found : undefined;
    if (info !== undefined) {
      await assertSound(store, info);
      const read = seen?.id === info.id ? seen.revision : 0;
      if ((await completeAt(store, info, read)) !== undefined) return info;
      if (seen?.id !== info.id || read !== info.revision) waited = 0;
      seen = info;
    } else if (seen === undefined || id !== undefined) return undefined;
    if ((info === undefined || waited >= importMs) && !(await isPatient(waited))) {
      if (info !== undefined && (await store.info(info.id))?.revision !== info.revision) continue; // it goes on
      if (info !== undefined) await store.drop(info.id);
      return undefined;
    }
    await setTimeout(waitMs);
  }
}

/** The revision at which its first content was there as a whole. It was not there yet at `read`. */
async function completeAt(
  store: WorkspaceStore,
  { id, revision, parent }: WorkspaceInfo,
  read: Revision = 0,
): Promise<Revision | undefined> {
  if (parent !== undefined) return 0;
  for (let after = read; after < revision; ) {
    const entries = await store.entries(id, after, 100);
    for (const entry of entries) if (bodyOf(entry).complete !== false) return entry.revision;
    if (entries.length === 0) throw endsEarly(id, after, revision);
    after += entries.length;
  }
  return undefined;
}

async function materialise(
  replica: Replica,
  copy: LocalCopy,
  note: ReplicaNote,
  { store, isOwn = false }: OpenReplicaOptions,
  info: WorkspaceInfo,
): Promise<void> {
  const isKnown = note.workspace === replica.id;
  if (!isKnown && !isOwn && (await copy.files.unapplied(replica.state)).length > 0)
    throw new Fault("not_empty", { path: copy.root });
  await replica.start.replayOrigin(info.parent);
  const unsentSince = isKnown ? note.unsentSince : undefined;
  if (unsentSince !== undefined && (await hasEntry(store, info, unsentSince))) {
    await replica.start.replay(unsentSince.revision);
    // Applied, and the process died before it noted that.
    await replica.start.replayKnown(info.revision);
    return await replica.start.recover(info.parent);
  }
  // The store has lost the entry that unsent changes build on. Compared with another one, they would revert it.
  replica.start.forgetUnsent();
  // A directory that is only half filled when the process dies is known at the next start.
  note.workspace = replica.id;
  // The first content is not a change that could be undone.
  const first = (await completeAt(store, info)) ?? 0;
  await replica.start.replay(Math.max(first, info.revision - recentChanges));
  if (isKnown) {
    await replica.start.replayKnown(info.revision);
    await replica.start.setAside();
  }
  await replica.start.fill();
}

/** Whether a place that was noted is in the log. If not, the store has lost it, and others may have written since. */
async function hasEntry(
  store: WorkspaceStore,
  info: WorkspaceInfo,
  { revision, id }: EntryPlace,
): Promise<boolean> {
  if (revision > info.revision) return false;
  if (id === undefined) return true;
  const [entry] = await store.entries(info.id, revision - 1, 1);
  return entry?.id === id;
}

function gone(): Fault {
  return new Fault("store_unavailable", { reason: "invalid", detail: "the workspace was dropped" });
}
