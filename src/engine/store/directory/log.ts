// One workspace's log: a file for each entry, named by its revision. Appending is creating the next name, which only
// one process can do; the revision is found by asking which names exist.
import { Fault } from "../../fault.ts";
import { namesIn } from "../../workspace/disk/if-there.ts";
import { sys } from "../../workspace/disk/syscalls.ts";
import type { Entry, LogEntry, Revision } from "../store.ts";
import { create, valueAt } from "./durable-file.ts";

interface Stored extends Entry {
  /** The sum of `bytes` up to this entry. */
  readonly total: number;
}

export class DirectoryLog {
  readonly #directory: string;
  /** A revision that was reached: the search for the last one begins there. */
  #reached = 0;
  /** The sum of bytes at a revision. */
  #head: { readonly revision: Revision; readonly bytes: number } = { revision: 0, bytes: 0 };

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Names have no gaps, so the last one is found by doubling the step and then halving it. */
  get revision(): Revision {
    // An older backup may have been restored.
    let low = this.#exists(this.#reached) ? this.#reached : 0;
    let step = 1;
    while (this.#exists(low + step)) {
      low += step;
      step *= 2;
    }
    for (step = Math.floor(step / 2); step >= 1; step = Math.floor(step / 2))
      if (this.#exists(low + step)) low += step;
    this.#reached = low;
    return low;
  }

  /** The last revision, and the sum of bytes there: zero where that entry is damaged and nothing can be appended. */
  get head(): { readonly revision: Revision; readonly bytes: number } {
    const { revision } = this;
    if (revision === this.#head.revision) return this.#head;
    const last = valueAt<Stored>(this.#path(revision));
    this.#head = { revision, bytes: last === undefined || last === "damaged" ? 0 : last.total };
    return this.#head;
  }

  /** Whether there are entries after a gap. */
  get hasGap(): boolean {
    const { revision } = this;
    return namesIn(this.#directory).some(name => Number(name) > revision);
  }

  read(revision: Revision): LogEntry {
    const { total: _, ...entry } = this.#stored(revision);
    return { ...entry, revision };
  }

  /** False if another process has taken the revision. */
  append(revision: Revision, entry: Entry): Promise<boolean> {
    const before = revision === 1 ? 0 : this.#stored(revision - 1).total;
    const { id, body, objects, bytes } = entry;
    const stored: Stored = { id, body, objects, bytes, total: before + bytes };
    return create(this.#path(revision), this.#directory, stored);
  }

  isDamaged(revision: Revision): boolean {
    return valueAt(this.#path(revision)) === "damaged";
  }

  #stored(revision: Revision): Stored {
    const stored = valueAt<Stored>(this.#path(revision));
    if (stored === undefined || stored === "damaged")
      throw new Fault("store_unavailable", { reason: "damaged", detail: `entry ${revision}` });
    return stored;
  }

  #exists(revision: Revision): boolean {
    return sys.lstat(this.#path(revision)) !== undefined;
  }

  #path(revision: Revision): string {
    return `${this.#directory}/${revision}`;
  }
}
