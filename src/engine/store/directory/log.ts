// One workspace's log: a file for each entry, named by its revision. Appending is creating the next name, which only
// one process can do; the revision is found by asking which names exist.
//
// An entry that was pruned is an empty file: its name stays, because the revision is found by names, and a program that
// knows nothing of pruning finds a damaged entry and stops. A checkpoint is a file beside the log. Each process that
// prunes makes one under a name of its own, and relies on no other, which may be withdrawn. The last in the order of
// names counts, and a process removes only checkpoints before its own. Entries are emptied from the first one on.
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { Fault } from "../../fault.ts";
import { openNew } from "../../workspace/archive/folder.ts";
import { namesIn, unlinkIfThere } from "../../workspace/disk/if-there.ts";
import { sys } from "../../workspace/disk/syscalls.ts";
import { TimeSlice } from "../../workspace/footprint/time-slice.ts";
import { checkpointName, prunedUntil } from "../checkpoint-name.ts";
import type { Entry, LogEntry, Revision } from "../store.ts";
import { countedBytes, type StoredEntry as Stored } from "../stored-entry.ts";
import { create, draftPrefix, flushDirectory, valueAt } from "./durable-file.ts";

const checkpointPrefix = "checkpoint.";

interface Checkpoint extends Stored {
  readonly revision: Revision;
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
    const total = last === undefined || last === "damaged" ? 0 : last.total;
    this.#head = { revision, bytes: countedBytes(total, this.#isEmpty(1) ? this.#checkpoint() : undefined) };
    return this.#head;
  }

  /** Another process may have pruned the log since the head was read. */
  forgetHead(): void {
    this.#head = { revision: 0, bytes: 0 };
  }

  /** Whether there are entries after a gap. */
  get hasGap(): boolean {
    const { revision } = this;
    return namesIn(this.#directory).some(name => Number(name) > revision);
  }

  /** Undefined: it was pruned. */
  read(revision: Revision): LogEntry | undefined {
    const stored = this.#stored(revision);
    if (stored === undefined) return undefined;
    const { total: _, ...entry } = stored;
    return { ...entry, revision };
  }

  /** What takes the place of the first entries. */
  get checkpoint(): LogEntry | undefined {
    const found = this.#checkpoint();
    if (found === undefined) return undefined;
    const { id, body, objects, bytes, revision } = found;
    return { id, body, objects, bytes, revision, isCheckpoint: true };
  }

  #checkpoint(): Checkpoint | undefined {
    for (let attempt = 1; ; attempt++) {
      const name = this.#checkpoints().at(-1);
      if (name === undefined) return undefined;
      const stored = valueAt<Stored>(join(this.#own, name));
      if (stored !== undefined && stored !== "damaged")
        return { ...stored, revision: prunedUntil(name) ?? 0 };
      // A later one may have taken its place since.
      if (stored === "damaged" || attempt === 10) throw damaged(name);
    }
  }

  /** In the order in which they count. */
  #checkpoints(): string[] {
    return namesIn(this.#own)
      .filter(name => name.startsWith(checkpointPrefix) && prunedUntil(name) !== undefined)
      .sort();
  }

  /** The first entry that is there. */
  get firstKept(): Revision {
    let [pruned, kept] = [0, this.revision + 1];
    while (kept - pruned > 1) {
      const middle = Math.floor((pruned + kept) / 2);
      if (this.#isEmpty(middle)) pruned = middle;
      else kept = middle;
    }
    return kept;
  }

  /** The last revision that was appended, with all before it, by this time. */
  async reachedBy(time: number): Promise<Revision> {
    const slice = new TimeSlice();
    for (let revision = this.firstKept; ; revision++) {
      const stat = sys.lstat(this.#path(revision));
      if (stat === undefined || stat.mtimeMs > time) return revision - 1;
      if (slice.isOver) await slice.turn();
    }
  }

  /**
   * `isNeeded` says whether a fork begins before the revision. It is asked once the checkpoint is there: a fork that is
   * made later looks for one.
   */
  async prune(
    revision: Revision,
    checkpoint: Entry,
    isNeeded: () => Promise<boolean>,
  ): Promise<"pruned" | "refused"> {
    const before = this.#checkpoint();
    const replaced = this.#stored(revision) ?? before;
    if (replaced?.id !== checkpoint.id || revision < (before?.revision ?? 0)) return "refused";
    const { id, body, objects, bytes } = checkpoint;
    const stored: Stored = { id, body, objects, bytes, total: replaced.total };
    const name = checkpointPrefix + checkpointName(revision, this.#checkpoints().at(-1));
    const path = join(this.#own, name);
    await create(path, this.#own, stored);
    if ((await isNeeded()) || this.#checkpoints().at(-1) !== name) {
      unlinkIfThere(path);
      return "refused";
    }
    const slice = new TimeSlice();
    for (let one = this.firstKept; one <= revision; one++) {
      this.#empty(one);
      if (slice.isOver) await slice.turn();
    }
    await flushDirectory(this.#directory);
    for (const other of this.#checkpoints()) if (other < name) unlinkIfThere(join(this.#own, other));
    this.forgetHead();
    return "pruned";
  }

  /** Whether entries are left for which a checkpoint stands: a process has died, or a fork needed them. */
  get isHalfPruned(): boolean {
    const { checkpoint } = this;
    return checkpoint !== undefined && this.firstKept <= checkpoint.revision;
  }

  #empty(revision: Revision): void {
    const draft = `${this.#directory}/${draftPrefix}${randomBytes(8).toString("hex")}`;
    sys.close(openNew(draft, []));
    try {
      sys.rename(draft, this.#path(revision));
    } catch (error) {
      unlinkIfThere(draft);
      throw error;
    }
  }

  /** False if another process has taken the revision. */
  append(revision: Revision, entry: Entry): Promise<boolean> {
    const before = revision === 1 ? 0 : (this.#stored(revision - 1)?.total ?? 0);
    const { id, body, objects, bytes } = entry;
    const stored: Stored = { id, body, objects, bytes, total: before + bytes };
    return create(this.#path(revision), this.#directory, stored);
  }

  isDamaged(revision: Revision): boolean {
    return valueAt(this.#path(revision)) === "damaged";
  }

  /** Undefined: it was pruned. */
  #stored(revision: Revision): Stored | undefined {
    const stored = valueAt<Stored>(this.#path(revision));
    if (stored !== undefined && stored !== "damaged") return stored;
    const isPruned = this.#isEmpty(revision) && (this.#checkpoint()?.revision ?? 0) >= revision;
    if (!isPruned) throw damaged(`entry ${revision}`);
    return undefined;
  }

  #isEmpty(revision: Revision): boolean {
    return sys.lstat(this.#path(revision))?.size === 0;
  }

  /** The directory of the workspace. */
  get #own(): string {
    return dirname(this.#directory);
  }

  #exists(revision: Revision): boolean {
    return sys.lstat(this.#path(revision)) !== undefined;
  }

  #path(revision: Revision): string {
    return `${this.#directory}/${revision}`;
  }
}

function damaged(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "damaged", detail });
}
