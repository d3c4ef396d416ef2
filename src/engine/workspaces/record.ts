// What is known about a workspace: the store's record, and what its creator wrote into it, as types.
import { join } from "node:path";
import { Fault } from "../fault.ts";
import type { WorkspaceId, WorkspaceInfo } from "../store/store.ts";
import type { Layout } from "./layout.ts";
import { isName } from "./workspace-name.ts";

/** How the files of a fork are made: see copy-method.ts. */
export type CopyMethod = "overlay" | "reflink" | "link" | "copy";

/** What is known about a workspace. */
export interface WorkspaceRecord {
  readonly id: WorkspaceId;
  readonly name: string;
  /** The directory that is served. */
  readonly root: string;
  /** `adopted`: the directory was there before, and stays when the workspace is dropped. */
  readonly kind: "adopted" | "created" | "fork";
  /** Of a fork: what it was forked from. */
  readonly base?: WorkspaceId;
  /** Of a fork: the snapshot of its base that it began as. */
  readonly snapshot?: string;
  readonly method: CopyMethod;
  /** The folder below `trees`; absent where it was adopted. */
  readonly tree?: string;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly dropped?: number;
  readonly revision: number;
}

/** What the creator of a workspace has the store remember. */
export type CreatorNotes = {
  readonly kind: WorkspaceRecord["kind"];
  readonly method: CopyMethod;
  readonly owner: string;
  readonly tree?: string;
  readonly directory?: string;
  readonly snapshot?: string;
};

export function aboutOf(about: CreatorNotes): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

/**
 * The record of a workspace in a shared store. Anyone with write access to the store can forge the notes, so they never
 * select a path on this machine: directory and snapshot are ignored, and the folder must have a name made for this
 * workspace. A workspace that was first shared as a single directory has no notes.
 * Faults: `store_unavailable`.
 */
export function sharedRecordOf(info: WorkspaceInfo, layout: Layout): WorkspaceRecord {
  const { id, name, about } = info;
  if (!/^[0-9a-f]{16,64}$/.test(id))
    throw new Fault("store_unavailable", { reason: "damaged", detail: "a workspace with an invalid id" });
  const { owner = "", tree: named = "" } = about;
  const start = isName(name) ? name : "workspace";
  const isOwn = named.startsWith(`${start}-`) && /^[0-9a-f]{16}$/.test(named.slice(start.length + 1));
  const tree = isOwn ? named : `${start}-${id.slice(0, 16)}`;
  const kind = info.parent === undefined ? "created" : "fork";
  return recordOf({ ...info, about: aboutOf({ kind, method: "copy", owner, tree }) }, layout);
}

/** A list makes thousands: fields are set one by one, because spreads cost 20 µs a record. */
export function recordOf(info: WorkspaceInfo, layout: Layout): WorkspaceRecord {
  const { id, name, parent, created, dropped, about, revision } = info;
  const { kind = "created", method = "copy", owner = "", tree, directory, snapshot } = about;
  const record: { -readonly [K in keyof WorkspaceRecord]: WorkspaceRecord[K] } = {
    id,
    name,
    root: directory ?? (tree ? `${layout.trees}/${tree}/tree` : join(layout.trees, "tree")),
    kind: kind as WorkspaceRecord["kind"],
    method: method as CopyMethod,
    owner,
    created,
    revision,
  };
  if (parent) record.base = parent.workspace;
  if (snapshot) record.snapshot = snapshot;
  if (tree) record.tree = tree;
  if (dropped !== undefined) record.dropped = dropped;
  return record;
}
