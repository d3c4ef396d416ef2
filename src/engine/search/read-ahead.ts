// Reads several directories of one parent in one go. Each is read under its name in the parent, which is held open; it
// is not held itself. The parent's stamp, taken before and compared afterwards, shows that no name was swapped meanwhile
// (`Directory.listedBelow`).
import type { Directory, ListedDirectory } from "../workspace/directory.ts";
import type { DirectoryEntry } from "../workspace/directory-entry.ts";
import type { DirectoryStamp } from "../workspace/directory-stamp.ts";
import type { EntryRun } from "./entry-run.ts";
import type { Knowledge } from "./listing-cache.ts";

/** Few at first, because the walk may end early; limited later, because other work waits for the batch. */
const firstCount = 4;
const mostCount = 32;
const mostEntries = 1000;

export class ReadAhead {
  readonly #stamp: DirectoryStamp;
  readonly #ready = new Map<DirectoryEntry, ListedDirectory | undefined>();
  #count = firstCount;
  #isOff: boolean;

  constructor(parent: Directory, knowledge: Knowledge) {
    this.#stamp = parent.mark();
    this.#isOff = !knowledge.proves(this.#stamp, parent);
  }

  /**
   * Reads `entry`, and with it the directories that the walk enters after it: those that `runs` have from `next` on, as
   * far as `isWanted`. Undefined if it has to be opened.
   */
  read(
    entry: DirectoryEntry,
    parent: () => Directory | undefined,
    runs: readonly EntryRun[],
    next: number,
    isWanted: (entry: DirectoryEntry) => boolean,
  ): ListedDirectory | undefined {
    const ready = this.#ready.get(entry);
    if (this.#isOff || ready !== undefined) {
      this.#ready.delete(entry);
      return ready;
    }
    const batch = [entry];
    for (let i = next; i < runs.length && batch.length < this.#count; i++) {
      const into = runs[i]?.into;
      if (into !== undefined && isWanted(into)) batch.push(into);
    }
    this.#count = Math.min(2 * this.#count, mostCount);
    if (batch.length === 1) return undefined;
    const listed = parent()?.listedBelow(batch, this.#stamp, mostEntries);
    if (listed === undefined) this.#isOff = true;
    for (let i = 1; i < (listed?.length ?? 0); i++) this.#ready.set(batch[i] as DirectoryEntry, listed?.[i]);
    return listed?.[0];
  }
}
