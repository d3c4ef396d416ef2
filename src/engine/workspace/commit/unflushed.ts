// What commits have put in place and nobody has flushed to it yet: until that is done, their journal must stay.
import { constants } from "node:fs";
import { errnoOf } from "../errno.ts";
import type { Handle } from "../handle.ts";
import { addressOf, identified, type Places } from "./place.ts";
import { flushDirectory, openToFlush } from "./stage.ts";
import type { Staged, Step } from "./step.ts";
import { sys } from "./syscalls.ts";

/** A directory to flush, and files in it. */
interface Folder {
  readonly at: string;
  readonly device: number;
  readonly inode: number;
  readonly names: Set<string>;
}

export class Unflushed {
  readonly #folders = new Map<string, Folder>();

  /** Notes what the steps of a commit have put in place. Files that are flushed already need not be again. */
  note(steps: readonly Step[], places: Places, isFlushed: (staged: Staged) => boolean): void {
    for (const step of steps) {
      if (step.do === "make") this.#folder(step.at.place, places);
      else if (step.do === "rewrite") this.#folder(step.at.place, places).names.add(step.at.name);
      else {
        const { names } = this.#folder(step.to.place, places);
        if (step.staged !== undefined && !isFlushed(step.staged)) names.add(step.to.name);
        if (step.from.place !== step.to.place) this.#folder(step.from.place, places);
      }
    }
  }

  #folder(place: number, places: Places): Folder {
    const { at, device, inode } = recordOf(place, places);
    const key = `${device}:${inode}`;
    const known = this.#folders.get(key);
    if (known !== undefined) return known;
    const fresh = { at, device, inode, names: new Set<string>() };
    this.#folders.set(key, fresh);
    return fresh;
  }

  async flush(): Promise<void> {
    for (const [key, one] of this.#folders) {
      await flushAll(one);
      this.#folders.delete(key);
    }
  }

  /** The same at once, where nobody can wait. */
  flushNow(): void {
    for (const one of this.#folders.values()) flushAllNow(one);
  }
}

/** Where a directory is, and which one: also one that the commit has made. */
function recordOf(place: number, places: Places): Omit<Folder, "names"> {
  const record = places.records[place];
  if (record !== undefined && "at" in record) return record;
  const handle = places.handle(place);
  const { dev, ino } = handle.stat();
  return { at: handle.whereabouts(), device: dev, inode: ino };
}

async function flushAll(one: Folder): Promise<void> {
  using directory = identified(one, false);
  if (directory === undefined) return;
  for (const name of one.names) {
    const fd = openIfThere(directory, name);
    if (fd === undefined) continue;
    try {
      await sys.flushLater(fd);
    } finally {
      sys.close(fd);
    }
  }
  await flushDirectory(directory);
}

function flushAllNow(one: Folder): void {
  using directory = identified(one, false);
  if (directory === undefined) return;
  for (const name of one.names) {
    const fd = openIfThere(directory, name);
    if (fd !== undefined) flushOne(fd);
  }
  const fd = openToFlush(directory);
  if (fd !== undefined) flushOne(fd);
}

function flushOne(fd: number): void {
  try {
    sys.flush(fd);
  } finally {
    sys.close(fd);
  }
}

function openIfThere(directory: Handle, name: string): number | undefined {
  try {
    const address = directory.below(addressOf(name));
    if (!sys.lstat(address)?.isFile()) return undefined;
    return sys.open(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "EACCES" || errnoOf(error) === "ELOOP")
      return undefined;
    throw error;
  }
}
