// Which masked files of a base or a fork were written. Such a file counts as changed if it was written, whatever was
// written: comparing it with a value that a caller chose would tell the caller whether that is the hidden one. What
// callers do is recorded. Other programs are noticed by times of modification, which alone prove nothing: a file that is
// moved keeps its time.
import { type ListStart, listStart } from "../workspace/archive/log.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { isWithinAny, pathsAbove } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { LiveView, type TreeView } from "./merge-side.ts";

/** One write of a file. Another one has another number. */
export type WriteNumber = number;

/** How a merge wrote a masked file of the base. */
export interface MergedWrite {
  readonly change: string;
  readonly write: WriteNumber;
}

export interface BaseWrites {
  /** Whether a file was not written since. `fork` stands for the time when the fork was made. What is unknown counts as written. */
  isUnwritten(path: string, since: MergedWrite | "fork" | undefined): boolean;
  /** The writes of a change; undefined if something has written the file since. */
  of(change: string): (path: string) => WriteNumber | undefined;
}

/** Whether recorded changes of a workspace since then name a path, or a directory above it. Absolute paths. */
export function changedSince(workspace: Workspace, start: ListStart): (at: string) => boolean {
  const named = new Set<string>();
  for (const record of workspace.archive.changes.newest()) {
    if (start.isEnd(record.id)) break;
    if (start.has(record)) for (const { at, from = at } of record.files) named.add(at).add(from);
  }
  return at => isWithinAny(at, named);
}

/** Copies get the time of the base in floating point, which may differ a little. What a tool writes has a new one. */
const sameTimeMs = 1;

/** Of a base on this machine: its records, and times of modification. */
export class LocalWrites implements BaseWrites {
  readonly #frozen: TreeView;
  readonly #live: LiveView;
  readonly #base: Workspace;
  /** When the fork was made. */
  readonly #made: number;
  readonly #changed = new Map<string, (at: string) => boolean>();

  /** All changes of the base are recorded. */
  constructor(frozen: TreeView, base: Workspace, made: number) {
    this.#frozen = frozen;
    this.#live = new LiveView(base);
    this.#base = base;
    this.#made = made;
  }

  isUnwritten(path: string, since: MergedWrite | "fork" | undefined): boolean {
    if (since === undefined) return false;
    const then = since === "fork" ? this.#frozen.at(path)?.modified : since.write;
    const now = this.#live.at(path)?.modified;
    if (then === undefined || now === undefined || Math.abs(then - now) > sameTimeMs) return false;
    return !this.#isChanged(path, since === "fork" ? "" : since.change);
  }

  of(change: string): (path: string) => WriteNumber | undefined {
    return path => (this.#isChanged(path, change) ? undefined : this.#live.at(path)?.modified);
  }

  /** Whether a change after this one names the path; after the fork was made, for an empty id. */
  #isChanged(path: string, after: string): boolean {
    let isNamed = this.#changed.get(after);
    if (isNamed === undefined) {
      const record = after === "" ? undefined : this.#base.archive.changes.get(after);
      if (after !== "" && record === undefined) return true;
      isNamed = changedSince(this.#base, record ? listStart(record) : listStart(undefined, this.#made));
      this.#changed.set(after, isNamed);
    }
    return isNamed(this.#live.pathOf(path).absolute);
  }
}

/** An entry of a base's log. */
export interface BaseEntry {
  readonly id: string;
  readonly revision: number;
  readonly operations: readonly Operation[];
}

/** Of a base in a shared store: the revisions that name a path, or move or remove a directory above it. */
export class LogWrites implements BaseWrites {
  readonly #last = new Map<string, WriteNumber>();
  readonly #revisions = new Map<string, number>();

  /** `entries`: all since the fork was made. */
  constructor(entries: Iterable<BaseEntry>) {
    for (const { id, revision, operations } of entries) {
      this.#revisions.set(id, revision);
      for (const operation of operations) {
        if (operation.do === "mkdir" || operation.do === "mode") continue;
        this.#last.set(operation.at, revision);
        if (operation.do === "move") this.#last.set(operation.from, revision);
      }
    }
  }

  isUnwritten(path: string, since: MergedWrite | "fork" | undefined): boolean {
    const last = Math.max(0, ...[path, ...pathsAbove(path)].map(one => this.#last.get(one) ?? 0));
    return last === (since === "fork" ? 0 : since?.write);
  }

  of(change: string): () => WriteNumber | undefined {
    return () => this.#revisions.get(change);
  }
}
