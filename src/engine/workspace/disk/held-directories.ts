// The directories that a commit works in, each held open once, and references to entries in them: a directory and a
// name. A journal identifies a directory by path, inode and birth, so that recovery acts on the same directory or on
// none.
import type { Stats } from "node:fs";
import { Fault } from "../../fault.ts";
import { ifThere } from "../errno.ts";
import { bytesOf, display, Handle } from "../handle.ts";
import { isOverlay, keepsBirths, tellsBirths } from "../system/file-system.ts";
import type { Address } from "../system/held.ts";
import { onWindows } from "../windows-path.ts";
import type { DiskTop } from "./disk-top.ts";
import { sys } from "./syscalls.ts";

/** A name in a directory. The name is its bytes as Latin-1, exact for names that are not UTF-8. */
export interface EntryRef {
  readonly place: number;
  readonly name: string;
}

/** A file that an edit has read, still open. */
export interface ReadFile {
  readonly fd: number;
  readonly stat: Stats;
}

/** A directory that existed. */
export interface FoundDirectory {
  readonly at: string;
  readonly device: number;
  readonly inode: number;
  /** When it was made, where the file system says so. */
  readonly born?: number;
  /** The file system that it is on. */
  readonly top?: DiskTop;
  /** It is the state directory's own place for old content. */
  readonly aside?: true;
}

/** A directory that existed, or one that the commit creates in another. */
export type DirectoryRecord = FoundDirectory | { readonly within: number; readonly name: string };

/** A directory that was found at a path. */
export interface ExistingParent {
  readonly place: number;
  /** As it is written (name.ts). */
  readonly path: string;
  readonly device: number;
  readonly inode: number;
}

/** A directory that is still to be made at a path. */
export interface NewParent {
  readonly place: number;
  /** As it is written (name.ts). */
  readonly path: string;
  /** The lock key for its entries. */
  readonly key: string;
  /** The outermost missing directory. Undefined if the commit removes something with that name. */
  readonly missing?: EntryRef;
}

export function entryKey({ place, name }: EntryRef): string {
  return `${place}/${name}`;
}

export class HeldDirectories implements Disposable {
  readonly records: DirectoryRecord[] = [];
  /** Those whose parents the commit has flushed: they are made before anything is put into them. */
  readonly reachable = new Set<number>();
  /** The directories that changes name an entry in, by the path that led there. */
  readonly existingParents = new Map<string, ExistingParent>();
  /** The same for directories that the commit creates. */
  readonly newParents = new Map<string, NewParent>();
  /** The places that exist. Another directory at one path, and one at another path, have other keys. */
  readonly found = new Map<number, string>();
  /** Entries that a change of the commit frees, so that a later change may use the name. */
  readonly vacated = new Set<string>();
  readonly #handles: (Handle | undefined)[] = [];
  readonly #read = new Map<string, ReadFile>();
  readonly #lent = new Set<Handle>();
  readonly #known = new Map<string, number>();

  /** Takes over the handle of a directory that was found at `path`, on the file system of `topOf`. */
  add(handle: Handle, path: string, stat: Stats, topOf: () => DiskTop | undefined): number {
    const at = bytesOf(path);
    const key = `${stat.dev}:${stat.ino}`;
    const same = this.#known.get(key);
    if (same !== undefined) {
      handle.close();
      return same;
    }
    const top = topOf();
    const place = this.#push(key, { at, ...marksOf(stat), ...(top && { top }) }, handle);
    this.found.set(place, `${key}:${stat.birthtimeMs}:${at}`);
    return place;
  }

  /** A directory whose handle belongs to the caller. */
  lend(handle: Handle, record: FoundDirectory): number {
    const key = `${record.device}:${record.inode}`;
    this.#lent.add(handle);
    return this.#known.get(key) ?? this.#push(key, record, handle);
  }

  find({ device, inode }: { readonly device: number; readonly inode: number }): number | undefined {
    return this.#known.get(`${device}:${inode}`);
  }

  /** A directory that is still to be made. */
  addNew(within: number, name: string): number {
    const key = `${within}/${name}`;
    return this.#known.get(key) ?? this.#push(key, { within, name }, undefined);
  }

  /** The new directory at an entry, if there is one. */
  newAt(entry: EntryRef): number | undefined {
    return this.#known.get(`${entry.place}/${entry.name}`);
  }

  /** The nearest existing directory: content for a new directory is staged in it. */
  existing(place: number): number {
    const record = this.records[place];
    return record !== undefined && "within" in record ? this.existing(record.within) : place;
  }

  isNew(place: number): boolean {
    const record = this.records[place];
    return record !== undefined && "within" in record;
  }

  handle(place: number): Handle {
    const held = this.#handles[place] ?? this.#enter(place);
    if (held === undefined) throw new Fault("not_found", { path: "" });
    return held;
  }

  /** Whether the directory exists still, where it was found. */
  isThere(place: number): boolean {
    return ifThere(() => this.handle(place)) !== undefined;
  }

  address(entry: EntryRef): Address {
    return this.handle(entry.place).below(addressOf(entry.name));
  }

  /** Keeps a file open that was read at an entry, so that it can be compared without being opened again. */
  keepOpen(entry: EntryRef, file: ReadFile): void {
    this.closeFile(entry); // two paths may lead to one file
    this.#read.set(entryKey(entry), file);
  }

  /** The file that was read at an entry and is still open. */
  readAt(entry: EntryRef): ReadFile | undefined {
    return this.#read.get(entryKey(entry));
  }

  closeFile(entry: EntryRef): void {
    const file = this.readAt(entry);
    if (file === undefined) return;
    this.#read.delete(entryKey(entry));
    sys.close(file.fd);
  }

  /** Whether every existing directory of users is still where it was found. */
  areCurrent(): boolean {
    return this.records.every((record, place) => {
      const handle = this.#handles[place];
      return "within" in record || record.aside || handle === undefined || isStill(handle, record.at);
    });
  }

  /** Holds the directories of users, to find them again if they are moved: a commit that waits has content there. */
  holdOn(): DirectoriesOfUsers {
    const held = new DirectoriesOfUsers();
    for (const [place, record] of this.records.entries()) {
      const handle = this.#handles[place];
      if (!("at" in record) || record.aside || handle === undefined) continue;
      try {
        held.handles.set(keyOf(record), Handle.open(handle.address));
      } catch {
        break; // no descriptors left: look it up by path
      }
    }
    return held;
  }

  /**
   * Reopens the directories of a journal entry; those that `open` does not find stay closed. The records of the others
   * name what was opened, which may have another inode after a power cut.
   */
  static reopen(
    records: readonly DirectoryRecord[],
    open: (record: FoundDirectory) => Handle | undefined = record => openRecorded(record, true),
  ): HeldDirectories {
    const places = new HeldDirectories();
    try {
      for (const [place, record] of records.entries()) {
        const handle = "at" in record ? open(record) : undefined;
        places.#push(String(place), handle && "at" in record ? identified(record, handle) : record, handle);
      }
      return places;
    } catch (error) {
      places[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.#read.values()) sys.close(fd);
    this.#read.clear();
    for (const handle of this.#handles) if (handle !== undefined && !this.#lent.has(handle)) handle.close();
    this.#handles.length = 0;
  }

  #push(key: string, record: DirectoryRecord, handle: Handle | undefined): number {
    this.records.push(record);
    this.#known.set(key, this.records.length - 1);
    return this.#handles.push(handle) - 1;
  }

  /** Opens a directory that this commit made. */
  #enter(place: number): Handle | undefined {
    const record = this.records[place];
    if (record === undefined || !("within" in record)) return undefined;
    const handle = Handle.open(this.address({ place: record.within, name: record.name }), { follow: false });
    if (!handle.stat().isDirectory()) {
      handle.close();
      return undefined;
    }
    this.#handles[place] = handle;
    return handle;
  }
}

/** Directories that stay open after their commit, wherever they are moved. */
export class DirectoriesOfUsers implements Disposable {
  readonly handles = new Map<string, Handle>();

  /** One that a record names. The caller closes it. */
  open(record: FoundDirectory): Handle | undefined {
    const held = this.handles.get(keyOf(record));
    return held === undefined ? undefined : Handle.open(held.address);
  }

  [Symbol.dispose](): void {
    for (const handle of this.handles.values()) handle.close();
    this.handles.clear();
  }
}

function identified(record: FoundDirectory, handle: Handle): FoundDirectory {
  const stat = handle.stat();
  const isAsRecorded = stat.dev === record.device && stat.ino === record.inode;
  return isAsRecorded ? record : { ...record, ...marksOf(stat) };
}

/** What a record says of a directory besides its path. */
export function marksOf({
  dev,
  ino,
  birthtimeMs,
}: Pick<Stats, "dev" | "ino" | "birthtimeMs">): Omit<FoundDirectory, "at"> {
  return { device: dev, inode: ino, ...(birthtimeMs > 0 && { born: birthtimeMs }) };
}

function keyOf({ device, inode }: FoundDirectory): string {
  return `${device}:${inode}`;
}

/** Opens the directory that a record names; undefined if it is gone or has been replaced. */
export function openRecorded(record: FoundDirectory, sameBoot: boolean): Handle | undefined {
  const own = record.aside === true;
  const handle = ifThere(() => Handle.open(exact(record.at), { follow: false, own }));
  if (handle === undefined || isDirectoryOf(handle, record, sameBoot)) return handle;
  handle.close();
  return undefined;
}

/**
 * Whether this is the directory that a record names. A device number may change at a reboot, and when a disk is mounted or
 * a container is started again, and another disk may get it. That disk may have a directory with the same inode number,
 * such as its top, in the same place, but one that was born at another time. A directory of a container's image has another
 * birth after the first change in it, because it was copied for that. Where the layers of a container are on several disks,
 * its directories get new numbers each time, and their birth tells.
 */
export function isDirectoryOf(
  handle: Handle,
  { device, inode, born }: FoundDirectory,
  sameBoot: boolean,
): boolean {
  const stat = handle.stat();
  if (!stat.isDirectory()) return false;
  const isNumbered = stat.ino === inode;
  const isBorn = stat.birthtimeMs === born;
  if (isNumbered && isBorn) return true;
  const isUnknown = born === undefined || stat.birthtimeMs === 0 || !tellsBirths();
  const isBelieved = sameBoot ? stat.dev === device && (isUnknown || !keepsBirths) : isUnknown;
  if (isNumbered && isBelieved) return true;
  return (isNumbered || isBorn) && isOverlay(handle.address);
}

/** A single name for system calls, from its bytes as Latin-1. Throws for `.`, `..` and anything with a separator. */
export function addressOf(name: string): Address {
  if (!isSingleName(name)) throw new Fault("invalid_path", { path: display(name), reason: "reserved" });
  return exact(name);
}

export function isSingleName(name: string): boolean {
  if (onWindows && /[\\:]/.test(name)) return false;
  return name !== "" && name !== "." && name !== ".." && !name.includes("/") && !name.includes("\0");
}

function exact(bytes: string): Address {
  return /[\x80-\xff]|\\x/.test(bytes) ? Buffer.from(bytes, "latin1") : bytes;
}

export function nameOf(address: Address): string {
  return typeof address === "string" ? bytesOf(address) : address.toString("latin1");
}

function isStill(handle: Handle, at: string): boolean {
  try {
    return handle.whereabouts() === at;
  } catch {
    return false;
  }
}
