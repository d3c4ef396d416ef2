// Workspaces in a directory: made, forked, compared, merged and dropped. A workspace exists from the moment that the
// store has its record; files without a record are what a dead process left, and are removed (collect.ts).
import { basename, join, resolve } from "node:path";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { WorkspaceId, WorkspaceInfo, WorkspaceStore } from "../store/store.ts";
import { makeDirectory } from "../workspace/commit/state.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { system } from "../workspace/errno.ts";
import { display, Handle } from "../workspace/handle.ts";
import { reserveIn } from "../workspace/reserved.ts";
import { type Access, isWithin } from "../workspace/root.ts";
import { claim, claimed } from "../workspace/system/claim.ts";
import { privatise } from "../workspace/tree/privatise.ts";
import { isRelated } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { Announcements } from "./announcements.ts";
import { type ForkLog, plainForkLog } from "./bases.ts";
import { Bindings } from "./bindings.ts";
import { type Chosen, chooseMethod } from "./copy-method.ts";
import { forkChanges } from "./difference.ts";
import { type ForkDifference, fileDifferences } from "./file-difference.ts";
import { type ForkOrigin, SnapshotOrigin } from "./fork-origin.ts";
import { makeForkTree } from "./fork-tree.ts";
import { type Layout, layoutAt, newId } from "./layout.ts";
import { dismantle, lastUsed, materialise, remount, type Source, touchUsed } from "./materialise.ts";
import { basesOf, type MergeResult, mergeFork, untilUndisturbed } from "./merge.ts";
import { aboutOf, type CopyMethod, type CreatorNotes, recordOf, type WorkspaceRecord } from "./record.ts";
import { Snapshots } from "./snapshots.ts";
import { Usage, type UsageLimits } from "./usage.ts";
import { checkName } from "./workspace-name.ts";

export interface WorkspacesConfiguration {
  readonly directory: string;
  readonly store: (path: string) => WorkspaceStore;
  /** Forks unused for this long are dropped; absent: never. */
  readonly unusedMs?: number | undefined;
  /** How much each workspace may hold of its own; absent: no limit. */
  readonly limits?: UsageLimits | undefined;
  /** For tests: a method that this machine can do besides the one it would choose. */
  readonly method?: CopyMethod | undefined;
}

export interface ListedWorkspace {
  readonly record: WorkspaceRecord;
  readonly baseName?: string;
  /** Bytes of its own, as last measured. */
  readonly size?: number;
  /** Milliseconds since 1970: when it was last used, and when it will be dropped, where that is soon. */
  readonly used: number;
  readonly expires?: number;
}

/** Opens the directories of a merge with this workspace's access and author. */
export type Opener = Pick<Workspace, "elsewhere">;

/** A directory of workspaces: adopt, create, fork, compare, merge, drop, restore. */
export class Workspaces implements AsyncDisposable {
  /** @internal */
  readonly layout: Layout;
  /** @internal */
  readonly snapshots: Snapshots;
  /** @internal */
  readonly usage: Usage;
  /** @internal */
  readonly announcements: Announcements;
  /** @internal */
  readonly store: WorkspaceStore;
  readonly unusedMs: number | undefined;
  readonly #method: CopyMethod | undefined;
  readonly #opening = new Set<string>();
  /** The directories of the bases that forks descend from, by their own. */
  readonly #originals = new Map<string, readonly string[]>();
  readonly #bindings: Bindings;
  #chosen: Promise<Chosen> | undefined;

  /** @internal */
  constructor({
    directory,
    store,
    method,
    unusedMs,
    limits = { maxBytes: 0, maxFiles: 0 },
  }: WorkspacesConfiguration) {
    this.unusedMs = unusedMs;
    makeDirectory(directory);
    using handle = system(directory, () => Handle.open(directory, { directory: true }));
    this.layout = layoutAt(display(handle.whereabouts()));
    this.store = store(this.layout.store);
    this.snapshots = new Snapshots(this.layout);
    this.#bindings = new Bindings(this.layout);
    this.usage = new Usage(this.layout, limits);
    this.announcements = new Announcements(this.layout);
    this.#method = method;
  }

  /** What is known about a workspace on this machine. */
  protected recordFrom(info: WorkspaceInfo): WorkspaceRecord {
    return recordOf(info, this.layout);
  }

  /** Whether other machines serve the same workspaces. */
  get isShared(): boolean {
    return false;
  }

  /** Tells in whose name the server itself writes. */
  attach(_host: Workspace): void {}

  /** Ends what is kept open for a workspace. */
  async release(_id: WorkspaceId): Promise<void> {}

  /** The same for one that nothing uses. It stays open where that would lose something, or `isIdle` says no by then. */
  async releaseIdle(_id: WorkspaceId, _isIdle: () => boolean): Promise<void> {}

  /** How events are written in the log of a fork. */
  protected get forkLog(): ForkLog {
    return plainForkLog;
  }

  /** In the order of names. */
  async list({ dropped = false } = {}): Promise<WorkspaceRecord[]> {
    return (await this.store.list({ dropped })).map(info => this.recordFrom(info));
  }

  /** Faults: `unknown_workspace`. */
  async find(name: string): Promise<WorkspaceRecord> {
    const info = await this.store.find(name);
    if (info !== undefined) return this.recordFrom(info);
    const names = (await this.store.list()).map(one => one.name);
    const nearest = names.filter(other => other.includes(name) || name.includes(other)).slice(0, 5);
    throw new Fault("unknown_workspace", { name, nearest: nearest.length > 0 ? nearest : names.slice(0, 5) });
  }

  /**
   * The workspace that a grant is for: the one that had the name when the grant was first used. Undefined if there is
   * none, or where that one was dropped, whatever has the name by now. @internal
   */
  async boundTo(grant: string, name: string): Promise<WorkspaceRecord | undefined> {
    const known = this.#bindings.get(grant, name);
    const id = known ?? (await this.store.find(name))?.id;
    if (id === undefined) return undefined;
    return await this.byId(known ?? (await this.#bindings.set(grant, name, id)));
  }

  /** Undefined if it does not exist, or was dropped. @internal */
  async byId(id: WorkspaceId): Promise<WorkspaceRecord | undefined> {
    const info = await this.store.info(id);
    return info === undefined || info.dropped !== undefined ? undefined : this.recordFrom(info);
  }

  /** The workspace that is served from a directory; undefined if none is. @internal */
  async servedFrom(root: string): Promise<WorkspaceRecord | undefined> {
    // The folder of a tree is named after its workspace.
    const [, name] = /\/([^/]+)-[0-9a-f]{16}\/tree$/.exec(root) ?? [];
    const info = name === undefined ? undefined : await this.store.find(name);
    const record = info && this.recordFrom(info);
    if (record?.root === root) return record;
    return (await this.list()).find(one => one.root === root);
  }

  /**
   * Whether a workspace is another one, or was forked from it, directly or not. `known` are records that need not be
   * looked up. @internal
   */
  async descends(
    record: WorkspaceRecord,
    from: WorkspaceRecord,
    known?: ReadonlyMap<WorkspaceId, WorkspaceRecord>,
  ): Promise<boolean> {
    for (let at: string | undefined = record.id; at !== undefined; ) {
      if (at === from.id) return true;
      const seen: WorkspaceRecord | undefined = known?.get(at);
      at = seen === undefined ? (await this.store.info(at))?.parent?.workspace : seen.base;
    }
    return false;
  }

  /** What a list shows, in the order of names. */
  async described(): Promise<ListedWorkspace[]> {
    const began = clock();
    const all = await this.list();
    const names = new Map(all.map(({ id, name }) => [id, name]));
    const now = Date.now();
    const used = new Map(all.map(record => [record, this.lastUsed(record) ?? now]));
    this.usage.refresh();
    const lastFirst = [...all].sort((a, b) => (used.get(b) ?? 0) - (used.get(a) ?? 0));
    const left = began + listMs - clock();
    await this.#measureSome(lastFirst, Math.max(leastMeasuringMs, Math.min(left, mostMeasuringMs)));
    return all.map(record => {
      const since = used.get(record) ?? now;
      const { tree = "" } = record;
      const expires =
        record.kind === "fork" && this.unusedMs !== undefined
          ? this.announcements.expiry(tree, since, this.unusedMs, now)
          : undefined;
      const size = this.usage.last(tree);
      const listed: { -readonly [K in keyof ListedWorkspace]: ListedWorkspace[K] } = { record, used: since };
      if (record.base !== undefined) listed.baseName = names.get(record.base) ?? record.base;
      if (size !== undefined) listed.size = size.bytes;
      if (expires !== undefined) listed.expires = expires;
      return listed;
    });
  }

  /** Measures forks by mounts, whose own files are few, for so many milliseconds. */
  async #measureSome(records: readonly WorkspaceRecord[], forMs: number): Promise<void> {
    const until = clock() + forMs;
    for (const { method, tree } of records) {
      if (clock() > until) return;
      if (method === "overlay" && tree !== undefined && !this.usage.isFresh(tree))
        await this.usage.measure(tree);
    }
  }

  /** When it was last used; undefined if that is not recorded. */
  lastUsed({ tree }: WorkspaceRecord): number | undefined {
    return tree === undefined ? undefined : lastUsed(this.layout, tree);
  }

  /** @internal */
  touch({ tree }: WorkspaceRecord): void {
    if (tree !== undefined) touchUsed(this.layout, tree);
  }

  /** How forks get their files on this machine. @internal */
  method(): Promise<Chosen> {
    this.#chosen ??= this.#choose();
    return this.#chosen;
  }

  async #choose(): Promise<Chosen> {
    if (this.#method !== undefined) return { method: this.#method, because: [] };
    const name = `probe-${newId()}`;
    using _ = claim(this.layout.claims, `tree-${name}`);
    return await chooseMethod(this.layout.trees, name);
  }

  /** An existing directory becomes a workspace, where it is. Its first snapshot is taken now, so that forks are quick. */
  async adopt(
    name: string,
    directory: string,
    owner: string,
    signal?: AbortSignal,
  ): Promise<WorkspaceRecord> {
    checkName(name);
    using handle = system(directory, () => Handle.open(resolve(directory)));
    if (!handle.stat().isDirectory()) throw new Fault("not_a_directory", { path: directory });
    const path = display(handle.whereabouts());
    this.#refuseNested(
      path,
      (await this.list()).filter(({ kind }) => kind === "adopted"),
    );
    const about: CreatorNotes = { kind: "adopted", method: "copy", owner, directory: path };
    const record = await this.#register({ name, about });
    try {
      (await this.snapshots.of(record, signal))[Symbol.dispose]();
      return record;
    } catch (error) {
      await this.store.drop(record.id);
      throw error;
    }
  }

  #refuseNested(path: string, adopted: readonly WorkspaceRecord[]): void {
    for (const other of [this.layout.path, ...adopted.map(({ root }) => root)]) {
      if (isRelated(path, other)) throw new Fault("nested_workspace", { path, other });
    }
  }

  /** An empty workspace, or one with a copy of a directory. */
  async create(
    name: string,
    from: string | undefined,
    owner: string,
    signal?: AbortSignal,
  ): Promise<WorkspaceRecord> {
    checkName(name);
    const source = from === undefined ? undefined : this.copied(from);
    return await this.#make(name, undefined, async tree => {
      await materialise(this.layout, tree, source, signal);
      return { about: { kind: "created", method: "copy", owner } };
    });
  }

  /** A directory that a workspace is to begin as. Faults: `not_a_directory`, `nested_workspace`. @internal */
  protected copied(from: string): Source {
    const directory = resolve(from);
    using handle = system(directory, () => Handle.open(directory));
    if (!handle.stat().isDirectory()) throw new Fault("not_a_directory", { path: directory });
    this.#refuseNested(display(handle.whereabouts()), []);
    reserveIn([directory]);
    return { directory, method: "copy" };
  }

  /** Faults: `workspace_exists`, `unknown_workspace`, `base_gone`, `base_changing`. */
  async fork(name: string, from: string, owner: string, signal?: AbortSignal): Promise<WorkspaceRecord> {
    checkName(name);
    if ((await this.store.find(name)) !== undefined) throw new Fault("workspace_exists", { name });
    const base = await this.find(from);
    await this.ready(base);
    const { method } = await this.method();
    return await this.#make(name, base, async tree => {
      const snapshot = await makeForkTree(this.layout, this.snapshots, base, { tree, method, signal });
      return { about: { kind: "fork", method, owner, snapshot: snapshot.id }, held: snapshot };
    });
  }

  /** `fill` makes `trees/<tree>`. What it holds is released once the workspace is registered. */
  async #make(
    name: string,
    base: WorkspaceRecord | undefined,
    fill: (tree: string) => Promise<{ readonly about: CreatorNotes; readonly held?: Disposable }>,
  ): Promise<WorkspaceRecord> {
    const tree = `${name}-${newId()}`;
    using _ = claim(this.layout.claims, `tree-${tree}`);
    try {
      const { about, held } = await fill(tree);
      using _ = held;
      const record = await this.#register({ name, about: { ...about, tree }, base });
      touchUsed(this.layout, tree);
      return record;
    } catch (error) {
      await dismantle(this.layout, tree);
      throw error;
    }
  }

  async #register(made: {
    readonly name: string;
    readonly about: CreatorNotes;
    readonly base?: WorkspaceRecord | undefined;
  }): Promise<WorkspaceRecord> {
    const { name, about, base } = made;
    const parent = base && { parent: { workspace: base.id, revision: base.revision } };
    const info = await this.store.create({ name, about: aboutOf(about), ...parent });
    if (info === "exists") throw new Fault("workspace_exists", { name });
    if (info === "no_parent") throw new Fault("base_gone", { name, base: base?.name ?? "" });
    return this.recordFrom(info);
  }

  /** The files of a workspace, in the name of the opener. The caller disposes of it. @internal */
  openTree({ root }: WorkspaceRecord, opener: Opener, access: Access): Workspace {
    this.#opening.add(root);
    try {
      return opener.elsewhere([{ path: root, access, standsFor: this.#originals.get(root) }]);
    } finally {
      this.#opening.delete(root);
    }
  }

  /** Whether a directory is being opened by `openTree`. @internal */
  isOpening(path: string): boolean {
    return this.#opening.has(path);
  }

  /** Makes the files of a workspace reachable. Faults: `base_gone` where its directory is not there. */
  async ready(record: WorkspaceRecord): Promise<void> {
    const { method, tree, snapshot, root, name } = record;
    await this.originalsOf(record);
    if (method === "overlay" && tree !== undefined && snapshot !== undefined)
      await remount(this.layout, tree, snapshot);
    if (sys.lstat(root)?.isDirectory() !== true) throw new Fault("base_gone", { name, base: root });
  }

  /** The directories that a fork is a copy of, directly or not: rules about them hold for it. */
  async originalsOf({ root, base }: WorkspaceRecord): Promise<readonly string[]> {
    const known = this.#originals.get(root);
    if (known !== undefined) return known;
    const found: string[] = [];
    for (let at = base; at !== undefined; ) {
      const info = await this.store.info(at);
      if (info !== undefined) found.push(this.recordFrom(info).root);
      at = info?.parent?.workspace;
    }
    this.#originals.set(root, found);
    return found;
  }

  /** The same for a server whose commands, or whose own writes, may go into files in place. */
  async readyForCommands(record: WorkspaceRecord, signal?: AbortSignal): Promise<void> {
    await this.ready(record);
    const { method, tree, root } = record;
    if (method !== "link" || tree === undefined) return;
    using _ = await claimed(this.layout.claims, `private-${tree}`, signal);
    const place = `${this.layout.trees}/${tree}`;
    if (sys.lstat(`${place}/private`) !== undefined) return;
    using handle = Handle.open(root, { directory: true });
    await privatise(handle, `${place}/scratch`, signal);
    sys.mkdir(`${place}/private`, 0o700);
  }

  /**
   * What a fork changed since it was made, or since it was last merged. Faults: `not_a_fork`.
   */
  async diff(
    record: WorkspaceRecord,
    opener: Opener,
    {
      signal,
      ...budget
    }: { readonly room?: number; readonly deleted?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<ForkDifference[]> {
    return await this.withTrees(record, opener, async trees => {
      const bases = await basesOf(trees, { store: this.store, log: this.forkLog });
      return await untilUndisturbed(async () =>
        fileDifferences(await forkChanges({ ...trees, bases, signal }), trees.fork, budget),
      );
    });
  }

  /** All of it or nothing. Faults: `merge_conflict`, `not_a_fork`, `base_gone`, and those of a commit. */
  async merge(
    record: WorkspaceRecord,
    opener: Opener,
    options: {
      readonly prefer?: "fork" | "base" | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<MergeResult> {
    using _ = await claimed(this.layout.claims, `merge-${record.id}`, options.signal);
    return await this.withTrees(record, opener, async ({ base, baseName, ...trees }) => {
      if (base === undefined) throw new Fault("base_gone", { name: record.name, base: baseName });
      return await mergeFork(
        { ...trees, base, signal: options.signal },
        { store: this.store, log: this.forkLog, baseName, prefer: options.prefer },
      );
    });
  }

  /** Opens what a comparison or a merge needs. Faults: `not_a_fork`, `base_gone`. */
  protected async withTrees<T>(
    record: WorkspaceRecord,
    opener: Opener,
    action: (trees: OpenTrees) => Promise<T>,
  ): Promise<T> {
    if (record.base === undefined || record.snapshot === undefined)
      throw new Fault("not_a_fork", { name: record.name });
    await this.ready(record);
    using held = await this.snapshots.hold(record.snapshot);
    if (held === undefined) throw new Fault("base_gone", { name: record.name, base: record.snapshot });
    using frozen = Handle.open(held.tree, { directory: true });
    const origin = new SnapshotOrigin(frozen, this.layout, record);
    return await this.withOrigin(record, opener, origin, action);
  }

  protected async withOrigin<T>(
    record: WorkspaceRecord,
    opener: Opener,
    origin: ForkOrigin,
    action: (trees: OpenTrees) => Promise<T>,
  ): Promise<T> {
    using fork = this.openTree(record, opener, "read-only");
    const info = record.base === undefined ? undefined : await this.store.info(record.base);
    const base = info?.dropped === undefined && info ? this.recordFrom(info) : undefined;
    const there = base && (await this.ready(base).then(() => true, unlessGone));
    using live = base && there ? this.openTree(base, opener, "read-write") : undefined;
    const baseName = info?.name ?? record.base ?? "";
    try {
      return await action({ record, origin, fork, base: live, baseName });
    } catch (error) {
      throw fromRoot(error, [record.root, ...(base ? [base.root] : [])]);
    }
  }

  /** Before a change or a command: a server may not know yet that its workspace is gone. Faults: `workspace_dropped`. */
  refuseUnusable({ roots: [root] }: Workspace): void {
    const place = root === undefined ? undefined : placeOf(root.path, this.layout);
    if (place !== undefined && sys.lstat(join(place, droppedMark)) !== undefined)
      throw new Fault("workspace_dropped", { name: basename(place).replace(/-[0-9a-f]{16}$/, "") });
  }

  /** It can be restored until it is collected. Faults: `has_forks`. */
  async drop(record: WorkspaceRecord): Promise<void> {
    const forks = (await this.list()).filter(({ base }) => base === record.id).map(({ name }) => name);
    if (forks.length > 0) throw new Fault("has_forks", { name: record.name, forks });
    await this.store.drop(record.id);
    this.markDropped(record);
  }

  /** Tells every process that serves the files of a workspace. */
  markDropped({ root }: WorkspaceRecord): void {
    const place = placeOf(root, this.layout);
    if (place !== undefined && sys.lstat(place) !== undefined) makeDirectory(join(place, droppedMark));
  }

  /** Takes back a drop: of this id, or the latest of this name. Faults: `unknown_workspace`, `workspace_exists`. */
  async restore(nameOrId: string): Promise<WorkspaceRecord> {
    const dropped = await this.list({ dropped: true });
    const all = dropped.filter(record => record.name === nameOrId);
    const latest =
      dropped.find(record => record.id === nameOrId) ??
      all.sort((a, b) => (b.dropped ?? 0) - (a.dropped ?? 0))[0];
    if (latest === undefined) throw new Fault("unknown_workspace", { name: nameOrId });
    const { name } = latest;
    const result = await this.store.restore(latest.id);
    if (result === "exists") throw new Fault("workspace_exists", { name });
    if (result === "gone") throw new Fault("unknown_workspace", { name });
    const place = placeOf(latest.root, this.layout);
    if (place !== undefined && sys.lstat(join(place, droppedMark)) !== undefined)
      sys.rmdir(join(place, droppedMark));
    this.touch(latest);
    return await this.find(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
  }
}

interface OpenTrees {
  readonly record: WorkspaceRecord;
  readonly origin: ForkOrigin;
  readonly fork: Workspace;
  readonly base: Workspace | undefined;
  readonly baseName: string;
}

/** In the folder of a tree: its workspace was dropped. */
const droppedMark = "dropped";

/** The folder that holds a tree; undefined for a directory that was adopted. */
function placeOf(root: string, { trees }: Layout): string | undefined {
  return isWithin(root, trees) ? join(trees, root.slice(trees.length + 1).split("/")[0] ?? "") : undefined;
}

/** Looking at sizes takes what is left of this time, between the least and the most. */
const listMs = 40;
const [leastMeasuringMs, mostMeasuringMs] = [2, 10];

/** The caller sees only one of two trees: a failure names a path from the root, not where a tree is on this machine. */
function fromRoot(error: unknown, roots: readonly string[]): unknown {
  if (!(error instanceof Fault) || !("path" in error.data) || typeof error.data.path !== "string")
    return error;
  const { path } = error.data;
  const root = roots.find(one => path !== one && isWithin(path, one));
  if (root === undefined) return error;
  return new Fault(error.code, { ...error.data, path: path.slice(root.length + 1) }, { cause: error });
}

function unlessGone(error: unknown): false {
  if (Fault.is(error, "base_gone")) return false;
  throw error;
}
