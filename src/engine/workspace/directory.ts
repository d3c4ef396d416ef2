// A directory, held open: listing it, descending into it and starting a process in it all mean this directory,
// whatever its name leads to.
import type { Dirent } from "node:fs";
import { Fault } from "../fault.ts";
import { concealedBelow, conceals, isConcealed, isParentOfConcealed } from "./concealed.ts";
import { type DirectoryEntry, entryNamed } from "./directory-entry.ts";
import { type DirectoryStamp, isSame } from "./directory-stamp.ts";
import { isOfCommit, isTemporaryName, temporaryLength } from "./disk/temporary.ts";
import { errnoOf, faultOf, system } from "./errno.ts";
import { OpenFile, openedAgain } from "./file.ts";
import { display, Handle } from "./handle.ts";
import type { HiddenNames } from "./hidden-names.ts";
import { statShown } from "./masked-file.ts";
import { bytesWritten, isEscaped, written } from "./name.ts";
import { pack, packed, unpack } from "./packed-names.ts";
import type { ResolvedPath } from "./resolve.ts";
import type { Root } from "./root.ts";
import { kindOf, type Stat } from "./stat.ts";
import { lstatSync, readdirSync, readlinkSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";
import { isOverlay, keepsTimes } from "./system/file-system.ts";
import type { Address } from "./system/held.ts";
import { lstatIfThere } from "./system/identity.ts";

/** The entries of a directory, packed (packed-names.ts). */
export interface DirectoryNames {
  readonly names: string;
  readonly count: number;
  /** Whether each name comes before the next one, compared by code units. */
  readonly isSorted: boolean;
}

/** What was read of a directory; the stamp first. */
export interface ListedDirectory extends DirectoryNames {
  readonly stamp: DirectoryStamp;
}

export class Directory implements Disposable {
  readonly #handle: Handle;
  readonly root: Root;
  /** Its canonical path when it was opened. */
  readonly path: string;
  /** The path as the caller wrote it, for faults. */
  readonly given: string;
  /** The rules that were in force when it was opened. */
  readonly #hidden: HiddenNames | undefined;
  /** Whether the handle is its own, and not that of the root. */
  readonly #isOwn: boolean;

  private constructor(
    handle: Handle,
    root: Root,
    path: string,
    given: string,
    hidden: HiddenNames | undefined,
    isOwn = true,
  ) {
    this.#isOwn = isOwn;
    this.#handle = handle;
    this.root = root;
    this.path = path;
    this.given = given;
    this.#hidden = hidden;
  }

  /** @internal */
  static open(resolved: ResolvedPath, given: string): Directory {
    const { handle, root, path, stat = handle.stat() } = resolved;
    if (!stat.isDirectory()) {
      handle.close();
      throw new Fault("not_a_directory", { path: given });
    }
    return new Directory(handle, root, path, given, root.rules.hidden);
  }

  /** A granted directory itself, by the handle that its root holds: for use at once. @internal */
  static ofRoot(root: Root, given: string): Directory {
    return new Directory(root.handle, root, root.path, given, root.rules.hidden, false);
  }

  /** The address of this directory for system calls. @internal */
  get address(): string {
    return this.#handle.address;
  }

  /**
   * The `cwd` for a child process that is started at once: this directory, whatever its name leads to.
   *
   * @internal
   */
  currentPath(): string {
    return this.#handle.currentPath();
  }

  /** Its entries in the system's order, without those that rules hide and the temporary files of commits. */
  entries(): DirectoryEntry[] {
    const entries = unpack(this.allNames().names);
    const { hidden } = this.root.rules;
    if (hidden === undefined) return entries;
    return entries.filter(({ name }) => !hidden.has(this.path, name));
  }

  /**
   * The same with those that rules hide: rules change and differ between callers, so what is cached holds every name.
   *
   * @internal
   */
  allNames(): DirectoryNames {
    const { address } = this;
    try {
      if (this.#conceals && isParentOfConcealed(this.mark())) return this.#rawNames(address);
      return this.#namesAt(address);
    } catch (error) {
      throw faultOf(error, this.given);
    }
  }

  /**
   * The same for directories in it, each read under its name instead of held open, with its stamp. `stamp` is a settled
   * one of this directory (directory-stamp.ts). If it still fits after the reading, no name in here has led anywhere
   * else meanwhile; otherwise what was read is dropped and the result is undefined, as it is where stamps prove
   * nothing. One that cannot be read is undefined. Reading ends early once there are `most` entries.
   *
   * @internal
   */
  listedBelow(
    directories: readonly DirectoryEntry[],
    stamp: DirectoryStamp,
    most: number,
  ): (ListedDirectory | undefined)[] | undefined {
    if (!byDescriptor || this.#conceals) return undefined;
    const { hidden } = this.root.rules;
    const all: (ListedDirectory | undefined)[] = [];
    let count = 0;
    for (let i = 0; i < directories.length && count < most; i++) {
      const { name, raw } = directories[i] as DirectoryEntry;
      let listed: ListedDirectory | undefined;
      if (raw === undefined && !(hidden !== undefined && this.#isIn(hidden, name))) {
        const address = `${this.address}/${name}`;
        try {
          const stat = lstatSync(address);
          if (stat.isDirectory()) listed = { stamp: stat, ...this.#namesAt(address) };
          count += listed?.count ?? 0;
        } catch {
          // left to the caller
        }
      }
      all.push(listed);
    }
    return isSame(stamp, this.mark()) ? all : undefined;
  }

  #namesAt(address: string): DirectoryNames {
    const found = readdirSync(address, withKinds);
    let names = "";
    let count = 0;
    let before = "";
    let isSorted = true;
    for (let i = 0; i < found.length; i++) {
      const entry = found[i] as Dirent;
      const { name } = entry;
      if (name.length === temporaryLength && isOurs(address, name)) continue;
      names += packed(name, entry.isFile() ? "file" : kindOf(entry));
      count++;
      if (name <= before) isSorted = false;
      before = name;
    }
    // Bytes that are not UTF-8 show as U+FFFD. One look at all names is cheaper than one at each.
    return names.includes("\ufffd") || isEscaped(names)
      ? this.#rawNames(address)
      : { names, count, isSorted };
  }

  #rawNames(address: string): DirectoryNames {
    const found = readdirSync(address, { withFileTypes: true, encoding: "buffer" });
    const entries = found.map(entry => entryNamed(entry.name as unknown as Buffer, kindOf(entry)));
    const shown = entries.filter(
      entry => !isOurs(address, entry.name) && !(this.#conceals && this.#isConcealed(entry)),
    );
    return { names: pack(shown), count: shown.length, isSorted: false };
  }

  /**
   * The server's own directories below it, which nothing may be read from: relative to it, as they are now.
   *
   * @internal
   */
  ownBelow(): string[] {
    if (!this.#conceals) return [];
    const where = this.#handle.whereabouts();
    return concealedBelow(where).map(path => display(path.slice(where.length).replace(/^\//, "")));
  }

  /** Whether the server's own directories are in the root. */
  get #conceals(): boolean {
    return conceals(this.root);
  }

  #isConcealed(entry: DirectoryEntry): boolean {
    if (entry.kind !== "directory") return false;
    const stat = lstatIfThere(this.#handle.below(addressOf(entry)));
    return stat !== undefined && isConcealed(stat);
  }

  /**
   * What its listing can be recognised by later (directory-stamp.ts). To be taken before the entries are read.
   *
   * @internal
   */
  mark(): DirectoryStamp {
    return this.#handle.stat();
  }

  /**
   * The stamp of a directory further down, only for comparing: it is taken by path, so links are followed. It is
   * compared with one that was read from a held directory. Undefined if there is none.
   *
   * @internal
   */
  markBelow(path: string): DirectoryStamp | undefined {
    try {
      const at = `${this.path}/${path}`;
      return lstatIfThere(isEscaped(at) ? bytesWritten(at) : at);
    } catch {
      return undefined;
    }
  }

  /** Whether marks mean anything here. @internal */
  get keepsTimes(): boolean {
    return byDescriptor && keepsTimes(this.address);
  }

  /** Whether files in it are copied when they are first changed or moved. */
  get isOverlay(): boolean {
    return byDescriptor && isOverlay(this.address);
  }

  /** A directory in it; undefined if it is gone, is no longer a directory, or cannot be entered. */
  child(entry: DirectoryEntry): Directory | undefined {
    try {
      const { name } = entry;
      const { hidden } = this.root.rules;
      if (hidden !== undefined && this.#isIn(hidden, name)) return undefined;
      const address = this.#handle.below(addressOf(entry));
      const handle = Handle.open(address, { follow: false, directory: true });
      const stat = !byDescriptor || this.#conceals ? handle.stat() : undefined;
      if (stat !== undefined && (!stat.isDirectory() || isConcealed(stat))) {
        handle.close();
        return undefined;
      }
      return new Directory(handle, this.root, `${this.path}/${name}`, `${this.given}/${name}`, hidden);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === "EMFILE" || errno === "ENFILE") throw faultOf(error, this.given);
      return undefined;
    }
  }

  /** Whether an entry is hidden. Rules that were not in force when this directory was opened may hide it, too. */
  #isIn(hidden: HiddenNames, name: string): boolean {
    if (hidden === this.#hidden) return hidden.has(this.path, name);
    return this.root.rules.decide(`${this.path}/${name}`).contents === "none";
  }

  /** `lstat` of an entry. Undefined if it is gone, or only its name may be seen. */
  stat(entry: DirectoryEntry): Stat | undefined {
    try {
      const stats = lstatIfThere(this.#handle.below(addressOf(entry)));
      if (stats === undefined) return undefined;
      return statShown(
        stats,
        this.#handle.below(addressOf(entry)),
        `${this.path}/${entry.name}`,
        this.root.rules,
      );
    } catch (error) {
      if (errnoOf(error) === "EACCES") return undefined;
      throw faultOf(error, `${this.given}/${entry.name}`);
    }
  }

  /** When an entry was last modified: the same as by `stat`, for a fraction of its cost. */
  modified(entry: DirectoryEntry): Date | undefined {
    try {
      return lstatIfThere(this.#handle.below(addressOf(entry)))?.mtime;
    } catch (error) {
      if (errnoOf(error) === "EACCES") return undefined;
      throw faultOf(error, `${this.given}/${entry.name}`);
    }
  }

  /** Where a link in it points, in its written form (name.ts). */
  linkTarget(entry: DirectoryEntry): string | undefined {
    try {
      return written(readlinkSync(this.#handle.below(addressOf(entry)), "buffer"));
    } catch {
      return undefined;
    }
  }

  /** A regular file in it, open for reading; links are not followed. The caller closes it. */
  file(entry: DirectoryEntry): OpenFile {
    const given = `${this.given}/${entry.name}`;
    const address = this.#handle.below(addressOf(entry));
    const path = `${this.path}/${entry.name}`;
    return openedAgain(() => {
      const handle = system(given, () => Handle.open(address, { follow: false }));
      return OpenFile.open({ handle, root: this.root, path }, given);
    });
  }

  close(): void {
    if (this.#isOwn) this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** What an action makes of a directory that its caller closes later; where it fails, the directory is closed now. */
export function closedOnFailure<T>(directory: Directory, action: () => T): T {
  try {
    return action();
  } catch (error) {
    directory.close();
    throw error;
  }
}

/**
 * Whether a name in the directory at `address` is one that a commit uses for a moment. Old temporary files are shown,
 * so that they are noticed.
 */
function isOurs(address: string, name: string): boolean {
  if (!isTemporaryName(name)) return false;
  const stat = lstatIfThere(`${address}/${name}`);
  return stat === undefined || isOfCommit(name, stat.ctimeMs);
}

const withKinds = { withFileTypes: true } as const;

function addressOf(entry: DirectoryEntry): Address {
  return entry.raw ?? entry.name;
}
