// What commits have put in place and not flushed yet: until that is done, their journal must stay.
import { constants } from "node:fs";
import { traced } from "../../span.ts";
import { addressOf, type EntryRef, type HeldDirectories, openRecorded } from "../disk/held-directories.ts";
import { flushAndClose, flushAndCloseLater, sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import type { Handle } from "../handle.ts";
import { isWithin, under } from "../root.ts";
import { forEachConcurrently } from "../system/concurrently.ts";
import { revivesNames } from "../system/file-system.ts";
import { manyFiles, wholeFlush } from "../system/whole-flush.ts";
import { forFlushing, onWindows } from "../windows-path.ts";
import { FlushedDirectories, flushReachable, flushReachableLater } from "./durable-directory.ts";
import type { StagedAttributes, Step } from "./step.ts";

/** A directory to flush, and files in it. */
interface Folder {
  readonly at: string;
  readonly device: number;
  readonly inode: number;
  readonly names: Set<string>;
  /** Whether a name of the user's was removed from it. */
  removed?: boolean;
}

export class Unflushed {
  #folders = new Map<string, Folder>();
  /** Commits that were noted and not flushed yet. */
  readonly #ids = new Set<string>();
  /** Commits of which nothing is left to flush. */
  readonly flushed = new Set<string>();
  #flushing = new Map<string, Folder>();
  #running: Promise<void> | undefined;

  /** Notes what the steps of a commit put in place. Files that are flushed already are skipped. */
  note(
    id: string,
    steps: readonly Step[],
    places: HeldDirectories,
    isFlushed: (staged: StagedAttributes) => boolean,
  ): void {
    this.#ids.add(id);
    const known = new Map<number, Folder>();
    const folder = (place: number) => {
      const found = known.get(place) ?? this.#folder(place, places);
      known.set(place, found);
      return found;
    };
    for (const step of steps) {
      if (step.do === "make" || step.do === "mode") folder(step.at.place);
      else if (step.do === "dismantle") folder(step.at.place).removed = true;
      else if (step.do === "rewrite") folder(step.at.place).names.add(step.at.name);
      else {
        const { names } = folder(step.to.place);
        if (step.staged !== undefined && !isFlushed(step.staged)) names.add(step.to.name);
        if (step.staged === undefined) folder(step.from.place).removed = true;
        else if (step.from.place !== step.to.place) folder(step.from.place);
      }
    }
  }

  /**
   * Notes directories in which temporary files were removed: a name must not reappear without its journal. That the
   * commit noted them is not enough: they may have been flushed before the removal.
   */
  noteRemoved(entries: readonly EntryRef[], places: HeldDirectories): void {
    for (const place of new Set(entries.map(entry => entry.place))) {
      const record = places.records[place];
      const isAside = record !== undefined && "at" in record && record.aside;
      if (!isAside) this.#folder(place, places);
    }
  }

  /** Whether moving `name` in the directory `at` would move something unflushed. */
  overlaps(at: string, name: string): boolean {
    const path = under(at, name);
    return [...this.#folders.values(), ...this.#flushing.values()].some(
      folder => folder.at === at || isWithin(folder.at, path),
    );
  }

  #folder(place: number, places: HeldDirectories): Folder {
    const { at, device, inode } = recordOf(place, places);
    // One that was moved meanwhile is found at its new path only.
    const key = `${device}:${inode}:${at}`;
    const known = this.#folders.get(key);
    if (known !== undefined) return known;
    const fresh = { at, device, inode, names: new Set<string>() };
    this.#folders.set(key, fresh);
    return fresh;
  }

  async flush(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {}); // commits continue in between
    this.#flushing = this.#folders;
    this.#folders = new Map();
    this.#running = traced("flush", () => this.#flush([...this.#ids])).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  /**
   * A commit counts as flushed when all that it put in place is, and until then every folder of the batch counts as
   * unflushed: a move or a removal there has to wait. Otherwise its journal entry could not list the earlier commit as
   * flushed, and recovery would write the old content again at a name that is free by now.
   */
  async #flush(ids: readonly string[]): Promise<void> {
    try {
      const whole = await flushWhole([...this.#flushing.values()]);
      await flushAll([...this.#flushing.values()].filter(({ device }) => !whole.has(device)));
    } catch (error) {
      for (const [again, { names, removed, ...rest }] of this.#flushing) {
        const since = this.#folders.get(again);
        const all = new Set([...names, ...(since?.names ?? [])]);
        this.#folders.set(again, { ...rest, names: all, removed: removed || since?.removed });
      }
      throw error;
    } finally {
      this.#flushing = new Map();
    }
    for (const id of ids) {
      this.#ids.delete(id);
      this.flushed.add(id);
    }
  }

  /** The synchronous form. Throws instead of flushing more than `most` files one by one. */
  flushNow(most = Number.POSITIVE_INFINITY): void {
    const all = [...this.#flushing.values(), ...this.#folders.values()];
    const whole = new Set<number>();
    for (const { device, path } of flushedWhole(all)) if (wholeFlush.now(path)) whole.add(device);
    const left = all.filter(({ device }) => !whole.has(device));
    if (left.reduce((sum, { names }) => sum + names.size + 1, 0) > most)
      throw new Error("too many files to flush at once");
    flushAllNow(left);
  }
}

/** Flushes some file systems as a whole. Returns their devices. */
async function flushWhole(folders: readonly Folder[]): Promise<Set<number>> {
  const done = new Set<number>();
  for (const { device, path } of flushedWhole(folders)) if (await wholeFlush.later(path)) done.add(device);
  return done;
}

/**
 * The file systems to flush as a whole, each with one of its directories: those with many files to flush, and those
 * on which flushing a directory does not make the removal of a name durable.
 */
function* flushedWhole(folders: readonly Folder[]): Generator<{ device: number; path: string }> {
  for (const device of new Set(folders.map(folder => folder.device))) {
    const all = folders.filter(folder => folder.device === device);
    const many = all.reduce((sum, { names }) => sum + names.size + 1, 0) >= manyFiles;
    for (const folder of many ? all : all.filter(({ removed }) => removed)) {
      using directory = openRecorded(folder, false);
      if (directory === undefined) continue;
      const path = directory.currentPath();
      if (many || revivesNames(path)) yield { device, path };
      break;
    }
  }
}

/** What steps move or remove: before that, what earlier commits wrote there has to be flushed. */
export function movedEntries(steps: readonly Step[]): EntryRef[] {
  return steps.flatMap(step => {
    if (step.do === "dismantle") return [step.at];
    return step.do === "move" && !step.staged ? [step.from, step.to] : [];
  });
}

/** The path and identity of a directory, also of one that the commit created. */
function recordOf(place: number, places: HeldDirectories): Omit<Folder, "names"> {
  const record = places.records[place];
  if (record !== undefined && "at" in record) return record;
  const handle = places.handle(place);
  const { dev, ino } = handle.stat();
  return { at: handle.whereabouts(), device: dev, inode: ino };
}

/** All files first, then the directories. */
async function flushAll(folders: readonly Folder[]): Promise<void> {
  const files = folders.flatMap(folder => [...folder.names].map(name => ({ folder, name })));
  await forEachConcurrently(files, async ({ folder, name }) => {
    using directory = openRecorded(folder, false);
    await flushAndCloseLater(directory && openFileToFlush(directory, name));
  });
  const reached = new FlushedDirectories();
  await forEachConcurrently(folders, async folder => {
    using directory = openRecorded(folder, false);
    if (directory !== undefined) await flushReachableLater(directory, reached);
  });
}

function flushAllNow(folders: readonly Folder[]): void {
  const reached = new FlushedDirectories();
  for (const folder of folders) {
    using directory = openRecorded(folder, false);
    if (directory === undefined) continue;
    for (const name of folder.names) flushAndClose(openFileToFlush(directory, name));
    flushReachable(directory, reached);
  }
}

function openFileToFlush(directory: Handle, name: string): number | undefined {
  try {
    const address = directory.below(addressOf(name));
    if (!sys.lstat(address)?.isFile()) return undefined;
    return sys.open(address, forFlushing | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (
      ["ENOENT", "EACCES", "ELOOP", ...(onWindows ? ["EPERM", "EBUSY"] : [])].includes(errnoOf(error) ?? "")
    )
      return undefined;
    throw error;
  }
}
