// Workspaces that servers on several machines share. The store has their names, logs and contents; each machine has
// copies of those that were used on it, made when they are first used. A fork is one row in the store.
import { join } from "node:path";
import { Fault } from "../fault.ts";
import type { EntryBody } from "../replica/entry-body.ts";
import { openReplica } from "../replica/open-replica.ts";
import { entriesSince, readOrigin, writtenPaths } from "../replica/read-log.ts";
import type { Replica } from "../replica/replica.ts";
import type { ReplicaOptions } from "../replica/replica-options.ts";
import type { WorkspaceId, WorkspaceInfo, WorkspaceStore } from "../store/store.ts";
import { contentAt } from "../workspace/disk/if-there.ts";
import { isWithin } from "../workspace/root.ts";
import { claimed } from "../workspace/system/claim.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ForkEvent, ForkLog } from "./bases.ts";
import { LogOrigin } from "./fork-origin.ts";
import { newId } from "./layout.ts";
import { dismantle, materialise, type Source, touchUsed } from "./materialise.ts";
import { aboutOf, type CopyMethod, sharedRecordOf, type WorkspaceRecord } from "./record.ts";
import { checkName } from "./workspace-name.ts";
import { type Opener, Workspaces, type WorkspacesConfiguration } from "./workspaces.ts";

export interface SharedWorkspacesConfiguration extends Omit<WorkspacesConfiguration, "store" | "unusedMs"> {
  readonly store: WorkspaceStore;
  readonly replica?: ReplicaOptions | undefined;
}

/** How the copy of a workspace was made here. */
interface LocalTree {
  readonly method: CopyMethod;
  readonly snapshot?: string;
}

const madeFile = "made";

export class SharedWorkspaces extends Workspaces {
  readonly #replicas = new Map<WorkspaceId, Promise<Replica>>();
  /** A directory has one replica at a time: the next one waits until the last one has ended. */
  readonly #ending = new Map<WorkspaceId, Promise<void>>();
  readonly #replicaOptions: ReplicaOptions;
  #host: Workspace | undefined;

  constructor({ store, replica = {}, ...options }: SharedWorkspacesConfiguration) {
    // When a workspace was last used is known to each machine for itself, so none is dropped for its age.
    super({ ...options, store: () => store, unusedMs: undefined });
    this.#replicaOptions = replica;
  }

  override get isShared(): boolean {
    return true;
  }

  /** In whose name copies are kept up to date: the server's. */
  override attach(host: Workspace): void {
    this.#host = host;
  }

  protected override get forkLog(): ForkLog {
    return sharedForkLog;
  }

  protected override recordFrom(info: WorkspaceInfo): WorkspaceRecord {
    const record = sharedRecordOf(info, this.layout);
    const local = this.#local(record);
    return local === undefined ? record : { ...record, ...local };
  }

  #local({ tree = "" }: WorkspaceRecord): LocalTree | undefined {
    const text = contentAt(join(this.layout.trees, tree, madeFile), 1000)?.toString("utf8");
    return text === undefined ? undefined : (JSON.parse(text) as LocalTree);
  }

  override adopt(): Promise<WorkspaceRecord> {
    const what = "a directory cannot be adopted into a shared store, only copied: create a workspace from it";
    return Promise.reject(new Fault("denied", { what }));
  }

  override async create(
    name: string,
    from: string | undefined,
    owner: string,
    signal?: AbortSignal,
  ): Promise<WorkspaceRecord> {
    checkName(name);
    if ((await this.store.find(name)) !== undefined) throw new Fault("workspace_exists", { name });
    const source = from === undefined ? undefined : this.copied(from);
    const tree = `${name}-${newId()}`;
    using _ = await claimed(this.layout.claims, `tree-${tree}`, signal);
    await this.#makeTree(tree, source, signal);
    const about = aboutOf({ kind: "created", method: "copy", owner, tree });
    const info = await this.store.create({ name, about });
    if (typeof info === "string") {
      await dismantle(this.layout, tree);
      throw new Fault("workspace_exists", { name });
    }
    const record = this.recordFrom(info);
    const replica = this.#open(record, info);
    this.#replicas.set(info.id, replica);
    try {
      await replica;
      return record;
    } catch (error) {
      this.#replicas.delete(info.id);
      await this.store.drop(info.id);
      throw error;
    }
  }

  override async fork(name: string, from: string, owner: string): Promise<WorkspaceRecord> {
    checkName(name);
    const base = await this.find(from);
    // Changes acknowledged here are part of the fork.
    await (await this.#replicas.get(base.id))?.sent();
    const revision = (await this.store.info(base.id))?.revision ?? base.revision;
    const about = aboutOf({ kind: "fork", method: "copy", owner, tree: `${name}-${newId()}` });
    const info = await this.store.create({ name, about, parent: { workspace: base.id, revision } });
    if (info === "exists") throw new Fault("workspace_exists", { name });
    if (info === "no_parent") throw new Fault("base_gone", { name, base: base.name });
    return this.recordFrom(info);
  }

  /** Makes the copy of this machine where there is none, and brings it up to date. */
  override async ready(record: WorkspaceRecord): Promise<void> {
    const open = this.#replicas.get(record.id);
    if (open !== undefined) return void (await open);
    await this.#materialised(record);
    if (this.#host === undefined) return;
    await this.#replica(record);
  }

  #replica(record: WorkspaceRecord): Promise<Replica> {
    const known = this.#replicas.get(record.id);
    if (known !== undefined) return known;
    const ended = this.#ending.get(record.id) ?? Promise.resolve();
    const opening = ended.then(() => this.#open(record));
    this.#replicas.set(record.id, opening);
    opening.catch(() => this.#replicas.delete(record.id));
    return opening;
  }

  async #open(given: WorkspaceRecord, created?: WorkspaceInfo): Promise<Replica> {
    if (this.#host === undefined) throw new Error("not attached");
    const record = { ...given, ...this.#local(given) };
    await super.ready(record);
    const workspace = this.openTree(record, this.#host, "read-write");
    try {
      const { store } = this;
      const { id, name } = record;
      return await openReplica({ ...this.#replicaOptions, store, name, id, workspace, created, isOwn: true });
    } finally {
      workspace[Symbol.dispose]();
    }
  }

  /** The files of a fork begin as those of its base here, so that little has to be fetched. */
  async #materialised(record: WorkspaceRecord): Promise<void> {
    const { tree = "", base } = record;
    if (this.#local(record) !== undefined) return;
    using _ = await claimed(this.layout.claims, `tree-${tree}`);
    if (this.#local(record) !== undefined) return;
    await dismantle(this.layout, tree);
    const info = base === undefined ? undefined : await this.store.info(base);
    if (info === undefined || info.dropped !== undefined) return await this.#makeTree(tree, undefined);
    const origin = this.recordFrom(info);
    await this.ready(origin);
    await (await this.#replicas.get(origin.id))?.refresh("writes"); // has every file then
    const [{ method }, snapshot] = await Promise.all([this.method(), this.snapshots.of(origin)]);
    using held = snapshot;
    await this.#makeTree(tree, { directory: held.tree, method, snapshot: held.id });
  }

  async #makeTree(tree: string, source: Source | undefined, signal?: AbortSignal): Promise<void> {
    try {
      await materialise(this.layout, tree, source, signal);
      const { method = "copy", snapshot } = source ?? {};
      const made: LocalTree = { method, ...(snapshot !== undefined && { snapshot }) };
      writeNamedFile(join(this.layout.trees, tree, madeFile), JSON.stringify(made));
      touchUsed(this.layout, tree);
    } catch (error) {
      await dismantle(this.layout, tree);
      throw error;
    }
  }

  protected override async withTrees<T>(
    record: WorkspaceRecord,
    opener: Opener,
    action: Parameters<Workspaces["withOrigin"]>[3],
  ): Promise<T> {
    const { parent } = (await this.store.info(record.id)) ?? {};
    if (parent === undefined) throw new Fault("not_a_fork", { name: record.name });
    await this.ready(record);
    const replica = await this.#replica(record);
    await replica.refresh("writes");
    const base = await this.#baseReplica(parent.workspace);
    await base?.refresh("writes");
    const origin = await readOrigin(this.store, parent);
    const states = { origin, fork: replica.state, base: base?.state };
    const log = new LogOrigin(states, hash => replica.content(hash), {
      writtenInFork: () => writtenPaths(this.store, record.id),
      entriesOfBase: () => entriesSince(this.store, parent),
    });
    return (await this.withOrigin(record, opener, log, action)) as T;
  }

  async #baseReplica(id: WorkspaceId): Promise<Replica | undefined> {
    const info = await this.store.info(id);
    if (info === undefined || info.dropped !== undefined) return undefined;
    const record = this.recordFrom(info);
    await this.ready(record);
    return await this.#replica(record);
  }

  /** A copy that is not kept up to date must not be written to: no other server would see the change. */
  override refuseUnusable(workspace: Workspace): void {
    super.refuseUnusable(workspace);
    const path = workspace.roots[0]?.path ?? "";
    if (isWithin(path, this.layout.trees) && workspace.replication === undefined)
      throw new Fault("store_unavailable", { reason: "invalid", detail: "this copy is not connected to it" });
  }

  override async drop(record: WorkspaceRecord): Promise<void> {
    await super.drop(record);
    await this.release(record.id);
  }

  /** Ends what keeps a copy up to date. The next use begins it again. */
  override async release(id: WorkspaceId): Promise<void> {
    const open = this.#replicas.get(id);
    this.#replicas.delete(id);
    if (open === undefined) return await this.#ending.get(id);
    const ending = open.then(
      replica => replica[Symbol.asyncDispose](),
      () => {},
    );
    this.#ending.set(id, ending);
    try {
      await ending;
    } finally {
      this.#ending.delete(id);
    }
  }

  /** Changes of background commands are published first: the next replica resets the copy to the log. */
  override async releaseIdle(id: WorkspaceId, isIdle: () => boolean): Promise<void> {
    const replica = await this.#replicas.get(id)?.catch(() => undefined);
    if (replica === undefined) return;
    try {
      await replica.publishChanges({ action: "run", client: "" });
    } catch (error) {
      if (error instanceof Fault) return; // the store cannot be reached: it stays open
      throw error;
    }
    if (isIdle()) await this.release(id);
  }

  /** Writes for callers continue until here, so they are sent before the server ends. */
  override async [Symbol.asyncDispose](): Promise<void> {
    for (const id of [...this.#replicas.keys()]) await this.release(id);
    await super[Symbol.asyncDispose]();
  }
}

/** Events are entries that change no file. */
const sharedForkLog: ForkLog = {
  print(event) {
    const by = { action: "workspace", client: "" };
    const body: EntryBody & { fork: ForkEvent } = {
      ...{ format: 1, time: Date.now(), by, operations: [] },
      fork: event,
    };
    return JSON.stringify(body);
  },
  parse: body => (JSON.parse(body) as { readonly fork?: ForkEvent }).fork,
};
