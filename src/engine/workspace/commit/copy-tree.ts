// Copies a file or a tree by handles. Files are asked about their attributes many at a time, and flushed some at once:
// a process and a flush for each would take most of the time.

import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { isConcealed } from "../concealed.ts";
import { flushAndCloseLater, sys, writeAll } from "../disk/syscalls.ts";
import { isOfCommit } from "../disk/temporary.ts";
import { errnoOf } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { kindOf } from "../stat.ts";
import { onWindows } from "../windows-path.ts";
import type { CopyAttributes } from "./copy-attributes.ts";
import { identityOf, mostAsked } from "./copy-attributes.ts";
import { giveMode, ownerOf } from "./granted-mode.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
const pieceBytes = 4 * 1024 * 1024;
/** How many files are open while they are flushed. */
const mostFlushing = 16;

export interface Copying {
  /** The path that faults name. */
  readonly given: string;
  /** Compare with the original afterwards, because that is going to be removed. */
  readonly verify: boolean;
  /** Skip what cannot be copied: the original will be removed, and that was allowed. */
  readonly partial?: boolean;
}

/** Copies what a handle holds under `name` into a held directory. All of it is flushed when this is done. */
export async function copyTree(
  original: Handle,
  into: Handle,
  name: string | Buffer,
  how: Copying,
  attributes?: CopyAttributes,
): Promise<void> {
  const copy = new TreeCopy(how, attributes);
  try {
    await copy.any(original, into, name);
  } finally {
    await copy.flushed();
  }
}

class TreeCopy {
  readonly #how: Copying;
  readonly #attributes: CopyAttributes | undefined;
  readonly #slice = new TimeSlice();
  #flushing: Promise<void>[] = [];

  constructor(how: Copying, attributes: CopyAttributes | undefined) {
    this.#how = how;
    this.#attributes = attributes;
  }

  async any(original: Handle, into: Handle, name: string | Buffer): Promise<void> {
    if (this.#slice.isOver) await this.#slice.turn();
    const stat = original.stat();
    if (stat.isFile()) return this.#file(original, into, name);
    if (!stat.isDirectory()) throw new Fault("not_a_file", { path: this.#how.given, kind: kindOf(stat) });
    const names = sys.names(original.address);
    const address = into.below(name);
    sys.mkdir(address, 0o700);
    using copy = Handle.open(address, { follow: false });
    for (const [i, inner] of names.entries()) {
      if (i % mostAsked === 0) await this.#ask(original, names.slice(i, i + mostAsked));
      using child = Handle.open(original.below(inner), { follow: false });
      if (isConcealed(child.stat())) continue;
      if (!this.#how.verify && isOfCommit(inner.toString("latin1"), child.stat().ctimeMs)) continue;
      if (this.#how.partial && !isCopied(child)) continue;
      if (child.stat().isSymbolicLink()) sys.symlink(sys.readlink(original.below(inner)), copy.below(inner));
      else await this.any(child, copy, inner);
    }
    if (onWindows) return; // a directory cannot be opened as a file there, and has no mode
    const fd = sys.open(copy.address, O_RDONLY | O_DIRECTORY);
    try {
      if (this.#how.verify) keepOwner(fd, stat);
      sys.chmod(fd, stat.mode & 0o7777);
      sys.times(fd, stat.atime, stat.mtime);
    } catch (error) {
      sys.close(fd);
      throw error;
    }
    await this.#flush(fd);
  }

  /** When everything is flushed. Throws if something could not be. */
  async flushed(): Promise<void> {
    const all = await Promise.allSettled(this.#flushing.splice(0));
    for (const one of all) if (one.status === "rejected") throw one.reason;
  }

  /** Flushes and closes a file beside what comes next. */
  async #flush(fd: number): Promise<void> {
    const flushing = flushAndCloseLater(fd);
    flushing.catch(() => {}); // callers that wait for it get the error
    this.#flushing.push(flushing);
    if (this.#flushing.length > mostFlushing) await this.#flushing.shift();
  }

  /** Asks about the attributes of some files at once. */
  async #ask(directory: Handle, names: readonly Buffer[]): Promise<void> {
    if (this.#attributes?.ask === undefined || names.length < 2) return;
    const files: number[] = [];
    try {
      for (const name of names) {
        const address = directory.below(name);
        const stat = sys.lstat(address);
        if (!stat?.isFile() || this.#attributes.isWithout?.(identityOf(stat))) continue;
        const fd = openIfReadable(address);
        if (fd !== undefined) files.push(fd);
      }
      await this.#attributes.ask(files);
    } finally {
      for (const fd of files) sys.close(fd);
    }
  }

  async #file(original: Handle, into: Handle, name: string | Buffer): Promise<void> {
    const stat = original.stat();
    const address = into.below(name);
    const from = sys.open(original.address, O_RDONLY | O_NONBLOCK);
    try {
      const to = sys.open(address, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      try {
        await copyBytes(from, to);
        if (!this.#attributes?.isWithout?.(identityOf(stat))) await this.#attributes?.(from, to);
        if (this.#how.verify) keepOwner(to, stat);
        giveMode(to, stat.mode, ownerOf(stat));
        if (this.#how.verify) sys.times(to, stat.atime, stat.mtime);
      } catch (error) {
        sys.close(to);
        throw error;
      }
      await this.#flush(to);
      if (this.#how.verify) await verifyCopy(from, address, this.#how.given);
    } finally {
      sys.close(from);
    }
  }
}

/** Undefined if it may not be read, or is gone: copying it finds out. */
function openIfReadable(address: string | Buffer): number | undefined {
  try {
    return sys.open(address, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Whether something can be copied: not pipes and sockets, and not what may not be read. */
function isCopied(handle: Handle): boolean {
  const stat = handle.stat();
  if (stat.isSymbolicLink()) return true;
  if (!stat.isFile() && !stat.isDirectory()) return false;
  try {
    sys.close(sys.open(handle.address, O_RDONLY | O_NONBLOCK));
    return true;
  } catch (error) {
    if (errnoOf(error) === "EACCES") return false;
    throw error;
  }
}

async function copyBytes(from: number, to: number): Promise<void> {
  const piece = Buffer.allocUnsafe(Math.min(pieceBytes, Math.max(4096, sys.stat(from).size)));
  for (let at = 0; ; ) {
    const count = sys.read(from, piece, 0, piece.length, at);
    if (count === 0) return;
    writeAll(to, piece.subarray(0, count), at);
    at += count;
    if (at % pieceBytes === 0) await new Promise(resolve => setImmediate(resolve));
  }
}

async function verifyCopy(from: number, address: string | Buffer, given: string): Promise<void> {
  const fd = sys.open(address, O_RDONLY | O_NOFOLLOW);
  try {
    const size = sys.stat(from).size;
    if (sys.stat(fd).size !== size) throw new Fault("changed_meanwhile", { path: given });
    const [a, b] = [Buffer.allocUnsafe(pieceBytes), Buffer.allocUnsafe(pieceBytes)];
    for (let at = 0; at < size; ) {
      const count = sys.read(from, a, 0, a.length, at);
      sys.read(fd, b, 0, count, at);
      if (count === 0 || !a.subarray(0, count).equals(b.subarray(0, count))) {
        throw new Fault("changed_meanwhile", { path: given });
      }
      at += count;
      await new Promise(resolve => setImmediate(resolve));
    }
  } finally {
    sys.close(fd);
  }
}

/** A moved file keeps its owner if we may set it; a copy belongs to its maker. */
function keepOwner(fd: number, stat: { uid: number; gid: number }): void {
  if (process.geteuid?.() === 0) sys.chown(fd, stat.uid, stat.gid);
}
