// What the user granted, as an object: the holder of a Workspace can reach its roots and nothing else. Every path is
// resolved and opened in one race-free step (resolve.ts); nothing is checked first and opened later. Not guaranteed:
// on Windows the step is open-then-verify, and a file that another process moves *into* a root is in the root.

import { Fault } from "../fault.ts";
import { type Allowed, isAllowed } from "../policy/approval.ts";
import { Archive } from "./archive/archive.ts";
import { makeDirectory } from "./archive/folder.ts";
import type { By } from "./archive/log.ts";
import type { Change, Commit, CommitListener, CommitOptions, Current } from "./commit/change.ts";
import { Committer } from "./commit/commit.ts";
import type { CopyAttributes } from "./commit/copy-attributes.ts";
import type { Replication } from "./commit/publication.ts";
import { removeWithoutRoom } from "./commit/remove-without-journal.ts";
import { isBusyOpen, retryWhileBusy } from "./commit/retry-busy-file.ts";
import { refuseRevealing } from "./commit/rule-check.ts";
import { refuseStateIn } from "./commit/state-in-root.ts";
import { statePath, type TemporaryState, temporaryState } from "./commit/state-path.ts";
import { type Attendance, attendanceAt, openedStore, openStore } from "./commit/store.ts";
import { othersOver, othersRecorded } from "./commit/unrecorded-commits.ts";
import { isConcealed } from "./concealed.ts";
import { Directory } from "./directory.ts";
import { EngineCaches } from "./engine-caches.ts";
import { stateDirectory, system } from "./errno.ts";
import { OpenFile, openedAgain } from "./file.ts";
import { ownDirectories } from "./footprint/own-directories.ts";
import { announceCommand, announceSandbox, type RunningCommand } from "./footprint/running-commands.ts";
import { type Grant, openRoots, partOf, refuseDecidingFiles, rootAt } from "./grant.ts";
import { display, Handle } from "./handle.ts";
import { statShown } from "./masked-file.ts";
import { written } from "./name.ts";
import { narrow } from "./narrow.ts";
import { type PathForms, parsePath, type WorkspacePath } from "./path.ts";
import { RecentContents } from "./recent-contents.ts";
import { resolveEntry, resolveExisting, resolvePath } from "./resolve.ts";
import { type Access, isWithin, type Root, under } from "./root.ts";
import { type PolicySource, Rules } from "./rules.ts";
import type { Stat } from "./stat.ts";
import { readlinkSync } from "./system/calls.ts";

export interface WritingOptions {
  /** For a command that reads and exits: no directory is made in what it opens (reserved.ts). */
  readonly onlyLooks?: boolean | undefined;
  /** Where journals and locks are kept. Default: `POLYFS_STATE_DIR`, or the user's state directory. */
  readonly state?: string | undefined;
  /** Copies extended attributes and ACLs to the new content of a file; without it they are lost. */
  readonly copyAttributes?: CopyAttributes | undefined;
  /** Lets commits remove and replace what undo could not restore. */
  readonly allowIrrevocable?: boolean | undefined;
  /** Lets `elsewhere` open any directory with this access. Default: it opens none. */
  readonly anyDirectory?: Access | undefined;
  /** Files that decide what callers may do, such as the policy. No directory that holds one is opened for writing. */
  readonly decidingFiles?: readonly string[] | undefined;
  /** Refuses changes that would exceed a limit. */
  readonly admit?: ((workspace: Workspace, changes: readonly Change[]) => Promise<void>) | undefined;
  /** Throws if these directories must no longer be changed. */
  readonly refuseUnusable?: ((workspace: Workspace) => void) | undefined;
  /** Whether `elsewhere` may open this directory all the same: it is a workspace that is being compared or merged. */
  readonly opens?: ((path: string) => boolean) | undefined;
  /** The policies that hold for every root. */
  readonly rules?: PolicySource | undefined;
  /** Those that a caller is under besides. They hold wherever the caller gets to. */
  readonly narrowing?: readonly PolicySource[] | undefined;
  /** The most bytes that a workspace may hold after a change; absent: no limit of the caller's own. */
  readonly maxBytes?: number | undefined;
}

/** State that a workspace shares with its views. */
interface Shared {
  readonly listeners: Set<CommitListener>;
  readonly attendance: Attendance;
  readonly caches: EngineCaches;
  readonly recordListeners: Set<(id: string) => void>;
  readonly replications: Set<Replication>;
  readonly recentReads: RecentContents;
  written: boolean;
  recorded: boolean;
}

/** Open directories: reads, and commits that are all or nothing. It reaches nothing outside of them. */
export class Workspace implements Disposable {
  readonly roots: readonly Root[];
  /** The roots that it closes; the others belong to the workspace that this is a view of. */
  readonly #own: readonly Root[];
  readonly #writing: WritingOptions;
  readonly #shared: Shared;
  #by: By | undefined;
  #approved: readonly Allowed[] | undefined;
  #committer: Committer | undefined;

  private constructor(roots: readonly Root[], writing: WritingOptions, own: readonly Root[], shared: Shared) {
    this.roots = roots;
    this.#own = own;
    this.#writing = writing;
    this.#shared = shared;
  }

  /** Opens the granted directories. The same directory twice is one root; read-write wins. @internal */
  static open(grants: readonly Grant[], writing: WritingOptions = {}): Workspace {
    const attendance = attendanceAt(writing.state);
    const caches = new EngineCaches();
    const roots = openRoots(grants, caches, writing);
    attendance.grant(roots);
    attendance.attend();
    return new Workspace(roots, writing, roots, {
      listeners: new Set(),
      recordListeners: new Set(),
      replications: new Set(),
      recentReads: new RecentContents(),
      attendance,
      caches,
      written: false,
      recorded: false,
    });
  }

  /**
   * The directory at `path` as a separate workspace: nothing outside can be reached, access stays the same, and
   * commits share this workspace's history. The caller disposes of it.
   */
  within(path: WorkspacePath): Workspace {
    const own = rootAt(this.roots, path);
    refuseDecidingFiles([own], this.#writing.decidingFiles);
    // A root inside of it still decides about itself.
    const inner = this.roots.filter(
      other => !other.is({ dev: own.device, ino: own.inode }) && own.holds(other.handle.whereabouts()),
    );
    return new Workspace([own, ...inner], this.#confined, [own], this.#shared);
  }

  /**
   * Some directories of this workspace as a separate workspace, each with the requested access or less. Faults: those
   * of `at`, `not_found`, `not_a_directory`. The caller disposes of it.
   */
  part(grants: readonly Grant[]): Workspace {
    const own = partOf(this.roots, grants);
    return new Workspace(own, this.#confined, own, this.#shared);
  }

  /**
   * Other directories, where the engine was opened for any directory; written to in the same way and seen by the same
   * listeners. The caller disposes of it. Faults: `outside_roots` and `read_only` where the engine was not,
   * `permission_denied` where one holds a file that decides about callers, `state_in_root`, and those of `open`.
   *
   * @param entered only to go on with `within`, which checks again
   */
  elsewhere(grants: readonly Grant[], { entered = false } = {}): Workspace {
    const { anyDirectory } = this.#writing;
    for (const { path, access } of grants) {
      if (this.#writing.opens?.(path)) continue;
      if (anyDirectory === undefined) throw new Fault("outside_roots", { path });
      if (anyDirectory === "read-only" && access !== "read-only") throw new Fault("read_only", { path });
    }
    refuseStateIn(
      grants.map(({ path }) => path),
      this.#writing.state,
    );
    const roots = openRoots(grants, this.#shared.caches, this.#writing);
    if (!entered) refuseDecidingFiles(roots, this.#writing.decidingFiles);
    this.#shared.attendance.grant(roots);
    const other = new Workspace(roots, this.#confined, roots, this.#shared);
    other.#by = this.#by;
    other.#approved = this.#approved;
    return other;
  }

  /** How a part of this workspace writes: the same, but it opens nothing elsewhere. */
  get #confined(): WritingOptions {
    return { ...this.#writing, anyDirectory: undefined };
  }

  /** What is both in it and in these directories; see narrow.ts. The caller disposes of it. @internal */
  narrowed(directories: readonly string[]): Workspace {
    const { roots, own } = narrow(this.roots, directories);
    return new Workspace(roots, this.#confined, own, this.#shared);
  }

  /** The same workspace for a caller with a limit of its own; it takes the place of this one. */
  limitedTo(maxBytes: number): Workspace {
    const limited = new Workspace(this.roots, { ...this.#writing, maxBytes }, this.#own, this.#shared);
    limited.#by = this.#by;
    limited.#approved = this.#approved;
    return limited;
  }

  /** The most bytes that this caller may make a workspace hold. */
  get maxBytes(): number | undefined {
    return this.#writing.maxBytes;
  }

  /** The same workspace, with an author for its changes. */
  as(by: By): Workspace {
    return this.#view(by, this.#approved);
  }

  /** The same workspace, in which a person has allowed what rules ask about. @internal */
  approving(needs: readonly Allowed[]): Workspace {
    return this.#view(this.#by, [...(this.#approved ?? []), ...needs]);
  }

  #view(by: By | undefined, approved: readonly Allowed[] | undefined): Workspace {
    const view = new Workspace(this.roots, this.#writing, [], this.#shared);
    view.#by = by;
    view.#approved = approved;
    view.#committer = this.#committer;
    return view;
  }

  /**
   * The directory that a command is to be started in. Faults: `approval_needed` where a rule wants a person asked.
   *
   * @internal
   */
  commandDirectory(path: WorkspacePath): Directory {
    this.#writing.refuseUnusable?.(this);
    const directory = this.directory(path);
    const need = directory.root.rules.open(directory.path, "run", this.#by?.client ?? "");
    if (need === undefined || isAllowed(need, this.#approved ?? [])) return directory;
    directory.close();
    throw new Fault("approval_needed", { path: need.at, needs: [need] });
  }

  /** Whether a command of this caller may change a path in a root. @internal */
  isFreeForCommands({ access, rules }: Root, at: string): boolean {
    return (
      access === "read-write" && rules.isFreeForCommands(at, this.#by?.client ?? "", this.#approved ?? [])
    );
  }

  /** Whether a rule asks before changes: what it asks about is read-only for commands. @internal */
  get asksBeforeChanges(): boolean {
    return this.roots.some(({ rules }) =>
      rules.policies.some(policy =>
        policy.rules.some(({ ask = [] }) => ask.includes("write") || ask.includes("delete")),
      ),
    );
  }

  /** Resolves when the archive has the commits of other processes. @internal */
  async othersRecorded(): Promise<void> {
    await othersRecorded(openStore(this.#writing.state));
  }

  /** Resolves when the archive has all commits so far, of this process and others. @internal */
  async allRecorded(): Promise<void> {
    const { journals } = openStore(this.#writing.state);
    await Promise.all([journals.idle(), this.othersRecorded()]);
  }

  /**
   * Tells all servers that a command runs here that may write, until the answer is disposed of.
   *
   * @internal
   */
  announceCommand(): RunningCommand {
    const writable = this.roots.filter(({ access }) => access === "read-write");
    return announceCommand(
      openStore(this.#writing.state).state.path, // made where it is missing
      writable.map(({ path }) => path),
      this.#by?.connection,
    );
  }

  /**
   * Tells all servers that a sandbox shows these directories, until the result is disposed of. `hidden`: paths that it
   * covers besides those of the rules. Undefined where nothing is covered: then nothing is announced. Faults: `no_space`,
   * `too_many_open_files`, `io`.
   *
   * @internal
   */
  announceSandbox(hidden: readonly string[] = []): Disposable | undefined {
    const places = this.roots.map(({ handle, rules }) => ({ at: display(handle.whereabouts()), rules }));
    const roots = places.map(({ at }) => at);
    const covered = hidden.filter(path => roots.some(root => isWithin(path, root)));
    if (!this.hasRules && covered.length === 0) return undefined;
    const shown = [...new Set(places.map(({ rules }) => rules))].map(rules => ({
      roots: places.filter(place => place.rules === rules).map(({ at }) => at),
      rules: rules.written,
    }));
    try {
      const folder = this.stateFolder("sandboxes");
      return system(stateDirectory, () => announceSandbox(folder, { roots, shown, hidden: covered }));
    } catch (error) {
      // Another server may still commit: it has its files open already.
      for (const code of ["no_space", "too_many_open_files", "io"] as const)
        if (Fault.is(error, code)) throw error;
      return undefined; // no server can commit where the state directory is missing or must not be written
    }
  }

  /**
   * Resolves when the commits that had begun in these directories are over, in all servers. What was announced before is
   * known to all others.
   *
   * @internal
   */
  async commitsOver(): Promise<void> {
    const store = openedStore(this.#writing.state);
    if (store === undefined) return; // nothing could be announced either
    const roots = this.roots.map(({ handle }) => handle.whereabouts());
    await store.departures.ownOver(roots);
    await othersOver(store, roots);
  }

  /**
   * The server's own directories, by identity. They may be in a root, and hold nothing of the user's.
   *
   * @internal
   */
  ownDirectories(): ReadonlySet<string> {
    return ownDirectories(openStore(this.#writing.state).state.path);
  }

  /** A folder of the state directory, made where it is missing. @internal */
  stateFolder(name: string): string {
    const path = `${openStore(this.#writing.state).state.path}/${name}`;
    system(stateDirectory, () => makeDirectory(path));
    return path;
  }

  /** The history. @internal */
  get archive(): Archive {
    try {
      return openStore(this.#writing.state).archive;
    } catch (error) {
      // On a full disk it can still be read, and its limits still apply to deletions.
      if (Fault.is(error, "no_space")) return new Archive(statePath(this.#writing.state));
      throw error;
    }
  }

  /** The same, if this process has opened it. @internal */
  get openedArchive(): Archive | undefined {
    return openedStore(this.#writing.state)?.archive;
  }

  /** The path that a caller wrote, as a capability. Faults: `invalid_path`, `outside_roots`. */
  at(path: string, forms?: PathForms): WorkspacePath {
    return parsePath(this.roots, path, forms);
  }

  /** A path that the server itself recorded: these names exactly. Faults: those of `at`. @internal */
  recorded(path: string): WorkspacePath {
    return parsePath(this.roots, path, { exact: true });
  }

  /**
   * Where something was recorded. Records name places without links, so a link on the way, or in the place itself, was put
   * there since and leads elsewhere: nothing is read or changed through it. Faults: those of `at`, later `is_a_link`.
   *
   * @internal
   */
  place(path: string): WorkspacePath {
    return parsePath(this.roots, path, { exact: true, direct: true });
  }

  /** The regular file that `path` leads to, open for reading as the rules allow. The caller closes it. */
  file(path: WorkspacePath): OpenFile {
    this.#shared.attendance.attend();
    return openedAgain(() => OpenFile.open(resolvePath(this.roots, path), path.given));
  }

  /** Like `file`, but waits for a file that another program has open without sharing it. Faults: `locked`. */
  openFile(path: WorkspacePath): Promise<OpenFile> {
    return retryWhileBusy(path.given, () => this.file(path), isBusyOpen);
  }

  /**
   * The same with the bytes that are on the disk, also where a rule masks them: for history, never for answers. Answers
   * show them as the rules have it at `path`, so `path` has to be where a masked file is. Faults: `forbidden`.
   *
   * @internal
   */
  unmaskedFile(path: WorkspacePath): OpenFile {
    return openedAgain(() => {
      const resolved = resolvePath(this.roots, path);
      try {
        resolved.root.rules.admitUnmasked(resolved.path, path.absolute, path.given);
      } catch (error) {
        resolved.handle.close();
        throw error;
      }
      return OpenFile.open(resolved, path.given, "unmasked");
    });
  }

  /** The same, and waits like `openFile`. @internal */
  openUnmasked(path: WorkspacePath): Promise<OpenFile> {
    return retryWhileBusy(path.given, () => this.unmaskedFile(path), isBusyOpen);
  }

  /**
   * Bytes that were at `at` at some time, as the rules let a caller see them. Faults: `forbidden`.
   *
   * @internal
   */
  shown(at: string, bytes: Buffer): Buffer {
    const root = this.roots.find(one => isWithin(at, one.path)) ?? this.roots[0];
    return root === undefined ? bytes : root.rules.shown(at, bytes);
  }

  /**
   * Refuses what `commit` refuses of changes made of several texts, for a preview of them. Faults: `forbidden`.
   *
   * @internal
   */
  refuseRevealing(changes: readonly Change[]): void {
    for (const change of changes)
      if (change.kind === "write") refuseRevealing(change, this.locate(change.path).path);
      else if (change.kind === "move") refuseRevealing(change, this.locate(change.to).path);
  }

  /** Whether a rule hides `at` completely. @internal */
  isHidden(at: string): boolean {
    const root = this.roots.find(one => isWithin(at, one.path));
    return root !== undefined && root.rules.decide(at).contents === "none";
  }

  /** Whether `at` is shown with its real bytes. @internal */
  isShownWhole(at: string): boolean {
    const root = this.roots.find(one => isWithin(at, one.path));
    return root === undefined || root.rules.decide(at).contents === "full";
  }

  /** The same for a path that may be in another tree, as the base of a fork is. @internal */
  isShownWholeAnywhere(at: string): boolean {
    if (this.roots.some(({ path }) => isWithin(at, path))) return this.isShownWhole(at);
    return this.roots.every(({ rules }) => rules.decideElsewhere(at).contents === "full");
  }

  /** Whether a rule lets tools change what is at `at`. @internal */
  isChangeable(at: string): boolean {
    const root = this.roots.find(one => isWithin(at, one.path));
    return root === undefined || root.rules.decide(at).changes;
  }

  /** Whether any rules are in force. @internal */
  get hasRules(): boolean {
    return this.roots.some(({ rules }) => rules.restrict);
  }

  /** The same directories under more rules, which only narrow. */
  under(source: PolicySource): Workspace {
    const roots = this.roots.map(root => root.withRules(root.rules.and(source)));
    const narrowing = [...(this.#writing.narrowing ?? []), source];
    return new Workspace(roots, { ...this.#writing, narrowing }, roots, this.#shared);
  }

  /** The directory that `path` leads to, held open. The caller closes it. */
  directory(path: WorkspacePath): Directory {
    this.#shared.attendance.attend();
    return Directory.open(resolvePath(this.roots, path), path.given);
  }

  /** About what `path` leads to. */
  stat(path: WorkspacePath): Stat {
    this.#shared.attendance.attend();
    const resolved = resolvePath(this.roots, path);
    using handle = resolved.handle;
    return statShown(handle.stat(), handle.address, resolved.path, resolved.root.rules);
  }

  /**
   * Differs when `path` leads elsewhere or what is there was changed. Not for callers: it tells the size of a masked file,
   * whose masked size would take long to find out. Faults: those of `stat`.
   *
   * @internal
   */
  stamp(path: WorkspacePath): string {
    this.#shared.attendance.attend();
    using handle = resolvePath(this.roots, path).handle;
    const { mode, size, mtimeMs, ino, dev } = handle.stat();
    return [mode, size, mtimeMs, ino, dev].join(" ");
  }

  /** About the last name itself: a link is not followed, and may lead anywhere. */
  lstat(path: WorkspacePath): Stat & { readonly target?: string } {
    if (path.isRoot) return this.stat(path);
    this.#shared.attendance.attend();
    const { handle, name, root, path: above } = resolveEntry(this.roots, path);
    using _ = handle;
    const at = `${above === "/" ? "" : above}/${path.name}`;
    root.rules.admit(at, path.given);
    return system(path.given, () => {
      using own = Handle.open(handle.below(name), { follow: false });
      if (isConcealed(own.stat())) throw new Fault("outside_roots", { path: path.given });
      const stat = statShown(own.stat(), own.address, at, root.rules);
      return stat.kind === "symlink"
        ? { ...stat, target: written(readlinkSync(handle.below(name), "buffer")) }
        : stat;
    });
  }

  /**
   * Where `path` really is, links resolved, and the root that decides about it. What does not exist yet would be there.
   *
   * @internal
   */
  locate(path: WorkspacePath): { readonly path: string; readonly root: Root } {
    const { resolved, missing } = resolveExisting(this.roots, path);
    resolved.handle.close();
    return {
      path: missing.length === 0 ? resolved.path : under(resolved.path, missing.join("/")),
      root: resolved.root,
    };
  }

  /** Does all of the changes, or none: the one way to write. */
  async commit(changes: readonly Change[], options: CommitOptions = {}): Promise<Commit> {
    const all = { ...this.#options, ...options };
    const { admit } = this.#writing;
    if (admit !== undefined) await admit(this, changes);
    try {
      return await this.#inTurn(all, publish => this.#writer().commit(changes, { ...all, publish }));
    } catch (error) {
      const removes = changes.every(({ kind }) => kind === "remove");
      if (!Fault.is(error, "no_space") || !removes || this.replication !== undefined) throw error;
      return removeWithoutRoom(this.roots, this.archive, statePath(this.#writing.state), changes, all);
    }
  }

  /** What others have published is here already, so it is written without being published. */
  #inTurn<T>(
    options: CommitOptions,
    attempt: (publish?: CommitOptions["publish"]) => Promise<T>,
  ): Promise<T> {
    if (options.id !== undefined) return attempt();
    this.#writing.refuseUnusable?.(this);
    const { replication } = this;
    if (replication === undefined) return attempt();
    const { root } = replication;
    return replication.write(send => attempt({ root, send }), this.maxBytes);
  }

  /** Shares a directory with other machines, from now on. Returns how to stop that. @internal */
  replicate(replication: Replication): () => void {
    this.#shared.replications.add(replication);
    return () => void this.#shared.replications.delete(replication);
  }

  /** What shares the workspace with other machines; absent where nothing does. @internal */
  get replication(): Replication | undefined {
    // Other directories are written to in the same way, and are not shared.
    for (const one of this.#shared.replications)
      if (this.roots.length > 0 && this.roots.every(({ path }) => isWithin(path, one.root))) return one;
    return undefined;
  }

  /** Every directory that is shared with other machines. @internal */
  get replications(): ReadonlySet<Replication> {
    return this.#shared.replications;
  }

  /** Contents that were read without a history to keep them in. @internal */
  get recentReads(): RecentContents {
    return this.#shared.recentReads;
  }

  /**
   * The same directories without rules, for what the server itself does. The caller disposes of it.
   *
   * @internal
   */
  withoutRules(): Workspace {
    const roots = this.roots.map(root => root.withRules(new Rules(undefined)));
    return new Workspace(
      roots,
      { ...this.#writing, rules: undefined, narrowing: undefined, allowIrrevocable: true },
      roots,
      this.#shared,
    );
  }

  /**
   * Reads a file, and commits what `transform` makes of its bytes. Edits of one file queue up, in this process and
   * among several; none is lost. Undefined means that nothing is to be changed. `transform` may be called again.
   */
  async edit(
    path: WorkspacePath,
    transform: (bytes: Buffer) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
    options: CommitOptions = {},
  ): Promise<Commit> {
    const { given } = path;
    if (path.isRoot) throw new Fault("not_a_file", { path: given, kind: "directory" });
    const replacing = async ([file]: readonly Current[]): Promise<readonly Change[]> => {
      if (file?.bytes === undefined) throw new Fault("not_found", { path: given });
      const bytes = await transform(file.bytes);
      return bytes === undefined ? [] : [{ kind: "write", path, bytes }];
    };
    try {
      return await this.editAll([path], replacing, options);
    } catch (error) {
      throw Fault.is(error, "parent_not_found") ? new Fault("not_found", { path: given }) : error;
    }
  }

  /** The same for several files at once, and for any changes: files that are not there have no bytes. */
  async editAll(
    paths: readonly WorkspacePath[],
    transform: (files: readonly Current[]) => readonly Change[] | Promise<readonly Change[]>,
    options: CommitOptions = {},
  ): Promise<Commit> {
    const all = { ...this.#options, ...options };
    const { admit } = this.#writing;
    const admitted: typeof transform = async files => {
      const changes = await transform(files);
      await admit?.(this, changes);
      return changes;
    };
    const made = admit === undefined ? transform : admitted;
    return this.#inTurn(all, publish => this.#writer().edit(paths, made, { ...all, publish }));
  }

  /**
   * Calls `listener` after each commit, while the old content can still be read. It must not wait for a commit of its
   * own, which may have to wait for this one. Returns how to stop it.
   */
  onCommit(listener: CommitListener): () => void {
    const { listeners } = this.#shared;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /**
   * Calls `listener` with the id of each change that is recorded without a commit. Returns how to stop it.
   *
   * @internal
   */
  onRecord(listener: (id: string) => void): () => void {
    const { recordListeners } = this.#shared;
    recordListeners.add(listener);
    return () => void recordListeners.delete(listener);
  }

  /** Tells that a change was recorded which no commit has made: a command's. @internal */
  announceRecord(id: string): void {
    this.#shared.recorded = true;
    for (const listener of this.#shared.recordListeners) listener(id);
  }

  /**
   * Where history is among the temporary files: since something was changed, that is, and only if so.
   *
   * @internal
   */
  get temporaryHistory(): TemporaryState | undefined {
    return this.#shared.written || this.#shared.recorded ? temporaryState(this.#writing.state) : undefined;
  }

  /** When commits have cleared away all old content: nothing temporary is left in the roots. @internal */
  async settled(): Promise<void> {
    if (this.#shared.written) await openStore(this.#writing.state).journals.settled();
  }

  /** Takes back commits that failed and could not be taken back at once. @internal */
  takeBack(): void {
    if (this.#shared.written) openStore(this.#writing.state).journals.retry();
  }

  get #options(): CommitOptions {
    const irrevocable = this.#writing.allowIrrevocable ? "allow" : "refuse";
    return { ...(this.#by && { by: this.#by }), approved: this.#approved, irrevocable };
  }

  #writer(): Committer {
    const { state, copyAttributes } = this.#writing;
    this.#committer ??= new Committer(this.roots, openStore(state), this.#shared.listeners, copyAttributes);
    this.#shared.written = true; // if the store could not be opened, there is nothing to settle
    return this.#committer;
  }

  [Symbol.dispose](): void {
    this.#shared.attendance.withdraw(this.#own);
    for (const root of this.#own) root[Symbol.dispose]();
  }
}
