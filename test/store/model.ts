// The store as it should behave, in memory: the oracle of the suite. It is short enough to be checked by reading.

import type {
  Appended,
  AppendOptions,
  Collected,
  CollectOptions,
  Creation,
  Damage,
  Entry,
  Hash,
  LogEntry,
  Revision,
  StoredObject,
  WorkspaceId,
  WorkspaceInfo,
  WorkspaceStore,
} from "../../src/engine/store/store.ts";
import { contentHash } from "../../src/engine/text/version.ts";

interface Kept {
  readonly creation: Creation;
  readonly id: WorkspaceId;
  readonly created: number;
  readonly log: Entry[];
  dropped?: number | undefined;
}

export class ModelStore implements WorkspaceStore {
  readonly objects = new Map<Hash, { readonly bytes: Uint8Array; used: number }>();
  readonly workspaces = new Map<WorkspaceId, Kept>();
  readonly #listeners = new Set<(workspace: WorkspaceId, revision: Revision) => void>();
  now = 1;
  #ids = 0;

  async has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const there = hashes.filter(hash => this.objects.has(hash));
    for (const hash of there) this.#use(hash);
    return new Set(there);
  }

  async put(objects: readonly StoredObject[]): Promise<void> {
    for (const [hash, bytes] of objects) {
      if (contentHash(bytes) !== hash) throw new Error("not its hash");
      this.objects.set(hash, { bytes, used: this.now });
    }
  }

  async get(workspace: WorkspaceId, hash: Hash): Promise<Uint8Array | undefined> {
    let until = Number.POSITIVE_INFINITY;
    for (let at = this.workspaces.get(workspace); at !== undefined; ) {
      if (at.log.slice(0, until).some(({ objects }) => objects.includes(hash)))
        return this.objects.get(hash)?.bytes;
      until = at.creation.parent?.revision ?? 0;
      at = at.creation.parent && this.workspaces.get(at.creation.parent.workspace);
    }
    return undefined;
  }

  async create(creation: Creation): Promise<WorkspaceInfo | "exists" | "no_parent"> {
    const { parent } = creation;
    if (parent !== undefined) {
      const origin = this.#live(parent.workspace);
      if (origin === undefined || origin.log.length < parent.revision) return "no_parent";
    }
    if (this.#named(creation.name)) return "exists";
    const id = String(++this.#ids);
    const kept: Kept = { creation, id, created: this.now, log: [] };
    this.workspaces.set(id, kept);
    return infoOf(kept);
  }

  async find(name: string): Promise<WorkspaceInfo | undefined> {
    const kept = this.#named(name);
    return kept && infoOf(kept);
  }

  async info(workspace: WorkspaceId): Promise<WorkspaceInfo | undefined> {
    const kept = this.workspaces.get(workspace);
    return kept && infoOf(kept);
  }

  async list({ dropped = false } = {}): Promise<readonly WorkspaceInfo[]> {
    return [...this.workspaces.values()]
      .filter(kept => (kept.dropped !== undefined) === dropped)
      .map(infoOf)
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  async drop(workspace: WorkspaceId): Promise<boolean> {
    const kept = this.#live(workspace);
    if (kept !== undefined) kept.dropped = this.now;
    return kept !== undefined;
  }

  async restore(workspace: WorkspaceId): Promise<"restored" | "exists" | "gone"> {
    const kept = this.workspaces.get(workspace);
    if (kept === undefined) return "gone";
    if (kept.dropped !== undefined && this.#named(kept.creation.name)) return "exists";
    kept.dropped = undefined;
    return "restored";
  }

  async append(
    workspace: WorkspaceId,
    expected: Revision,
    entry: Entry,
    { objects = [], maxBytes = Number.POSITIVE_INFINITY, after }: AppendOptions = {},
  ): Promise<Appended> {
    const kept = this.#live(workspace);
    if (kept === undefined) return { result: "gone" };
    if (kept.log.length !== expected)
      return kept.log[expected]?.id === entry.id
        ? { result: "appended", revision: expected + 1 }
        : { result: "stale" };
    if (after !== undefined && kept.log[expected - 1]?.id !== after) return { result: "stale" };
    if (infoOf(kept).bytes + entry.bytes > maxBytes) return { result: "over_quota" };
    await this.put(objects);
    if (!entry.objects.every(hash => this.objects.has(hash))) return { result: "missing_objects" };
    kept.log.push(entry);
    for (const listener of this.#listeners) listener(workspace, kept.log.length);
    return { result: "appended", revision: kept.log.length };
  }

  async entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]> {
    const log = this.workspaces.get(workspace)?.log ?? [];
    return log.map((entry, i) => ({ ...entry, revision: i + 1 })).slice(after, after + limit);
  }

  changed(listener: (workspace: WorkspaceId, revision: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async collect({ graceMs, dryRun = false }: CollectOptions): Promise<Collected> {
    const isOld = (time: number) => this.now - time >= graceMs;
    const needed = new Set<WorkspaceId>();
    for (const kept of this.workspaces.values()) {
      if (kept.dropped !== undefined && isOld(kept.dropped)) continue;
      for (let at: Kept | undefined = kept; at !== undefined; ) {
        needed.add(at.id);
        at = at.creation.parent && this.workspaces.get(at.creation.parent.workspace);
      }
    }
    const gone = [...this.workspaces.keys()].filter(id => !needed.has(id));
    const named = new Set(
      [...needed].flatMap(id => this.workspaces.get(id)?.log.flatMap(({ objects }) => objects) ?? []),
    );
    const unnamed = [...this.objects].filter(([hash, { used }]) => !named.has(hash) && isOld(used));
    if (!dryRun) {
      for (const id of gone) this.workspaces.delete(id);
      for (const [hash] of unnamed) this.objects.delete(hash);
    }
    const bytes = unnamed.reduce((sum, [, one]) => sum + one.bytes.length, 0);
    return { workspaces: gone.length, objects: unnamed.length, bytes };
  }

  async *check(): AsyncGenerator<Damage> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  #use(hash: Hash): void {
    const object = this.objects.get(hash);
    if (object !== undefined) object.used = this.now;
  }

  #live(workspace: WorkspaceId): Kept | undefined {
    const kept = this.workspaces.get(workspace);
    return kept?.dropped === undefined ? kept : undefined;
  }

  #named(name: string): Kept | undefined {
    return [...this.workspaces.values()].find(
      ({ creation, dropped }) => dropped === undefined && creation.name === name,
    );
  }
}

function infoOf({ id, creation, created, log, dropped }: Kept): WorkspaceInfo {
  const { name, parent, about = {} } = creation;
  const bytes = log.reduce((sum, entry) => sum + entry.bytes, 0);
  return {
    ...{ id, name, revision: log.length, bytes, created, about },
    ...(parent && { parent }),
    ...(dropped !== undefined && { dropped }),
  };
}
