// Takes a change back. What it removed comes back, what it made goes, what it changed is changed back, and edits
// that were made elsewhere in the same files since then stay: the change's inverse is merged onto what is there
// now. Nothing is guessed: where later edits touch the same lines, it is refused. An undo is a commit like any
// other, so it is all or nothing, recorded, and can be undone itself.
import { merge } from "../edit/merge.ts";
import { Fault, type Kind } from "../fault.ts";
import { decode } from "../text/text.ts";
import { version } from "../text/version.ts";
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import type { Change, Commit } from "../workspace/commit/change.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import { isWithin } from "../workspace/root.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { changeNamed, concerns, listChanges } from "./changes.ts";
import { withoutEmptied } from "./parents.ts";
import { restoring, sameTree } from "./restore.ts";
import { collision, likeNow } from "./versions.ts";

export interface UndoOptions {
  /** Which change; the last one where left out. */
  readonly change?: string | undefined;
  /** Only this file or directory of it. Without `change`: of the last change that touched it. */
  readonly path?: WorkspacePath | undefined;
  /** Only find out what it would do. */
  readonly dryRun?: boolean;
  readonly client?: string;
  readonly signal?: AbortSignal;
}

/** What becomes of one path. `before` and `after` are there for files whose content changes. */
export interface Restored {
  readonly at: string;
  readonly did: "restored" | "changed back" | "removed" | "moved back";
  readonly from?: string;
  readonly before?: Buffer;
  readonly after?: Buffer;
}

export interface Undone {
  readonly change: ChangeRecord;
  readonly restored: readonly Restored[];
  /** Absent for a dry run, and where there was nothing left to do. */
  readonly commit?: Commit;
}

const attempts = 5;

/** Faults: `unknown_change`, `stale`, `exists`, `not_kept`, and those of a commit. */
export async function undo(workspace: Workspace, options: UndoOptions = {}): Promise<Undone> {
  const record = await chosen(workspace, options);
  for (let round = 1; ; round++) {
    const { changes, restored: real } = await inverse(workspace, record, options);
    const restored = real.map(one => shown(workspace, one));
    if (options.dryRun || changes.length === 0) return { change: record, restored };
    try {
      const by = { action: "undo", client: options.client ?? "", undoes: record.id };
      const commit = await workspace.commit(changes, {
        by,
        parents: true,
        links: "refuse",
        unmasked: true,
        signal: options.signal,
      });
      return { change: record, restored, commit };
    } catch (error) {
      if (!Fault.is(error, "changed_meanwhile") || round === attempts) throw error;
    }
  }
}

/** What a caller may see of it. */
function shown(workspace: Workspace, one: Restored): Restored {
  const { at, before, after } = one;
  return {
    ...one,
    ...(before && { before: workspace.shown(at, before) }),
    ...(after && { after: workspace.shown(at, after) }),
  };
}

async function chosen(workspace: Workspace, { change, path }: UndoOptions): Promise<ChangeRecord> {
  if (change !== undefined) return changeNamed(workspace, change);
  const [latest] = await listChanges(workspace, { path, limit: 1 });
  if (latest === undefined) throw new Fault("unknown_change", { id: "" });
  return latest;
}

interface Inverse {
  readonly changes: readonly Change[];
  readonly restored: readonly Restored[];
}

async function inverse(workspace: Workspace, record: ChangeRecord, { path }: UndoOptions): Promise<Inverse> {
  const only = path && workspace.locate(path).path;
  const files = only === undefined ? record.files : record.files.filter(file => concerns(file, only));
  if (files.length === 0) throw new Fault("unknown_change", { id: record.id });
  const inverses: Inverse[] = [];
  for (const file of files.toReversed()) inverses.push(await new Inverting(workspace, record, file).invert());
  const removals = inverses.flatMap(({ changes }) => changes).filter(change => change.kind === "remove");
  const kept = inverses.filter(one => !leavesWith(one, removals));
  const changes = kept.flatMap(one => one.changes);
  const restored = kept.flatMap(one => one.restored);
  return { changes: withoutEmptied(workspace, record.parents, changes), restored };
}

/** Whether all that is to be done is to remove what leaves with its directory anyway. */
function leavesWith({ changes }: Inverse, removals: readonly (Change & { kind: "remove" })[]): boolean {
  const isInside = ({ absolute }: WorkspacePath) =>
    removals.some(({ path }) => path.absolute !== absolute && isWithin(absolute, path.absolute));
  return changes.length > 0 && changes.every(change => change.kind === "remove" && isInside(change.path));
}

const nothing: Inverse = { changes: [], restored: [] };

/** The inverse of what a change did to one file, given what is there now. */
class Inverting {
  readonly #workspace: Workspace;
  readonly #record: ChangeRecord;
  readonly #file: RecordedFile;
  readonly #objects: Objects;
  readonly #path: WorkspacePath;

  constructor(workspace: Workspace, record: ChangeRecord, file: RecordedFile) {
    this.#workspace = workspace;
    this.#record = record;
    this.#file = file;
    this.#objects = workspace.archive.objects;
    this.#path = workspace.recorded(file.at);
  }

  async invert(): Promise<Inverse> {
    const { effect, at, before, after, replaced } = this.#file;
    switch (effect) {
      case "created":
        return this.#remove(after);
      case "copied":
        return replaced === undefined ? this.#remove(after) : this.#changeBack(replaced, after);
      case "modified":
        return this.#changeBack(before, after);
      case "removed":
        return { changes: this.#restore(before, this.#path), restored: [{ at, did: "restored" }] };
      case "moved":
        return this.#moveBack();
      default:
        return nothing;
    }
  }

  /** Takes away what the change made, if it is still as the change made it. */
  async #remove(after: Snapshot | undefined): Promise<Inverse> {
    const path = this.#path;
    const there = this.#kindThere(path);
    if (there === undefined) return nothing;
    const restored: Restored[] = [{ at: this.#file.at, did: "removed" }];
    if (after?.kind === "file") {
      const current = await this.#bytesAt(path);
      if (current === undefined || !this.#is(after, current)) throw this.#stale(current);
      return { changes: [{ kind: "remove", path, expect: current }], restored };
    }
    if (after === undefined || !sameTree(this.#workspace, path, after, this.#objects)) throw this.#stale();
    return { changes: [{ kind: "remove", path, recursive: true }], restored };
  }

  /** The old content again, with what was changed elsewhere in the file since. */
  async #changeBack(before: Snapshot | undefined, after: Snapshot | undefined): Promise<Inverse> {
    const path = this.#path;
    const { at } = this.#file;
    if (before?.kind !== "file" || after?.kind !== "file") {
      const gone = await this.#remove(after);
      const changes = this.#restore(before, path);
      if (gone.changes.length > 0 && changes.length > 0) throw this.#notKept();
      return { changes, restored: [{ at, did: "restored" }] };
    }
    const current = await this.#bytesAt(path);
    if (current === undefined) {
      const kind = this.#kindThere(path);
      throw kind === undefined
        ? new Fault("not_found", { path: at })
        : new Fault("not_a_file", { path: at, kind });
    }
    const { bytes, exact } = await this.#merged(before, after, current);
    const sameMode = this.#workspace.lstat(path).mode === before.mode;
    if (bytes.equals(current) && exact && sameMode) return nothing;
    const times = exact ? { modified: new Date(before.modified) } : {};
    return {
      changes: [{ kind: "write", path, bytes, expect: current, mode: before.mode, ...times }],
      restored: [{ at, did: "changed back", before: current, after: bytes }],
    };
  }

  async #moveBack(): Promise<Inverse> {
    const { at, from = "", before, after, replaced } = this.#file;
    const back = this.#workspace.recorded(from);
    if (this.#kindThere(back) !== undefined) throw new Fault("exists", { path: from });
    const restored: Restored[] = [{ at: from, did: "moved back", from: at }];
    if (this.#kindThere(this.#path) === undefined) throw new Fault("not_found", { path: at });
    if (before?.kind === "file" && after?.kind === "file") {
      const current = await this.#bytesAt(this.#path);
      if (current === undefined) throw this.#stale();
      const { bytes } = await this.#merged(before, after, current);
      const move = { kind: "move", from: this.#path, to: back, bytes, expect: current } as const;
      return { changes: [move], restored };
    }
    if (replaced === undefined) {
      return { changes: [{ kind: "move", from: this.#path, to: back }], restored };
    }
    // One name cannot be left and taken in one commit, so what was replaced is written over what is written back.
    const current = await this.#bytesAt(this.#path);
    const bytes = replaced.kind === "file" && replaced.hash ? this.#objects.get(replaced.hash) : undefined;
    if (current === undefined || bytes === undefined || replaced.kind !== "file") throw this.#notKept();
    const { mode } = this.#workspace.lstat(this.#path);
    const modified = new Date(replaced.modified);
    return {
      changes: [
        { kind: "write", path: back, bytes: current, expect: "absent", mode },
        { kind: "write", path: this.#path, bytes, expect: current, mode: replaced.mode, modified },
      ],
      restored: [...restored, { at, did: "restored" }],
    };
  }

  #restore(snapshot: Snapshot | undefined, path: WorkspacePath): readonly Change[] {
    if (this.#kindThere(path) !== undefined) throw new Fault("exists", { path: this.#file.at });
    const changes = snapshot && restoring(snapshot, path, this.#objects);
    if (changes === undefined) throw this.#notKept();
    return changes;
  }

  async #merged(
    before: Snapshot & { kind: "file" },
    after: Snapshot & { kind: "file" },
    current: Buffer,
  ): Promise<{ bytes: Buffer; exact: boolean }> {
    const old = before.hash === undefined ? undefined : this.#objects.get(before.hash);
    if (old === undefined) throw this.#notKept();
    if (this.#is(after, current)) return { bytes: old, exact: true };
    const made = after.hash === undefined ? undefined : this.#objects.get(after.hash);
    if (made === undefined) throw this.#stale(current);
    const theirs = await decode(this.#file.at, current);
    const [base, ours] = [
      await likeNow(this.#file.at, made, theirs),
      await likeNow(this.#file.at, old, theirs),
    ];
    if (base === undefined || ours === undefined) throw this.#stale(current);
    const merged = await merge(base, { text: ours }, theirs);
    if ("text" in merged) return { bytes: merged.text.bytes, exact: false };
    const isMasked = this.#path.root.rules.decide(this.#file.at).contents === "masked";
    const shown = isMasked ? { current: [] } : collision(merged.overlaps);
    throw new Fault("stale", { path: this.#file.at, version: version(current), ...shown });
  }

  #is(snapshot: Snapshot & { kind: "file" }, bytes: Buffer): boolean {
    return (
      snapshot.size === bytes.length &&
      snapshot.hash !== undefined &&
      this.#objects.isHash(snapshot.hash, bytes)
    );
  }

  #kindThere(path: WorkspacePath): Kind | undefined {
    try {
      return this.#workspace.lstat(path).kind;
    } catch (error) {
      if (Fault.is(error, "not_found") || Fault.is(error, "not_a_directory")) return undefined;
      throw error;
    }
  }

  async #bytesAt(path: WorkspacePath): Promise<Buffer | undefined> {
    if (this.#kindThere(path) !== "file") return undefined;
    using file = this.#workspace.unmaskedFile(path);
    return await file.bytes(this.#workspace.archive.limits.maxFileBytes);
  }

  #stale(current: Buffer = Buffer.alloc(0)): Fault {
    return new Fault("stale", { path: this.#file.at, current: [], version: version(current) });
  }

  #notKept(): Fault {
    return new Fault("not_kept", { path: this.#file.at, change: this.#record.id });
  }
}
