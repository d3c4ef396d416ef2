// When the files of a base were last written. A masked file of the base counts as changed if it was written, whatever was
// written: comparing it with a value that a caller chose would tell the caller whether that is the hidden one.
import type { Operation } from "../workspace/commit/publish.ts";
import { pathsAbove } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { LiveView, type TreeView } from "./merge-side.ts";

/** One write of a file. Another one has another number. */
export type WriteNumber = number;

export interface BaseWrites {
  /** The last write of the file that is at a path; undefined if none is there, or that is unknown. */
  last(path: string): WriteNumber | undefined;
  /** Whether that was the last one. `fork` stands for the time when the fork was made. What is unknown counts as written. */
  isUnwritten(path: string, since: WriteNumber | "fork" | undefined): boolean;
  /** The writes of a change; undefined if something has written the file since. */
  of(change: string): (path: string) => WriteNumber | undefined;
}

/** Copies get the time of the base in floating point, which may differ a little. What a tool writes has a new one. */
const sameTimeMs = 1;

/** Of a base on this machine: times of modification. */
export class FileTimes implements BaseWrites {
  readonly #frozen: TreeView;
  readonly #live: LiveView;
  readonly #base: Workspace;

  /** All changes of the base are recorded. */
  constructor(frozen: TreeView, base: Workspace) {
    this.#frozen = frozen;
    this.#live = new LiveView(base);
    this.#base = base;
  }

  last(path: string): WriteNumber | undefined {
    return this.#live.at(path)?.modified;
  }

  isUnwritten(path: string, since: WriteNumber | "fork" | undefined): boolean {
    const then = since === "fork" ? this.#frozen.at(path)?.modified : since;
    const now = this.last(path);
    return then !== undefined && now !== undefined && Math.abs(then - now) <= sameTimeMs;
  }

  of(change: string): (path: string) => WriteNumber | undefined {
    const later = new Set<string>();
    for (const { id, files } of this.#base.archive.changes.newest()) {
      if (id === change) return path => this.#unlessIn(later, path);
      for (const { at, from } of files) for (const one of [at, from ?? at]) later.add(one);
    }
    return () => undefined;
  }

  #unlessIn(written: ReadonlySet<string>, path: string): WriteNumber | undefined {
    const { absolute } = this.#live.pathOf(path);
    return [absolute, ...pathsAbove(absolute)].some(one => written.has(one)) ? undefined : this.last(path);
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

  last(path: string): WriteNumber {
    return Math.max(0, ...[path, ...pathsAbove(path)].map(one => this.#last.get(one) ?? 0));
  }

  isUnwritten(path: string, since: WriteNumber | "fork" | undefined): boolean {
    return this.last(path) === (since === "fork" ? 0 : since);
  }

  of(change: string): () => WriteNumber | undefined {
    return () => this.#revisions.get(change);
  }
}
