// The store in a directory: for one machine, or for several that mount the same file system with working link(2). Any
// number of processes may use it at the same time, without locks. An append is visible when its bytes are flushed.
import { Fault } from "../../fault.ts";
import { Objects } from "../../workspace/archive/objects.ts";
import { UnflushedFiles } from "../../workspace/archive/unflushed.ts";
import { errnoOf, errnoWords, faultOf } from "../../workspace/errno.ts";
import { TimeSlice } from "../../workspace/footprint/time-slice.ts";
import { NamedObjects } from "../named-objects.ts";
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
} from "../store.ts";
import { checkStore } from "./check.ts";
import { collect } from "./collect.ts";
import { Registry } from "./registry.ts";

export class DirectoryStore implements WorkspaceStore {
  readonly #registry: Registry;
  readonly #objects: Objects;
  readonly #unflushed: UnflushedFiles;
  readonly #named: NamedObjects;
  readonly #listeners = new Set<(workspace: WorkspaceId, revision: Revision) => void>();

  /** Makes the directory where it is missing; the one above it must exist. */
  constructor(path: string) {
    this.#registry = guardedNow(() => new Registry(path), path);
    this.#unflushed = new UnflushedFiles(path);
    this.#objects = new Objects(path, () => {}, this.#unflushed);
    this.#named = new NamedObjects({
      entries: (workspace, after, limit) => this.entries(workspace, after, limit),
      parentOf: async workspace => this.#registry.info(workspace)?.parent,
    });
  }

  /** Whether there is one in this directory. */
  static isAt(path: string): boolean {
    return guardedNow(() => Registry.isAt(path), path);
  }

  has(hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    return guarded(async () => {
      const there = new Set<Hash>();
      const slice = new TimeSlice();
      for (const hash of hashes) {
        if (this.#objects.has(hash)) there.add(hash);
        if (slice.isOver) await slice.turn();
      }
      return there;
    });
  }

  put(objects: readonly StoredObject[]): Promise<void> {
    return guarded(async () => {
      for (const [hash, bytes] of objects) {
        if (!this.#objects.isHash(hash, bytes)) throw invalid(hash);
        await this.#objects.putLater(bytes);
      }
      await this.#unflushed.flush();
    });
  }

  get(workspace: WorkspaceId, hash: Hash): Promise<Uint8Array | undefined> {
    return guarded(async () =>
      (await this.#named.reaches(workspace, hash)) ? this.#objects.get(hash) : undefined,
    );
  }

  create(creation: Creation): Promise<WorkspaceInfo | "exists" | "no_parent"> {
    return guarded(() => this.#registry.create(creation));
  }

  find(name: string): Promise<WorkspaceInfo | undefined> {
    return guarded(async () => this.#registry.find(name));
  }

  info(workspace: WorkspaceId): Promise<WorkspaceInfo | undefined> {
    return guarded(async () => this.#registry.info(workspace));
  }

  list({ dropped = false } = {}): Promise<readonly WorkspaceInfo[]> {
    return guarded(async () => {
      const found: WorkspaceInfo[] = [];
      const slice = new TimeSlice();
      for (const info of this.#registry.listed(dropped)) {
        if (info !== undefined) found.push(info);
        if (slice.isOver) await slice.turn();
      }
      return found.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
    });
  }

  drop(workspace: WorkspaceId): Promise<boolean> {
    return guarded(() => this.#registry.drop(workspace));
  }

  restore(workspace: WorkspaceId): Promise<"restored" | "exists" | "gone"> {
    return guarded(() => this.#registry.restore(workspace));
  }

  append(
    workspace: WorkspaceId,
    expected: Revision,
    entry: Entry,
    { objects = [], maxBytes = Number.POSITIVE_INFINITY, after }: AppendOptions = {},
  ): Promise<Appended> {
    return guarded(async () => {
      const info = this.#registry.info(workspace);
      if (info === undefined || info.dropped !== undefined) return { result: "gone" };
      const log = this.#registry.log(workspace);
      const isThere = () => log.revision > expected && log.read(expected + 1).id === entry.id;
      const appended: Appended = { result: "appended", revision: expected + 1 };
      if (info.revision !== expected) return isThere() ? appended : { result: "stale" };
      if (after !== undefined && log.read(expected).id !== after) return { result: "stale" };
      if (info.bytes + entry.bytes > maxBytes) return { result: "over_quota" };
      await this.put(objects);
      if (!entry.objects.every(hash => this.#objects.has(hash))) return { result: "missing_objects" };
      await this.#unflushed.flush(); // another process may have put some and not flushed them yet
      if (!(await log.append(expected + 1, entry))) return isThere() ? appended : { result: "stale" };
      for (const listener of this.#listeners) listener(workspace, expected + 1);
      return appended;
    });
  }

  entries(workspace: WorkspaceId, after: Revision, limit: number): Promise<readonly LogEntry[]> {
    return guarded(async () => {
      const log = this.#registry.log(workspace);
      const last = Math.min(log.revision, after + limit);
      const entries: LogEntry[] = [];
      const slice = new TimeSlice();
      for (let revision = after + 1; revision <= last; revision++) {
        entries.push(log.read(revision));
        if (slice.isOver) await slice.turn();
      }
      return entries;
    });
  }

  /** Only in this process; others are asked at the next read. */
  changed(listener: (workspace: WorkspaceId, revision: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  collect(options: CollectOptions): Promise<Collected> {
    return guarded(() => collect(this.#registry, this.#objects, options));
  }

  check(): AsyncIterable<Damage> {
    return checkStore(this.#registry, this.#objects);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
  }
}

function invalid(hash: Hash): Fault {
  return new Fault("store_unavailable", {
    reason: "invalid",
    detail: `${hash} is not the hash of its bytes`,
  });
}

async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw failureOf(error);
  }
}

function guardedNow<T>(action: () => T, path: string): T {
  try {
    return action();
  } catch (error) {
    throw failureOf(error, path);
  }
}

/** What the system says about the directory, as a failure of the store. `path` names it where it may be mistyped. */
function failureOf(error: unknown, path?: string): unknown {
  const fault = faultOf(error, "the store");
  if (!(fault instanceof Fault) || fault.code === "store_unavailable") return fault;
  const reasons = { permission_denied: "rights", read_only: "read_only", no_space: "full" } as const;
  const reason = fault.code in reasons ? reasons[fault.code as keyof typeof reasons] : "unreachable";
  const errno = errnoOf(error);
  const words = errno !== undefined ? errnoWords(errno) : error instanceof Error ? error.message : "";
  const detail = path === undefined ? words : `${words}: ${path}`;
  return new Fault("store_unavailable", { reason, detail }, { cause: error });
}
