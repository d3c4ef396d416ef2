// Where workspaces are kept so that several processes, or several machines, can share them: objects by hash, and one
// append-only log per workspace. The store does not know what an entry means; it promises order and durability.
//
// Every implementation passes the same suite (test/store/suite.ts). Failures of the store itself are the fault
// `store_unavailable`; answers that a caller has to deal with (a stale revision, a taken name) are values.

/** SHA-256 of the bytes, in hexadecimal. */
export type Hash = string;

/** Identifies a workspace permanently. A name can be given to another workspace once it is free; an id cannot. */
export type WorkspaceId = string;

/** The number of entries in a log. Entry n takes a workspace from revision n - 1 to n. */
export type Revision = number;

export interface Origin {
  readonly workspace: WorkspaceId;
  readonly revision: Revision;
}

export interface WorkspaceInfo {
  readonly id: WorkspaceId;
  readonly name: string;
  /** The workspace that it was forked from, and that one's revision at the time. */
  readonly parent?: Origin;
  readonly revision: Revision;
  /** The id of the entry at that revision, from a store that knows it without another question. */
  readonly last?: string;
  /** The sum of `bytes` over its own entries. */
  readonly bytes: number;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly created: number;
  /** When it was dropped. It can be restored until it is collected. */
  readonly dropped?: number;
  /** What its creator wanted to be known about it. It never changes. */
  readonly about: Readonly<Record<string, string>>;
}

export interface Creation {
  readonly name: string;
  readonly parent?: Origin;
  readonly about?: Readonly<Record<string, string>>;
}

export interface Entry {
  /**
   * Made by the writer, and unique: appending an entry that is already the next one is not an error but a success. So a
   * writer whose answer was lost can ask again.
   */
  readonly id: string;
  /** What it says is between its writers and readers. */
  readonly body: string;
  /** Every object that the body speaks of. They can be read through this workspace and its forks, and are kept. */
  readonly objects: readonly Hash[];
  /** How much it counts against the limit of the workspace. */
  readonly bytes: number;
}

export interface LogEntry extends Entry {
  readonly revision: Revision;
}

export type StoredObject = readonly [hash: Hash, bytes: Uint8Array];

export interface AppendOptions {
  /** Objects that may not have been put yet; a store that can, writes them in the same step. */
  readonly objects?: readonly StoredObject[];
  /** The most bytes that the workspace may have afterwards. */
  readonly maxBytes?: number | undefined;
  /** The id of the entry at the expected revision: `stale` where the log has another one there. */
  readonly after?: string | undefined;
}

/**
 * - `stale`: the log is at another revision than was expected. `revision` is a later one, where it is known.
 * - `missing_objects`: the entry names objects that were neither put nor given along, or have been collected since.
 * - `over_quota`: it would exceed `maxBytes`.
 * - `gone`: the workspace does not exist, or is dropped.
 */
export type Appended =
  | { readonly result: "appended"; readonly revision: Revision }
  | { readonly result: "stale" | "missing_objects" | "over_quota" | "gone" };

export interface CollectOptions {
  /** What was dropped, or put and not named, is kept for this long. */
  readonly graceMs: number;
  /** Only count. */
  readonly dryRun?: boolean;
}

export interface Collected {
  readonly workspaces: number;
  readonly objects: number;
  readonly bytes: number;
}

/** Something that is not as it should be. */
export interface Damage {
  readonly what:
    | "missing_object"
    | "damaged_object"
    | "damaged_entry"
    | "missing_entry"
    | "missing_parent"
    | "damaged_workspace";
  /** The hash of an object; `workspace/revision` of an entry, or `workspace/first-last` of several that are missing. */
  readonly where: string;
  /** The names of workspaces that it concerns, as far as they are known. */
  readonly workspaces: readonly string[];
}

export interface WorkspaceStore extends AsyncDisposable {
  /** Which of these objects are there. Asking keeps them from being collected for the grace period. */
  has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>>;
  /**
   * Idempotent. When it has resolved, the objects survive a crash. Faults: `store_unavailable`, also where the bytes
   * do not have the hash they come with.
   */
  put(objects: readonly StoredObject[]): Promise<void>;
  /** The bytes, if an entry of this workspace names them, or one that its fork's origin had at that revision. */
  get(workspace: WorkspaceId, hash: Hash): Promise<Uint8Array | undefined>;

  /** `no_parent`: the origin does not exist, is dropped, or has not reached that revision. */
  create(creation: Creation): Promise<WorkspaceInfo | "exists" | "no_parent">;
  /** The workspace that has this name now. */
  find(name: string): Promise<WorkspaceInfo | undefined>;
  /** Also one that was dropped and not collected. */
  info(workspace: WorkspaceId): Promise<WorkspaceInfo | undefined>;
  /** In the order of names. `dropped`: those that can be restored instead. */
  list(options?: { readonly dropped?: boolean }): Promise<readonly WorkspaceInfo[]>;
  /** Frees the name. Its forks stay. False if there is none. */
  drop(workspace: WorkspaceId): Promise<boolean>;
  /** Takes back a drop. */
  restore(workspace: WorkspaceId): Promise<"restored" | "exists" | "gone">;

  /** Compare-and-swap. When it has resolved to `appended`, the entry and its objects survive a crash. */
  append(
    workspace: WorkspaceId,
    expected: Revision,
    entry: Entry,
    options?: AppendOptions,
  ): Promise<Appended>;
  /** The entries after a revision, at most `limit`, without a gap. Also of one that was dropped. */
  entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]>;
  /** Tells when a log may have grown: a hint that may be late, lost or wrong. Returns how to stop it. */
  changed(listener: (workspace: WorkspaceId, revision: Revision) => void): () => void;

  /** Removes what is no longer needed: dropped workspaces that no fork descends from, and objects that no entry names. */
  collect(options: CollectOptions): Promise<Collected>;
  check(): AsyncIterable<Damage>;
}
