// A file that the person who starts the program names (a configuration). It is opened by its plain path, because that
// person needs no permission. Paths from callers must not come here.
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../../fault.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../directory-stamp.ts";
import { errnoOf, system, unlessFailing } from "../errno.ts";
import { keepsTimes } from "./file-system.ts";

/** As many as the system follows. */
const mostLinks = 40;
/** More than any configuration holds. */
const mostBytes = 64 * 1024 * 1024;

/** A file or a pipe, such as a shell makes for `<(command)`. A device that never ends is refused. */
export function readNamedFile(path: string): string {
  return system(path, () => {
    const fd = openSync(path, "r");
    try {
      const pieces: Buffer[] = [];
      for (let size = 0; ; ) {
        const piece = Buffer.allocUnsafe(64 * 1024);
        const length = readSync(fd, piece);
        if (length === 0) return Buffer.concat(pieces).toString();
        pieces.push(piece.subarray(0, length));
        size += length;
        if (size > mostBytes) throw new Fault("too_large", { path, size, limit: mostBytes });
      }
    } finally {
      closeSync(fd);
    }
  });
}

/** The same for a server that runs: does not wait for a FIFO. */
export function readRegularFile(path: string): string {
  return system(path, () => {
    const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile())
        throw new Fault("not_a_file", { path, kind: stat.isDirectory() ? "directory" : "other" });
      if (stat.size > mostBytes) throw new Fault("too_large", { path, size: stat.size, limit: mostBytes });
      return readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
  });
}

export interface SmallFile {
  readonly text: string;
  /** The canonical path, now; undefined if the file is gone. */
  path(): string | undefined;
}

/** The file that a path led to, as it was when it was read. */
interface KnownFile {
  readonly stamp: DirectoryStamp;
  readonly most: number;
  readonly file: SmallFile;
}

/** By path. The paths are few: they come from the user's configuration. */
const known = new Map<string, KnownFile>();
const mostKnown = 16;

/**
 * The first bytes of a regular file of the user, up to `most`. Never blocks on a FIFO and reads no device. Undefined
 * if there is no such file. One that has not changed is not read again.
 */
export function readSmallFile(path: string, most: number): SmallFile | undefined {
  let fd: number | undefined;
  try {
    const now = Date.now();
    // Most users lack most of these files. To open one that is missing makes an error object, which is costly.
    const named = statSync(path, { throwIfNoEntry: false });
    if (!named?.isFile()) return undefined;
    const before = known.get(path);
    if (before?.most === most && isSame(named, before.stamp)) return before.file;
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.allocUnsafe(Math.min(most, stat.size));
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    const file = { text: bytes.toString("utf8", 0, length), path: () => canonicalIfThere(path) };
    if (known.size >= mostKnown) known.clear();
    if (isSettled(stat, now) && keepsTimes(path)) known.set(path, { stamp: markOf(stat), most, file });
    return file;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function canonicalIfThere(path: string): string | undefined {
  return unlessFailing(() => realpathSync.native(path));
}

/** Puts a file in place whole, for its owner alone. Not for files that others may be writing. */
export function writeNamedFile(path: string, text: string, { flush = true } = {}): void {
  const temporary = `${path}.${process.pid}.new`;
  system(path, () => {
    try {
      const fd = openSync(temporary, "wx", 0o600);
      try {
        writeFileSync(fd, text);
        if (flush) fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  });
}

/** The same for a file that a person names. A link stays, and the file that it leads to is replaced. */
export function replaceNamedFile(path: string, text: string): void {
  writeNamedFile(canonicalPath(path), text);
}

/** The canonical path of a file, or the one that it will have: a link leads on even if nothing is there yet. */
export function canonicalPath(path: string): string {
  return followed(resolve(path), { left: mostLinks });
}

/** `links` counts those of the whole way: a link that leads below itself would be followed for ever. */
function followed(path: string, links: { left: number }): string {
  let name = path;
  for (;;) {
    const found = unlessFailing(() => realpathSync(name));
    const parent = dirname(name);
    if (found !== undefined || parent === name) return found ?? name;
    const target = links.left > 0 ? unlessFailing(() => readlinkSync(name)) : undefined;
    if (target === undefined) return join(followed(parent, links), basename(name));
    links.left--;
    name = resolve(followed(parent, links), target);
  }
}

/** Makes the directory that a file is to be put in, for its owner alone. */
export function makeDirectoryFor(path: string): void {
  const directory = dirname(path);
  system(directory, () => {
    if (makeOne(directory)) return;
    makeDirectoryFor(directory);
    makeOne(directory);
  });
}

/** False if the directory above it is missing. Another process may make the same one at the same time. */
function makeOne(directory: string): boolean {
  try {
    mkdirSync(directory, 0o700);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" && dirname(directory) !== directory) return false;
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  return true;
}
