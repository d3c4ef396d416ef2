// What a fork began as: a snapshot on this machine, or a revision of its base in a shared store.
import { join } from "node:path";
import type { Kind } from "../fault.ts";
import { once } from "../once.ts";
import type { DirectoryNode, Node, TreeState } from "../replica/tree-state.ts";
import { listStart } from "../workspace/archive/log.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { addressOf } from "../workspace/footprint/raw-names.ts";
import { bytesOf, display, type Handle } from "../workspace/handle.ts";
import { type Pair, type TreeDifference, treeDifference } from "../workspace/tree/tree-difference.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Layout } from "./layout.ts";
import { type BaseEntry, type BaseWrites, changedSince, LocalWrites, LogWrites } from "./masked-writes.ts";
import { FrozenView, LiveView, type SideAtPath, type TreeView } from "./merge-side.ts";
import type { WorkspaceRecord } from "./record.ts";

/** What is not looked at: a path with its bytes as Latin-1, and whether it was there before. */
export type SkipPath = (path: string, kind: Kind, existed: boolean) => boolean;

export interface ForkOrigin {
  readonly view: TreeView;
  /**
   * The paths that differ in the fork, in written form. A masked file differs if the fork has written it, whatever it
   * wrote. Comparing contents would tell a caller whether a guess of the hidden value is right.
   */
  changedIn(fork: Workspace, skip: SkipPath, signal?: AbortSignal): Promise<readonly string[]>;
  /** The paths that the base has now and had not, in written form. */
  appearedIn(base: Workspace, signal?: AbortSignal): Promise<readonly string[]>;
  /** The paths that the base had and has not. */
  goneFrom(base: Workspace, signal?: AbortSignal): Promise<readonly string[]>;
  /** The files of the base that it has written since, or exchanged. */
  rewrittenIn(base: Workspace, signal?: AbortSignal): Promise<readonly string[]>;
  writesIn(base: Workspace): Promise<BaseWrites>;
}

/** A frozen tree, and how the fork was copied from it. */
export class SnapshotOrigin implements ForkOrigin {
  readonly view: TreeView;
  readonly #frozen: Handle;
  readonly #layout: Layout;
  readonly #record: WorkspaceRecord;

  constructor(frozen: Handle, layout: Layout, record: WorkspaceRecord) {
    this.view = new FrozenView(frozen);
    this.#frozen = frozen;
    this.#layout = layout;
    this.#record = record;
  }

  async changedIn(fork: Workspace, skip: SkipPath, signal?: AbortSignal): Promise<readonly string[]> {
    const [root] = fork.roots;
    if (root === undefined) return [];
    const untouched = untouchedIn(this.#layout, this.#record);
    const view = new LiveView(fork);
    if (fork.hasRules) await fork.allRecorded();
    const isChanged = once(() => changedSince(fork, listStart(undefined, this.#record.created)));
    const isRewritten = (pair: Pair) => {
      const path = display(pair.path);
      if (view.isShownWhole(path)) return undefined;
      return isChanged()(view.pathOf(path).absolute) || !hasTimeOfBase(pair) ? true : undefined;
    };
    const found = await treeDifference(this.#frozen, root.handle, { untouched, skip, isRewritten, signal });
    return found.map(({ path }) => display(path));
  }

  async appearedIn(base: Workspace, signal?: AbortSignal): Promise<readonly string[]> {
    return await this.#changedNames(base, ({ before }) => before === undefined, signal);
  }

  async goneFrom(base: Workspace, signal?: AbortSignal): Promise<readonly string[]> {
    return await this.#changedNames(base, ({ after }) => after === undefined, signal);
  }

  async rewrittenIn(base: Workspace, signal?: AbortSignal): Promise<readonly string[]> {
    const isSameFile = ({ before, after }: Pair) =>
      before.size === after.size && isUntouchedSince(this.#record.created, after);
    return await this.#changedNames(base, ({ before, after }) => areFiles(before, after), signal, isSameFile);
  }

  async writesIn(base: Workspace): Promise<BaseWrites> {
    await base.allRecorded();
    return new LocalWrites(this.view, base, this.#record.created);
  }

  async #changedNames(
    base: Workspace,
    isWanted: (difference: TreeDifference) => boolean,
    signal: AbortSignal | undefined,
    isSameFile: (pair: Pair) => boolean = () => true,
  ): Promise<readonly string[]> {
    const [root] = base.roots;
    if (root === undefined) return [];
    const differences = await treeDifference(this.#frozen, root.handle, {
      untouched: pair =>
        pair.before.kind !== "directory" && pair.after.kind !== "directory" && isSameFile(pair),
      skip: path => path === ".git" || path.endsWith("/.git") || path.endsWith("node_modules"),
      signal,
    });
    return differences.filter(isWanted).map(({ path }) => display(path));
  }
}

function areFiles(...entries: readonly ({ readonly kind: Kind } | undefined)[]): boolean {
  return entries.every(entry => entry?.kind === "file");
}

/** How the copy method knows that a file is still the base's, without reading it. */
function untouchedIn(layout: Layout, record: WorkspaceRecord): (pair: Pair) => boolean {
  const { method, tree = "", created } = record;
  switch (method) {
    case "overlay": {
      const upper = join(layout.trees, tree, "upper");
      // A file that was never written is not in the upper layer, and has the inode of the lower one.
      return ({ path, before, after }) =>
        before.inode === after.inode &&
        before.kind === after.kind &&
        sys.lstat(below(upper, path)) === undefined;
    }
    case "link":
      return ({ before, after }) =>
        after.kind === "file" && before.inode === after.inode && before.device === after.device;
    case "reflink":
    case "copy": {
      return ({ before, after }) =>
        after.kind === "file" &&
        before.kind === "file" &&
        before.size === after.size &&
        before.mode === after.mode &&
        before.modified / 1_000_000n === after.modified / 1_000_000n &&
        isUntouchedSince(created, after);
    }
  }
}

/** Copies get the time of the base in floating point, which may differ a little. What a tool writes has a new one. */
function hasTimeOfBase({ before, after }: Pair): boolean {
  const apart = before.modified - after.modified;
  return apart > -1_000_000n && apart < 1_000_000n;
}

/** Copies have the times of modification of what they were made of. What is written or moved has a later time of change. */
function isUntouchedSince(time: number, { changed }: Pair["after"]): boolean {
  return changed < BigInt(time - coarseClockMs) * 1_000_000n;
}

/** File systems take their times from a clock that ticks this slowly. */
const coarseClockMs = 50;

function below(directory: string, path: string): string | Buffer {
  const address = addressOf(path);
  return typeof address === "string"
    ? `${directory}/${address}`
    : Buffer.concat([Buffer.from(`${bytesOf(directory)}/`, "latin1"), address]);
}

export interface OriginLogs {
  /** The paths that the fork's own entries name. */
  writtenInFork(): Promise<ReadonlySet<string>>;
  /** The entries of the base since the fork was made. */
  entriesOfBase(): Promise<Iterable<BaseEntry>>;
}

/** A revision of the base, known from the log. */
export class LogOrigin implements ForkOrigin {
  readonly view: TreeView;
  readonly #origin: TreeState;
  readonly #fork: TreeState;
  readonly #base: TreeState | undefined;
  readonly #logs: OriginLogs;

  constructor(
    states: { readonly origin: TreeState; readonly fork: TreeState; readonly base: TreeState | undefined },
    content: (hash: string) => Promise<Uint8Array>,
    logs: OriginLogs,
  ) {
    this.#logs = logs;
    this.#origin = states.origin;
    this.#fork = states.fork;
    this.#base = states.base;
    this.view = { at: path => sideOf(states.origin.get(path), content) };
  }

  async changedIn(fork: Workspace, skip: SkipPath): Promise<readonly string[]> {
    const found = new Set(different(this.#origin.root, this.#fork.root, skip));
    if (!fork.hasRules) return [...found];
    const view = new LiveView(fork);
    for (const path of await this.#logs.writtenInFork()) {
      const isFile = [this.#origin, this.#fork].every(state => state.get(path)?.kind === "file");
      if (isFile && !view.isShownWhole(path) && !skip(bytesOf(path), "file", true)) found.add(path);
    }
    return [...found];
  }

  async appearedIn(): Promise<readonly string[]> {
    return this.#changedNames(path => this.#origin.get(path) === undefined);
  }

  async goneFrom(): Promise<readonly string[]> {
    return this.#changedNames(path => this.#base?.get(path) === undefined);
  }

  async rewrittenIn(): Promise<readonly string[]> {
    return this.#changedNames(path => areFiles(this.#origin.get(path), this.#base?.get(path)));
  }

  async writesIn(base: Workspace): Promise<BaseWrites> {
    return new LogWrites(base.hasRules ? await this.#logs.entriesOfBase() : []);
  }

  #changedNames(isWanted: (path: string) => boolean): readonly string[] {
    if (this.#base === undefined) return [];
    return [...different(this.#origin.root, this.#base.root, () => false)].filter(isWanted);
  }
}

function sideOf(
  node: Node | undefined,
  content: (hash: string) => Promise<Uint8Array>,
): SideAtPath | undefined {
  switch (node?.kind) {
    case undefined:
      return undefined;
    case "symlink":
      return { kind: "symlink", mode: 0o777, target: node.target, bytes: async () => Buffer.alloc(0) };
    case "directory":
      return { kind: "directory", mode: node.mode, bytes: async () => Buffer.alloc(0) };
    case "file":
      return { kind: "file", mode: node.mode, bytes: async () => Buffer.from(await content(node.hash)) };
  }
}

/** A directory comes before what is in it. */
function* different(
  before: DirectoryNode | undefined,
  after: DirectoryNode | undefined,
  skip: SkipPath,
  at = "",
): Generator<string> {
  for (const name of new Set([...(before?.children.keys() ?? []), ...(after?.children.keys() ?? [])])) {
    const [old, now] = [before?.children.get(name), after?.children.get(name)];
    const path = at === "" ? name : `${at}/${name}`;
    const kind = (now ?? old)?.kind ?? "file";
    if (isSame(old, now) || skip(bytesOf(path), kind, old !== undefined)) continue;
    if (old?.kind !== "directory" || now?.kind !== "directory" || old.mode !== now.mode) yield path;
    if (old?.kind === "directory" || now?.kind === "directory")
      yield* different(directory(old), directory(now), skip, path);
  }
}

function directory(node: Node | undefined): DirectoryNode | undefined {
  return node?.kind === "directory" ? node : undefined;
}

/** Without looking into directories. */
function isSame(a: Node | undefined, b: Node | undefined): boolean {
  if (a === b) return true;
  if (a?.kind === "file" && b?.kind === "file") return a.hash === b.hash && a.mode === b.mode;
  return a?.kind === "symlink" && b?.kind === "symlink" && a.target === b.target;
}
