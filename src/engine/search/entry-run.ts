// A stretch of a walk through one directory: entries that follow each other, and the directory to enter after them. It
// is cached with its plan (directory-plan.ts). The names are packed; what is made of them is kept if there is room.
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import { unpack } from "../workspace/packed-names.ts";
import type { Globs } from "./globs.ts";

/** Entries that stay valid until the directory changes, and data derived from them. */
export interface EntryBatch {
  readonly entries: readonly DirectoryEntry[];
  /** Set by the last consumer. */
  text?: BatchText;
}

export interface BatchText {
  /** What kind of text it is. */
  readonly form: string;
  readonly text: string;
  /** How many of the entries it is about. */
  readonly count: number;
}

const none: readonly never[] = [];
/** Chosen entries that are always kept. */
const mostKept = 2;

export class EntryRun {
  readonly names: string;
  /** How many of its entries are files. */
  readonly files: number;
  readonly into: DirectoryEntry | undefined;
  #batch: EntryBatch | undefined = undefined;
  /** The entries that the latest globs match. */
  #chosen: EntryBatch | undefined = undefined;
  #include: Globs | undefined = undefined;

  constructor(names: string, files: number, into: DirectoryEntry | undefined) {
    this.names = names;
    this.files = files;
    this.into = into;
  }

  batch(isKept: boolean): EntryBatch {
    if (this.#batch !== undefined) return this.#batch;
    const batch = { entries: unpack(this.names) };
    if (isKept) this.#batch = batch;
    return batch;
  }

  /** Those that globs match: the same ones choose the same, because a plan is made for one place. */
  chosen(include: Globs, prefix: string, isKept: boolean): EntryBatch {
    if (this.#include === include && this.#chosen !== undefined) return this.#chosen;
    let entries: readonly DirectoryEntry[] = none;
    if (include.mayMatchIn(this.names)) {
      const { entries: all } = this.#batch ?? { entries: unpack(this.names) };
      entries = all.filter(({ name }) => include.matches(prefix + name));
    }
    const chosen = { entries };
    if (isKept || entries.length <= mostKept) {
      this.#include = include;
      this.#chosen = chosen;
    }
    return chosen;
  }

  /** Keeps only the names from now on. */
  shrink(): void {
    this.#batch = undefined;
    this.#chosen = undefined;
    this.#include = undefined;
  }
}
