// Every system call that changes the disk, in one object. The write path uses only these, so a test can make each of
// them fail, or kill the process in it.
import {
  close,
  closeSync,
  fchmodSync,
  fchownSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  readSync,
  type Stats,
  writeSync,
} from "node:fs";
import type { Steps } from "../footprint/time-slice.ts";
import {
  accessSync,
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkLater,
  unlinkSync,
} from "../system/calls.ts";
import { copyFileSync } from "../system/copy-file.ts";
import type { Address } from "../system/held.ts";
import { fstatNow, lstatIfThere } from "../system/identity.ts";

export const sys = {
  access: (address: Address, mode: number): void => accessSync(address, mode),
  open: (address: Address, flags: number, mode?: number): number => openSync(address, flags, mode),
  close: (fd: number): void => closeSync(fd),
  closeLater: (fd: number): Promise<void> => promised(done => close(fd, error => done(error ?? null))),
  read: (fd: number, into: Uint8Array, at: number, length: number, position: number): number =>
    readSync(fd, into, at, length, position),
  write: (fd: number, from: Uint8Array, at: number, length: number, position: number): number =>
    writeSync(fd, from, at, length, position),
  copyFile: (from: Address, to: Address, mode: number): void => copyFileSync(from, to, mode),
  truncate: (fd: number, length: number): void => ftruncateSync(fd, length),
  flush: (fd: number): void => fsyncSync(fd),
  flushData: (fd: number): void => fdatasyncSync(fd),
  flushLater: (fd: number): Promise<void> => promised(done => fsync(fd, done)),
  flushDataLater: (fd: number): Promise<void> => promised(done => fdatasync(fd, done)),
  stat: (fd: number): Stats => fstatNow(fd),
  /** `lstat`; undefined if there is no such entry. */
  lstat: (address: Address): Stats | undefined => lstatIfThere(address),
  chmod: (fd: number, mode: number): void => fchmodSync(fd, mode),
  chmodAt: (address: Address, mode: number): void => chmodSync(address, mode),
  chown: (fd: number, user: number, group: number): void => fchownSync(fd, user, group),
  times: (fd: number, accessed: Date, modified: Date): void => futimesSync(fd, accessed, modified),
  touch: (address: Address, time: Date): void => lutimesSync(address, time, time),
  rename: (from: Address, to: Address): void => renameSync(from, to),
  link: (from: Address, to: Address): void => linkSync(from, to),
  unlink: (address: Address): void => unlinkSync(address),
  unlinkLater: (address: Address): Promise<void> => promised(done => unlinkLater(address, done)),
  mkdir: (address: Address, mode?: number): void => void mkdirSync(address, { mode: mode ?? 0o777 }),
  rmdir: (address: Address): void => rmdirSync(address),
  symlink: (target: Address, address: Address): void => symlinkSync(target, address),
  readlink: (address: Address): Buffer => readlinkSync(address, "buffer"),
  names: (address: Address): Buffer[] => readdirSync(address, { encoding: "buffer" }),
};

function promised(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start(error => (error === null ? resolve() : reject(error))));
}

/** Flushes an open file and closes it; nothing to do for one that could not be opened. */
export function flushAndClose(fd: number | undefined): void {
  if (fd === undefined) return;
  try {
    sys.flush(fd);
  } finally {
    sys.close(fd);
  }
}

/** The same without blocking the event loop. */
export async function flushAndCloseLater(fd: number | undefined): Promise<void> {
  if (fd === undefined) return;
  try {
    await sys.flushLater(fd);
  } finally {
    sys.close(fd);
  }
}

/** Writes all of it, however little each call takes. */
export function writeAll(fd: number, bytes: Uint8Array, position = 0): void {
  for (let done = 0; done < bytes.length; ) {
    done += sys.write(fd, bytes, done, bytes.length - done, position + done);
  }
}

const largeBytes = 4 * 1024 * 1024;

/** The same with a pause after each piece of large bytes. */
export function* writingAll(fd: number, bytes: Uint8Array, position = 0): Steps<void> {
  for (let at = 0; at < bytes.length; at += largeBytes) {
    if (at > 0) yield;
    writeAll(fd, bytes.subarray(at, at + largeBytes), position + at);
  }
}

/** `readAll` with a pause after each piece of a large file. */
export function* readingAll(fd: number): Steps<Buffer> {
  const { size } = sys.stat(fd);
  if (size <= largeBytes) return readAll(fd, size);
  const bytes = Buffer.allocUnsafe(size);
  let done = 0;
  while (done < size) {
    const count = sys.read(fd, bytes, done, Math.min(largeBytes, size - done), done);
    if (count === 0) break;
    done += count;
    yield;
  }
  // It grew meanwhile, or shrank.
  const rest = Buffer.allocUnsafe(1);
  return done === size && sys.read(fd, rest, 0, 1, size) === 0 ? bytes : readAll(fd);
}

/** Reads all of an open file, which has about this size. */
export function readAll(fd: number, size = sys.stat(fd).size): Buffer {
  const parts: Buffer[] = [];
  for (let position = 0; ; ) {
    const part = Buffer.allocUnsafe(position === 0 ? size + 1 : 65_536);
    const count = sys.read(fd, part, 0, part.length, position);
    if (count > 0) parts.push(part.subarray(0, count));
    position += count;
    // One byte more than expected: a short read then confirms the end.
    if (count === 0 || (position === size && count < part.length)) return joined(parts);
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}

const piece = Buffer.allocUnsafeSlow(128 * 1024); // one for all: nothing else runs between reading and comparing

/** Whether an open file of this size holds exactly these bytes. */
export function hasBytes(fd: number, size: number, bytes: Uint8Array): boolean {
  if (size !== bytes.length) return false;
  for (let position = 0; position < size; ) {
    const count = sys.read(fd, piece, 0, Math.min(piece.length, size - position), position);
    if (count === 0 || piece.compare(bytes, position, position + count, 0, count) !== 0) return false;
    position += count;
  }
  return true;
}
