// Makes a second copy of a tree. The source may be changing, and a command may replace a directory by a link while it
// is read, so every name is resolved below a held directory and no link is followed. How a file gets its second copy
// (a link, a reflink, its bytes) is the caller's choice. The server's own directories have no second copy.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { giveModeAt, ownerOf } from "../commit/granted-mode.ts";
import { isConcealed } from "../concealed.ts";
import { sys } from "../disk/syscalls.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { errnoOf, faultOf, system } from "../errno.ts";
import { addressOf, rawNamesIn } from "../footprint/raw-names.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { entryOf, type TreeEntry } from "../footprint/tree-snapshot.ts";
import { display, Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import { lchownSync, lstatSync, lutimesSync, readlinkSync } from "../system/calls.ts";
import { copyFileLater } from "../system/copy-file.ts";
import type { Address } from "../system/held.ts";
import { copySparse, isSparse } from "../system/sparse-copy.ts";
import { directoryIfThere } from "./directory-if-there.ts";

export type TreeEntries = ReadonlyMap<string, TreeEntry>;

/** How files are put into the new tree. */
export type Placing = "copy" | "reflink" | "link";

export interface CloneOptions {
  readonly placing: Placing;
  /**
   * An earlier clone of the same source, and the source's entries then: files that are as they were are linked. A file
   * that changes at that moment is linked as it was: the caller compares the entries with the source afterwards.
   */
  readonly previous?: { readonly tree: Handle; readonly entries: TreeEntries } | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Cloned {
  /** What the source held, by name. */
  readonly entries: TreeEntries;
  readonly files: number;
  readonly bytes: number;
  /** Files that were copied, by paths that are UTF-8: their extended attributes were not. */
  readonly copied: readonly string[];
  /** Sockets, pipes and devices, which have no second copy. */
  readonly special: readonly string[];
}

const maxDepth = 256;
/** Larger files are copied by another thread. */
const largeBytes = 512 * 1024;

/** `target` is an empty directory. Faults: `too_deep` as `invalid_path`; those of the system. */
export async function cloneTree(source: Handle, target: Handle, options: CloneOptions): Promise<Cloned> {
  const clone = new Clone(options);
  const entries = await clone.directory(source, target, "", options.previous, 0);
  sys.chmodAt(target.address, source.stat().mode & 0o7777);
  return { entries, files: clone.files, bytes: clone.bytes, copied: clone.copied, special: clone.special };
}

interface Previous {
  readonly tree: Handle;
  readonly entries: TreeEntries;
}

class Clone {
  files = 0;
  bytes = 0;
  readonly copied: string[] = [];
  readonly special: string[] = [];
  readonly #options: CloneOptions;
  readonly #slice = new TimeSlice();
  /** The owner of new entries by default. */
  readonly #user = process.getuid?.();
  readonly #group = process.getgid?.();

  constructor(options: CloneOptions) {
    this.#options = options;
  }

  async directory(
    source: Handle,
    target: Handle,
    path: string,
    previous: Previous | undefined,
    depth: number,
  ): Promise<TreeEntries> {
    const entries = new Map<string, TreeEntry>();
    if (depth > maxDepth) throw new Fault("invalid_path", { path: display(path), reason: "too_long" });
    for (const name of namesIn(source, path)) {
      if (isTemporaryName(name)) continue;
      if (this.#slice.isOver) {
        await this.#slice.turn();
        this.#options.signal?.throwIfAborted();
      }
      const at = path === "" ? name : `${path}/${name}`;
      try {
        const entry = await this.#entry(source, target, name, at, previous, depth);
        if (entry !== undefined) entries.set(name, entry);
      } catch (error) {
        if (errnoOf(error) !== "ENOENT" || sys.lstat(source.below(addressOf(name))) !== undefined)
          throw faultOf(error, display(at));
      }
    }
    return entries;
  }

  async #entry(
    source: Handle,
    target: Handle,
    name: string,
    at: string,
    previous: Previous | undefined,
    depth: number,
  ): Promise<TreeEntry | undefined> {
    const from = source.below(addressOf(name));
    const to = target.below(addressOf(name));
    const stats = lstatSync(from, { bigint: true });
    const kind = kindOf(stats);
    const before = previous?.entries.get(name);
    if (before && previous && kind === "file" && isSame(before, entryOf(stats))) {
      if (isLinked(previous.tree.below(addressOf(name)), to)) {
        this.files++;
        return before;
      }
    }
    if (kind === "symlink") return this.#link(from, to);
    if (kind !== "file" && kind !== "directory") {
      this.special.push(at);
      return undefined;
    }
    using held = Handle.open(from, { follow: false });
    const entry = entryOf(held.statBig());
    if (entry.kind !== kind) throw Object.assign(new Error("replaced"), { code: "ENOENT" });
    if (kind === "file") {
      if (await this.#file(held, from, to, entry)) this.#noteCopied(at);
      return entry;
    }
    if (isConcealed(held.stat())) return undefined;
    sys.mkdir(to, 0o700);
    using made = Handle.open(to, { follow: false, directory: true });
    using old =
      before?.children && previous ? directoryIfThere(previous.tree.below(addressOf(name))) : undefined;
    const deeper = old && before?.children ? { tree: old, entries: before.children } : undefined;
    const children = await this.directory(held, made, at, deeper, depth + 1);
    this.#owner(made.address, held);
    sys.chmodAt(made.address, entry.mode);
    times(to, held); // by its name: a descriptor in /proc is a link, whose own times would be set
    return { ...entry, children };
  }

  #link(from: Address, to: Address): TreeEntry {
    const stats = lstatSync(from, { bigint: true });
    const target = readlinkSync(from, "buffer");
    sys.symlink(target, to);
    if (Number(stats.uid) !== this.#user || Number(stats.gid) !== this.#group) chown(to, stats);
    lutimesSync(to, Number(stats.atimeMs) / 1000, Number(stats.mtimeMs) / 1000);
    return { ...entryOf(stats), kind: "symlink", target: target.toString("latin1") };
  }

  /** True if its bytes were copied. */
  async #file(held: Handle, from: Address, to: Address, entry: TreeEntry): Promise<boolean> {
    this.files++;
    if (this.#options.placing === "link" && isLinked(from, to)) return false;
    this.bytes += entry.size;
    const mode =
      this.#options.placing === "reflink" ? constants.COPYFILE_FICLONE_FORCE : constants.COPYFILE_FICLONE;
    if (this.#options.placing !== "reflink" && isSparse(held.stat()))
      await copySparse(held.address, to, entry.mode);
    else if (entry.size > largeBytes && this.#options.placing !== "reflink")
      await copyFileLater(held.address, to, mode);
    else sys.copyFile(held.address, to, mode);
    if (this.#owner(to, held)) giveModeAt(to, entry.mode, ownerOf(held.stat()));
    times(to, held);
    return true;
  }

  #noteCopied(path: string): void {
    const text = Buffer.from(path, "latin1").toString("utf8");
    if (!text.includes("\ufffd")) this.copied.push(text);
  }

  /** Sets the owner where that is another one: the mode has to be set again then. */
  #owner(to: Address, held: Handle): boolean {
    const stats = held.stat();
    if (stats.uid === this.#user && stats.gid === this.#group) return false;
    chown(to, stats);
    return true;
  }
}

function namesIn(directory: Handle, path: string): string[] {
  return system(display(path), () => rawNamesIn(directory));
}

/** False if the file system has no room for another link, or cannot link. */
function isLinked(from: Address, to: Address): boolean {
  try {
    sys.link(from, to);
    return true;
  } catch (error) {
    if (["EMLINK", "EXDEV", "EPERM", "EOPNOTSUPP", "ENOENT", "ENOTSUP"].includes(errnoOf(error) ?? ""))
      return false;
    throw error;
  }
}

/** Keeps the owner of another user's file, if permitted. */
function chown(to: Address, { uid, gid }: { uid: number | bigint; gid: number | bigint }): void {
  try {
    lchownSync(to, Number(uid), Number(gid));
  } catch (error) {
    if (errnoOf(error) !== "EPERM") throw error;
  }
}

function times(to: Address, held: Handle): void {
  const { atimeMs, mtimeMs } = held.stat();
  lutimesSync(to, atimeMs / 1000, mtimeMs / 1000);
}

/** Whether a file is the one that was seen, and has not been written to since. */
function isSame(a: TreeEntry, b: TreeEntry): boolean {
  return (
    a.kind === b.kind &&
    a.inode === b.inode &&
    a.device === b.device &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.modified === b.modified &&
    a.changed === b.changed
  );
}
