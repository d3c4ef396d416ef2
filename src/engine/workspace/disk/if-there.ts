// Processes share the state directory, so any file in it may be gone by the time it is read. Here that is an answer, not
// an error.
import { constants } from "node:fs";
import { errnoOf } from "../errno.ts";
import type { Steps } from "../footprint/time-slice.ts";
import type { Address } from "../system/held.ts";
import { readAll, readingAll, sys } from "./syscalls.ts";

/** None where the directory is gone. */
export function namesIn(directory: string): string[] {
  try {
    return sys.names(directory).map(String);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** The content of a file; undefined if it does not exist or is too large. */
export function contentAt(address: Address, most = Number.POSITIVE_INFINITY): Buffer | undefined {
  const stat = sys.lstat(address);
  if (!stat?.isFile() || stat.size > most) return undefined;
  const fd = sys.open(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return readAll(fd);
  } finally {
    sys.close(fd);
  }
}

/** The same with a pause after each piece of a large file. */
export function* readingAt(address: Address): Steps<Buffer | undefined> {
  if (!sys.lstat(address)?.isFile()) return undefined;
  const fd = sys.open(address, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return yield* readingAll(fd);
  } finally {
    sys.close(fd);
  }
}

export function unlinkIfThere(path: string): void {
  try {
    sys.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

/** Removes a name if it still belongs to the same file: another process may have reused it for a file of its own. */
export function unlinkIfSame(path: string, inode: number): void {
  if (sys.lstat(path)?.ino === inode) unlinkIfThere(path);
}
