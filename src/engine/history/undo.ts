// Undoes a change: restores what it removed, removes what it created, and reverts its edits. Later edits elsewhere in
// the same files stay: the inverse of the change is merged into the current content. If later edits touch the same
// lines, undo refuses. An undo is a commit like any other: atomic, recorded, and undoable.
import { merge } from "../edit/merge.ts";
import { Fault, type Faults, type Kind } from "../fault.ts";
import { once } from "../once.ts";
import { decode } from "../text/text.ts";
import { hashInTurns, version } from "../text/version.ts";
import type { ChangeRecord, Identity, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Change, Commit } from "../workspace/commit/change.ts";
import { inSlices, TimeSlice } from "../workspace/footprint/time-slice.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { isWithin } from "../workspace/root.ts";
import type { TextOrigin } from "../workspace/rules.ts";
import type { Stat } from "../workspace/stat.ts";
import { isBelowAny } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { changeNamed, concerns, listChanges } from "./changes.ts";
import { chooseOnce, confirmNotUndone } from "./choose-once.ts";
import { lineage, placeAfter } from "./lineage.ts";
import { withoutEmptied } from "./parents.ts";
import { restoring, sameTree, snapshotIn } from "./restore.ts";
import { collision, likeNow, overlapsAsRead } from "./versions.ts";

/** What to undo. */
export interface UndoOptions {
  /** Which change; the last one where left out. */
  readonly change?: string | undefined;
  /** Only this file or directory of it. Without `change`: of the last change that touched it. */
  readonly path?: WorkspacePath | undefined;
  /** The newest change when this one was chosen: if it was undone since, it has to be chosen again. */
  readonly chosenAfter?: string | undefined;
  /** Only report what it would do. */
  readonly dryRun?: boolean;
  readonly client?: string;
  readonly connection?: string;
  readonly signal?: AbortSignal;
}

/**
 * The files that a dry run of several undos has dealt with, as they would be by then. Undefined: the name would be free.
 * Directories, links and moves are not in it.
 */
export class FilesByThen extends Map<string, { readonly bytes: Buffer; readonly mode?: number } | undefined> {
  /** The changes that would be undone by then. */
  readonly undone = new Set<string>();
}

/** What becomes of one path. `before` and `after` are there for files whose content changes. */
export interface Restored {
  readonly at: string;
  readonly did: "restored" | "changed back" | "removed" | "moved back";
  readonly from?: string;
  readonly before?: Buffer;
  readonly after?: Buffer;
}

/** What an undo did. */
export interface Undone {
  readonly change: ChangeRecord;
  readonly restored: readonly Restored[];
  /** Absent for a dry run, and if nothing was left to do. */
  readonly commit?: Commit;
  /** A dry run of several cannot tell what this one does: later changes are undone first. */
  readonly follows?: boolean;
}

const attempts = 5;

/** Faults: `unknown_change`, `stale`, `exists`, `not_kept`, `others_work`, and those of a commit. */
export async function undo(workspace: Workspace, options: UndoOptions = {}): Promise<Undone> {
  if (options.change !== undefined)
    return undoOne(workspace, await changeNamed(workspace, options.change), options);
  return chooseOnce(workspace, async chosenAfter =>
    undoOne(workspace, await latest(workspace, options), { ...options, chosenAfter }),
  );
}

/** A dry run after those of later changes. Enters into `byThen` what it would do. */
export async function undoByThen(
  workspace: Workspace,
  change: string,
  options: UndoOptions,
  byThen: FilesByThen,
): Promise<Undone> {
  return undoOne(workspace, await changeNamed(workspace, change), { ...options, dryRun: true }, byThen);
}

async function undoOne(
  workspace: Workspace,
  record: ChangeRecord,
  options: UndoOptions,
  byThen?: FilesByThen,
): Promise<Undone> {
  const confirm = () => confirmNotUndone(workspace, [record], options.chosenAfter);
  try {
    if (options.path === undefined) refuseOthersWork(workspace, record);
    const undone = await tryUndo(workspace, record, options, confirm, byThen);
    if (undone.commit === undefined && !options.dryRun) await confirm();
    return undone;
  } catch (error) {
    await confirm(); // then that is why
    throw withoutHiddenName(workspace, record, error);
  }
}

/** Undoing a command must not undo another caller's work, unless the caller names the path. */
function refuseOthersWork(workspace: Workspace, { id, others, files }: ChangeRecord): void {
  if (!others) return;
  const paths = files.map(({ at }) => at).filter(at => !workspace.isHidden(at));
  throw new Fault("others_work", { change: id, paths });
}

/** A refusal about a file that a rule hides names the change, which the caller knows, and not the file. */
function withoutHiddenName(workspace: Workspace, { id }: ChangeRecord, error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const { path, rule = "" }: { readonly path?: string; readonly rule?: string } = error.data;
  if (path === undefined || !workspace.isHidden(path)) return error;
  return new Fault("forbidden", { path: `a file of change ${id}`, rule, to: "open" });
}

async function tryUndo(
  workspace: Workspace,
  record: ChangeRecord,
  options: UndoOptions,
  confirm: () => Promise<void>,
  byThen?: FilesByThen,
): Promise<Undone> {
  for (let round = 1; ; round++) {
    const { changes, restored: real } = await inverse(workspace, record, options, byThen);
    if (options.dryRun) workspace.refuseRevealing(changes);
    if (byThen) foresee(changes, byThen);
    byThen?.undone.add(record.id);
    const restored: Restored[] = [];
    await inSlices(real, one => restored.push(shown(workspace, one)));
    if (options.dryRun || changes.length === 0) return { change: record, restored };
    try {
      const { client = "", connection, path } = options;
      const by = {
        action: "undo",
        client,
        ...(connection !== undefined && { connection }),
        undoes: record.id,
        ...(path !== undefined && !isAll(workspace, record, path) && { partial: true }),
      };
      const commit = await workspace.commit(changes, {
        by,
        parents: true,
        links: "refuse",
        unmasked: true,
        irrevocable: "allow", // it removes only what the change is known to have created
        signal: options.signal,
        confirm,
      });
      return { change: record, restored, commit };
    } catch (error) {
      if (!Fault.is(error, "changed_meanwhile") || round === attempts) throw error;
    }
  }
}

/** Enters what the changes would do. */
function foresee(changes: readonly Change[], byThen: FilesByThen): void {
  for (const change of changes) {
    if (change.kind === "write") {
      const { path, bytes, mode } = change;
      byThen.set(path.absolute, { bytes: Buffer.from(bytes), ...(mode !== undefined && { mode }) });
    } else if (change.kind === "remove" && !change.recursive) byThen.set(change.path.absolute, undefined);
    else if (change.kind === "move") {
      const known = byThen.get(change.from.absolute);
      const moved = change.bytes ? { ...known, bytes: Buffer.from(change.bytes) } : known;
      if (moved !== undefined) byThen.set(change.from.absolute, undefined).set(change.to.absolute, moved);
    }
  }
}

/** Whether a path is all that a change is about: then the undo of the path is one of the whole change. */
function isAll(workspace: Workspace, { files }: ChangeRecord, path: WorkspacePath): boolean {
  const at = workspace.locate(path).path;
  return files.every(file => concerns(file, at));
}

/** The result as the caller may see it. */
function shown(workspace: Workspace, one: Restored): Restored {
  const { at, before, after } = one;
  return {
    ...one,
    ...(before && { before: workspace.shown(at, before) }),
    ...(after && { after: workspace.shown(at, after) }),
  };
}

async function latest(workspace: Workspace, { path }: UndoOptions): Promise<ChangeRecord> {
  const [newest] = await listChanges(workspace, { path, limit: 1 });
  if (newest === undefined) throw new Fault("unknown_change", { id: "" });
  return newest;
}

interface Inverse {
  readonly changes: readonly Change[];
  readonly restored: readonly Restored[];
  /** A directory that the change made: it is removed if nothing else is in it. */
  readonly made?: string;
}

async function inverse(
  workspace: Workspace,
  record: ChangeRecord,
  { path }: UndoOptions,
  byThen = new FilesByThen(),
): Promise<Inverse> {
  const only = path && workspace.locate(path).path;
  const named = only === undefined ? record.files : record.files.filter(file => concerns(file, only));
  const { archive } = workspace;
  const files =
    only === undefined || named.length > 0 ? named : createdAt(record.files, only, archive.objects);
  if (files.length === 0)
    throw new Fault("unknown_change", { id: record.id, ...(path && { path: path.given }) });
  const inverses: Inverse[] = [];
  const vacated = new Set<string>();
  const slice = new TimeSlice();
  const later = once(() => [...workspace.archive.changes.newest(undefined, record.id)]);
  for (const file of files.toReversed()) {
    const one = await new Inverting(workspace, record, file, vacated, byThen, later).invert();
    inverses.push(one);
    for (const change of one.changes) if (change.kind === "remove") vacated.add(file.at);
    if (one.made !== undefined) vacated.add(file.at);
    if (slice.isOver) await slice.turn();
  }
  const trees = new Set(inverses.flatMap(({ changes }) => changes).flatMap(removedTree));
  const kept = inverses.filter(one => !leavesWith(one, trees));
  const made = kept.flatMap(one => (one.made === undefined ? [] : [{ at: one.made, explicit: true }]));
  const parents = record.parents.map(at => ({ at, explicit: false }));
  const changes = await withoutEmptied(
    workspace,
    [...made, ...parents],
    kept.flatMap(one => one.changes),
  );
  return { changes, restored: withoutNested(kept, trees) };
}

/** What a change created at a path, as a part of a directory that is recorded as a whole. */
function createdAt(files: readonly RecordedFile[], at: string, objects: Objects): RecordedFile[] {
  return files.flatMap((file): RecordedFile[] => {
    const isCreated = file.effect === "created" || (file.effect === "copied" && file.replaced === undefined);
    if (!isCreated || file.after === undefined || !isWithin(at, file.at)) return [];
    const after = snapshotIn(file.after, at.slice(file.at.length + 1).split("/"), objects);
    return after === undefined || after.kind === "special"
      ? []
      : [{ at, effect: "created", kind: after.kind, after }];
  });
}

function removedTree(change: Change): string[] {
  return change.kind === "remove" && change.recursive ? [change.path.absolute] : [];
}

/** Whether the only work is to remove entries that go with their directory anyway. */
function leavesWith({ changes }: Inverse, trees: ReadonlySet<string>): boolean {
  return (
    changes.length > 0 &&
    changes.every(change => change.kind === "remove" && isBelowAny(change.path.absolute, trees))
  );
}

/** For reporting: of what is removed with a directory, only the directory. */
function withoutNested(inverses: readonly Inverse[], trees: ReadonlySet<string>): Restored[] {
  const gone = new Set([...trees, ...inverses.flatMap(({ made }) => (made === undefined ? [] : [made]))]);
  return inverses
    .flatMap(({ restored }) => restored)
    .filter(({ at, did }) => did !== "removed" || !isBelowAny(at, gone));
}

const nothing: Inverse = { changes: [], restored: [] };

/** The inverse of what a change did to one file, given the current content. */
class Inverting {
  readonly #workspace: Workspace;
  readonly #record: ChangeRecord;
  readonly #file: RecordedFile;
  readonly #objects: Objects;
  readonly #path: WorkspacePath;

  /** Names that this undo frees before it takes them again. */
  readonly #vacated: ReadonlySet<string>;
  readonly #byThen: FilesByThen;
  /** Newest first. */
  readonly #later: () => readonly ChangeRecord[];

  constructor(
    workspace: Workspace,
    record: ChangeRecord,
    file: RecordedFile,
    vacated: ReadonlySet<string>,
    byThen: FilesByThen,
    later: () => readonly ChangeRecord[],
  ) {
    this.#later = later;
    this.#vacated = vacated;
    this.#byThen = byThen;
    this.#workspace = workspace;
    this.#record = record;
    this.#file = file;
    this.#objects = workspace.archive.objects;
    this.#path = workspace.place(file.at);
  }

  async invert(): Promise<Inverse> {
    const { effect, at, before, after, replaced, moved } = this.#file;
    const isBare = [before, after, replaced, moved].every(one => one === undefined);
    if (isBare && !this.#record.kept) throw this.#notKept();
    switch (effect) {
      case "created":
        return this.#remove(after);
      case "copied":
        return replaced === undefined ? this.#remove(after) : this.#changeBack(replaced, after);
      case "modified":
        return this.#changeBack(before, after);
      case "removed":
        return { changes: await this.#restore(before, this.#path), restored: [{ at, did: "restored" }] };
      case "moved":
        return this.#moveBack();
      default:
        return nothing;
    }
  }

  /** Removes what the change created, if it is unchanged. */
  async #remove(after: Snapshot | undefined): Promise<Inverse> {
    const path = this.#path;
    const there = this.#kindThere(path);
    if (there === undefined && this.#isElsewhere()) throw new Fault("not_found", { path: this.#file.at });
    if (there === undefined) return nothing;
    if (after === undefined && !this.#record.kept) throw this.#notKept();
    const restored: Restored[] = [{ at: this.#file.at, did: "removed" }];
    if (after?.kind === "file") {
      const current = await this.#bytesAt(path);
      const isOther = current === undefined || this.#isReplaced(this.#file.at);
      if (isOther || !(await this.#is(after, current))) throw this.#stale(current);
      return { changes: [{ kind: "remove", path, expect: current }], restored };
    }
    if (after?.kind === "directory" && after.entries === undefined) {
      if (there !== "directory") throw this.#stale();
      return { changes: [], restored, made: path.absolute };
    }
    if (after === undefined || !(await this.#isTree(after, this.#takenOut()))) throw this.#stale();
    return { changes: [{ kind: "remove", path, recursive: true }], restored };
  }

  /** What undos by path have taken out of a directory that the change created. */
  #takenOut(): ReadonlySet<string> {
    const found = new Set<string>();
    const redone = new Set<string>();
    for (const { id, undoes, partial, files } of this.#later()) {
      if (undoes === undefined || redone.has(id)) continue;
      redone.add(undoes);
      if (undoes !== this.#record.id || !partial) continue;
      for (const { at, effect } of files) if (effect === "removed") found.add(at);
    }
    return found;
  }

  /** Whether what the change created was moved, and is still there. */
  #isElsewhere(): boolean {
    const { at, moved, after } = this.#file;
    const later = this.#later();
    const isMoved = ({ effect, from }: RecordedFile) =>
      effect === "moved" && from !== undefined && isWithin(at, from);
    if (!later.some(({ files }) => files.some(isMoved))) return false;
    const now = placeAfter(this.#workspace, later, at, { moved, after });
    return now !== undefined && now !== at && this.#kindThere(this.#workspace.place(now)) !== undefined;
  }

  /** The old content, merged with later edits elsewhere in the file. */
  async #changeBack(before: Snapshot | undefined, after: Snapshot | undefined): Promise<Inverse> {
    const path = this.#path;
    const { at } = this.#file;
    if (before?.kind === "directory" && after?.kind === "directory")
      return this.#modeBack(before.mode, after.mode);
    if (before?.kind !== "file" || after?.kind !== "file") return this.#replace(before, after);
    const current = await this.#bytesAt(path);
    if (current === undefined) {
      const kind = this.#kindThere(path);
      throw kind === undefined
        ? new Fault("not_found", { path: at })
        : new Fault("not_a_file", { path: at, kind });
    }
    const isCompared = this.#workspace.isShownWhole(at);
    if (!isCompared) {
      const later = this.#laterAt(at);
      if (later.length === 1 && later[0]?.undoes === this.#record.id) return nothing; // undone before
    }
    const { bytes, exact, origins } = await this.#merged(before, after, current);
    const found = this.#byThen.get(path.absolute)?.mode ?? this.#workspace.lstat(path).mode;
    const mode = found === after.mode ? before.mode : found; // a mode that was set since stays
    const sameMode = mode === found;
    const isSame = isCompared && bytes.equals(current) && sameMode;
    if (isSame && exact) return nothing;
    const times = exact && isCompared ? { modified: new Date(before.modified) } : {};
    return {
      // Without an effect it is recorded all the same: the change counts as undone from then on.
      changes: [{ kind: "write", path, bytes, expect: current, mode, ...times, origins }],
      restored: isSame ? [] : [{ at, did: "changed back", before: current, after: bytes }],
    };
  }

  /** A directory that stayed: only its mode was changed. */
  #modeBack(before: number, after: number): Inverse {
    const path = this.#path;
    const { at } = this.#file;
    if (this.#kindThere(path) === undefined) throw new Fault("not_found", { path: at });
    const { kind, mode } = this.#workspace.lstat(path);
    if (kind !== "directory" || (mode !== before && mode !== after)) throw this.#stale();
    if (mode === before) return nothing;
    return { changes: [{ kind: "mode", path, mode: before }], restored: [{ at, did: "changed back" }] };
  }

  /** Restores another kind of entry, or another link, if the path still holds exactly what the change put there. */
  async #replace(before: Snapshot | undefined, after: Snapshot | undefined): Promise<Inverse> {
    const { at } = this.#file;
    if (this.#kindThere(this.#path) === undefined) throw new Fault("not_found", { path: at });
    const { changes } = await this.#remove(after);
    const restoration = await this.#restore(before, this.#path, true);
    return { changes: [...changes, ...restoration], restored: [{ at, did: "restored" }] };
  }

  /** Whether the destination of a move still holds what was moved there, edits included. */
  async #isMoved(): Promise<boolean> {
    const { at, moved, after } = this.#file;
    if (after !== undefined) {
      if (await this.#isTree(after)) return true;
    } else if (moved === undefined) {
      if (!this.#record.kept) throw this.#notKept();
      return true; // recorded before identities were
    }
    const found = this.#workspace.lstat(this.#path);
    if (isIdentity(moved, found)) return true;
    if (isCopiedUp(moved, found, this.#record.time) && this.#isInOverlay()) return true;
    const known = lineage(this.#workspace, this.#record.id, at, { moved, after });
    if (known === undefined || isIdentity(known.moved, found)) return known !== undefined;
    // A directory that an undo restored is identified by its records alone, because anything may be in it now.
    if (found.kind === "directory") return known.moved === undefined && known.after?.kind === "directory";
    return known.after !== undefined && this.#isTree(known.after);
  }

  #isInOverlay(): boolean {
    using directory = this.#workspace.directory(this.#path.parent);
    return directory.isOverlay;
  }

  /**
   * Whether the old name leads to what was moved: where the file system ignores case or Unicode forms, the
   * old spelling is still a name of it. The commit distinguishes that from a second name of the file.
   */
  #isMovedEntry(back: WorkspacePath): boolean {
    if (this.#kindThere(this.#path) === undefined) return false;
    const [old, now] = [this.#workspace.lstat(back), this.#workspace.lstat(this.#path)];
    return old.inode === now.inode && old.device === now.device;
  }

  async #moveBack(): Promise<Inverse> {
    const { at, from = "", before, after, replaced } = this.#file;
    const back = this.#workspace.place(from);
    if (this.#kindThere(back) !== undefined && !this.#isMovedEntry(back))
      throw new Fault("exists", { path: from });
    const restored: Restored[] = [{ at: from, did: "moved back", from: at }];
    if (this.#kindThere(this.#path) === undefined) throw new Fault("not_found", { path: at });
    if (before?.kind === "file" && after?.kind === "file") {
      const current = await this.#bytesAt(this.#path);
      if (current === undefined) throw this.#stale();
      const { bytes, origins } = await this.#merged(before, after, current, from);
      const move = { kind: "move", from: this.#path, to: back, bytes, expect: current, origins } as const;
      return { changes: [move], restored };
    }
    if (!(await this.#isMoved())) throw this.#stale();
    if (replaced === undefined) {
      return {
        changes: [{ kind: "move", from: this.#path, to: back, ...(await this.#editedSince()) }],
        restored,
      };
    }
    if (replaced.kind === "symlink")
      return {
        changes: this.#linksBack(back, replaced.target),
        restored: [...restored, { at, did: "restored" }],
      };
    // One name cannot be freed and taken in one commit, so the replaced content overwrites the restored one.
    const current = await this.#bytesAt(this.#path);
    const { hash } = replaced.kind === "file" ? replaced : {};
    const bytes = hash === undefined ? undefined : await this.#objects.getLater(hash);
    if (current === undefined || bytes === undefined || replaced.kind !== "file") throw this.#notKept();
    const { mode } = this.#workspace.lstat(this.#path);
    const modified = new Date(replaced.modified);
    return {
      changes: [
        {
          kind: "write",
          path: back,
          bytes: current,
          expect: "absent",
          mode,
          origins: [{ at, bytes: current }],
        },
        { kind: "write", path: this.#path, bytes, expect: current, mode: replaced.mode, modified },
      ],
      restored: [...restored, { at, did: "restored" }],
    };
  }

  /** A link replaces only a link: both are made again. */
  #linksBack(back: WorkspacePath, replaced: string): Change[] {
    const { target } = this.#workspace.lstat(this.#path);
    if (target === undefined) throw this.#stale();
    return [
      { kind: "symlink", path: back, target },
      { kind: "remove", path: this.#path },
      { kind: "symlink", path: this.#path, target: replaced },
    ];
  }

  /** The content of a file with hidden parts that was edited since it was moved: what is hidden here stays hidden. */
  async #editedSince(): Promise<{ expect?: Buffer; origins?: TextOrigin[] }> {
    const { at } = this.#file;
    if (this.#workspace.isShownWhole(at)) return {};
    if (this.#workspace.lstat(this.#path).modified.getTime() <= this.#record.time) return {};
    const bytes = await this.#bytesAt(this.#path);
    return bytes === undefined ? {} : { expect: bytes, origins: [{ at, bytes }] };
  }

  async #restore(
    snapshot: Snapshot | undefined,
    path: WorkspacePath,
    isVacated = this.#vacated.has(this.#file.at),
  ): Promise<readonly Change[]> {
    if (!isVacated && this.#kindThere(path) !== undefined) throw new Fault("exists", { path: this.#file.at });
    const changes = snapshot && (await restoring(snapshot, path, this.#objects));
    if (changes === undefined) throw this.#notKept();
    return changes;
  }

  async #merged(
    before: Snapshot & { kind: "file" },
    after: Snapshot & { kind: "file" },
    current: Buffer,
    from = this.#file.at,
  ): Promise<{ bytes: Buffer; exact: boolean; origins: TextOrigin[] }> {
    const old = before.hash === undefined ? undefined : await this.#objects.getLater(before.hash);
    if (old === undefined) throw this.#notKept();
    const origins = [{ at: from, bytes: old }];
    if (!this.#workspace.isShownWhole(this.#file.at)) {
      // It is not merged: whether edits overlap depends on what is hidden. What was taken back outside is done again, as
      // for a change that had no effect.
      const isOther = this.#isReplaced(this.#file.at);
      if (isOther || !((await this.#is(after, current)) || current.equals(old))) throw this.#stale(current);
      return { bytes: old, exact: true, origins };
    }
    if (await this.#is(after, current)) return { bytes: old, exact: true, origins };
    const made = after.hash === undefined ? undefined : await this.#objects.getLater(after.hash);
    if (made === undefined) throw this.#stale(current);
    const theirs = await decode(this.#file.at, current);
    const [base, ours] = [
      await likeNow(this.#file.at, made, theirs),
      await likeNow(this.#file.at, old, theirs),
    ];
    if (base === undefined || ours === undefined) throw this.#stale(current);
    const merged = await merge(base, { text: ours }, theirs);
    origins.push({ at: this.#file.at, bytes: made }, { at: this.#file.at, bytes: current });
    if ("text" in merged) return { bytes: merged.text.bytes, exact: false, origins };
    throw this.#stale(current, collision(await overlapsAsRead(base, ours, theirs, merged.overlaps)));
  }

  /**
   * Whether later changes have left other contents at a path that the rules do not show whole. Only records decide about
   * such a file, as far as they can: comparing its contents would confirm a guess of what is hidden.
   */
  #isReplaced(at: string): boolean {
    return !this.#workspace.isShownWhole(at) && this.#laterAt(at).length > 0;
  }

  /** The later changes of a path, without those that were undone and their undos. Newest first. */
  #laterAt(at: string): ChangeRecord[] {
    const undone = new Set(this.#byThen.undone);
    return this.#later().filter(({ id, undoes, files }) => {
      if (undone.has(id) || !files.some(file => replaces(file, at))) return false;
      if (undoes === undefined || undoes <= this.#record.id) return true;
      undone.add(undoes);
      return false;
    });
  }

  /** Whether the path holds what the snapshot holds, without the paths in `gone`. */
  async #isTree(snapshot: Snapshot, gone?: ReadonlySet<string>): Promise<boolean> {
    const isOther = (at: string) => this.#isReplaced(at);
    return sameTree(this.#workspace, this.#path, snapshot, this.#objects, { gone, isOther });
  }

  async #is(snapshot: Snapshot & { kind: "file" }, bytes: Buffer): Promise<boolean> {
    return snapshot.size === bytes.length && snapshot.hash === (await hashInTurns(bytes));
  }

  #kindThere(path: WorkspacePath): Kind | undefined {
    if (this.#byThen.has(path.absolute)) return this.#byThen.get(path.absolute) && "file";
    try {
      return this.#workspace.lstat(path).kind;
    } catch (error) {
      if (Fault.is(error, "not_found") || Fault.is(error, "not_a_directory")) return undefined;
      throw error;
    }
  }

  async #bytesAt(path: WorkspacePath): Promise<Buffer | undefined> {
    if (this.#byThen.has(path.absolute)) return this.#byThen.get(path.absolute)?.bytes;
    if (this.#kindThere(path) !== "file") return undefined;
    using file = await this.#workspace.openUnmasked(path);
    return await file.bytes(this.#workspace.archive.limits.maxFileBytes);
  }

  /** Without content for what is not a file: it has no version. */
  #stale(current?: Buffer, collided: Partial<Faults["stale"]> = {}): Fault {
    const { at } = this.#file;
    const seen = current === undefined ? "" : version(this.#workspace.shown(at, current));
    return new Fault("stale", { path: at, current: [], version: seen, ...collided });
  }

  #notKept(): Fault {
    return new Fault("not_kept", { path: this.#file.at, change: this.#record.id });
  }
}

/** Whether a recorded file is `at`, or a directory that came or went with what is at `at`. */
function replaces({ at: recorded, from, effect }: RecordedFile, at: string): boolean {
  if (recorded === at) return true;
  const places = effect === "moved" && from !== undefined ? [recorded, from] : [recorded];
  return effect !== "modified" && places.some(one => isWithin(at, one));
}

function isIdentity(identity: Identity | undefined, { inode, created }: Stat): boolean {
  return identity?.inode === inode && identity.born === created.getTime();
}

/** How long after its record a move may copy what it moves. */
const copyUpMs = 60_000;
/** The clock of a file system lags behind. */
const clockMs = 20;

/**
 * In an overlay (a fork), the first move of something of the base copies it: its inode number and its time stay, and it
 * is born when it was moved.
 */
function isCopiedUp(
  identity: Identity | undefined,
  { inode, created, modified }: Stat,
  time: number,
): boolean {
  const after = created.getTime() - time;
  return identity?.inode === inode && after >= -clockMs && after < copyUpMs && modified.getTime() <= time;
}
