// Makes a directory a replica of a workspace of the store: the first one to come publishes what it holds, the others
// must be empty, or copies that this program has made before.

import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import type { Revision, WorkspaceInfo, WorkspaceStore } from "../store/store.ts";
import { openNew } from "../workspace/archive/folder.ts";
import { contentAt, namesIn, unlinkIfThere } from "../workspace/commit/if-there.ts";
import { sys, writeAll } from "../workspace/commit/syscalls.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { bodyOf } from "./entry-body.ts";
import { LocalCopy } from "./local-copy.ts";
import { Replica, type ReplicaOptions } from "./replica.ts";

export interface OpenReplicaOptions extends ReplicaOptions {
  readonly store: WorkspaceStore;
  /** The name of the workspace in the store. */
  readonly name: string;
  /** Has one root that may be written. */
  readonly workspace: Workspace;
}

/** So many of the last changes are applied one by one on a new replica, so that they are in its history. */
const recentChanges = 200;
const importMs = 30_000;
const waitMs = 200;

/** Faults: `store_unavailable`, `not_empty` where the directory holds something else. */
export async function openReplica(options: OpenReplicaOptions): Promise<Replica> {
  const { store, name, workspace } = options;
  const [root, ...more] = workspace.roots;
  if (root === undefined || more.length > 0 || root.access !== "read-write")
    throw new Fault("store_unavailable", {
      reason: "invalid",
      detail: "one directory that may be written is needed",
    });
  const copy = new LocalCopy(workspace.withoutRules());
  const folder = workspace.stateFolder("replicas");
  const marker = join(folder, markerName(root.path));
  for (;;) {
    const found = await ready(store, name);
    const made = found ?? (await store.create({ name }));
    if (typeof made === "string") continue; // another replica was faster
    const replica = new Replica(store, made.id, copy, options);
    try {
      if (found === undefined) await replica.import({ action: "import", client: "" });
      else await materialise(replica, copy, store, found, marker);
      refuseSecond(folder, marker, made.id);
      writeMarker(marker, made.id);
      workspace.replicate(replica);
      return replica;
    } catch (error) {
      await replica[Symbol.asyncDispose]();
      throw error;
    }
  }
}

/** The workspace, when it is there as a whole. One whose import has come to a standstill is dropped. */
async function ready(store: WorkspaceStore, name: string): Promise<WorkspaceInfo | undefined> {
  let seen: WorkspaceInfo | undefined;
  for (let waited = 0; ; waited += waitMs) {
    const info = await store.find(name);
    if (info === undefined) return undefined;
    if ((await completeAt(store, info)) !== undefined) return info;
    if (seen?.id !== info.id || seen.revision !== info.revision) waited = 0;
    seen = info;
    if (waited >= importMs) await store.drop(info.id);
    await setTimeout(waitMs);
  }
}

/** The revision at which its first content was there as a whole. */
async function completeAt(
  store: WorkspaceStore,
  { id, revision, parent }: WorkspaceInfo,
): Promise<Revision | undefined> {
  if (parent !== undefined) return 0;
  for (let after = 0; after < revision; ) {
    const entries = await store.entries(id, after, 100);
    for (const entry of entries) if (bodyOf(entry).complete !== false) return entry.revision;
    if (entries.length === 0) return undefined;
    after += entries.length;
  }
  return undefined;
}

async function materialise(
  replica: Replica,
  copy: LocalCopy,
  store: WorkspaceStore,
  info: WorkspaceInfo,
  marker: string,
): Promise<void> {
  const known = contentAt(marker)?.toString() === replica.id;
  if (!known && (await copy.unapplied(replica.state)).length > 0)
    throw new Fault("not_empty", { path: copy.root });
  await replica.replayOrigin(info.parent);
  // The first content is no change that could be taken back.
  const first = (await completeAt(store, info)) ?? 0;
  await replica.replay(Math.max(first, info.revision - recentChanges));
  await replica.repair();
  await replica.refresh("writes");
}

function markerName(root: string): string {
  return Buffer.from(root).toString("base64url").slice(-200);
}

/** Changes have the same ids on every replica, so two of one workspace cannot share a history. */
function refuseSecond(folder: string, marker: string, id: string): void {
  for (const name of namesIn(folder)) {
    if (join(folder, name) === marker || contentAt(join(folder, name))?.toString() !== id) continue;
    const detail = "another directory with this state directory is a replica of it; use --state-dir for each";
    throw new Fault("store_unavailable", { reason: "invalid", detail });
  }
}

/** Says which workspace a directory is a copy of. Without it, nothing in the directory is ever removed. */
function writeMarker(marker: string, id: string): void {
  unlinkIfThere(marker);
  const fd = openNew(marker, []);
  try {
    writeAll(fd, Buffer.from(id));
  } finally {
    sys.close(fd);
  }
}
