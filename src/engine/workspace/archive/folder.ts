// The folders of the archive are made when they are first needed.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { unlinkIfThere } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, isAbsence, stateDirectory, system } from "../errno.ts";

/** Opens a new file for its owner alone. The folders above it are made only where they are missing. */
export function openNew(path: string, folders: readonly string[]): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    return sys.open(path, flags, 0o600);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    makeDirectories(folders);
    return sys.open(path, flags, 0o600);
  }
}

/** The same, in place of a file that a crash left. Such a file is rare, and to look for it first costs as much again. */
export function openAnew(path: string, folders: readonly string[]): number {
  try {
    return openNew(path, folders);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    unlinkIfThere(path);
    return openNew(path, folders);
  }
}

/** Creates the last of some folders, outermost first, and those above it where they are missing, too. */
function makeDirectories(folders: readonly string[]): void {
  try {
    makeDirectory(folders.at(-1) ?? "");
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    for (const folder of folders) makeDirectory(folder);
  }
}

/** Opens a file to read it. Undefined if there is none, or a link. A pipe or a device must not block the server. */
export function openIfThere(path: string): number | undefined {
  try {
    return sys.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsence(error) || errnoOf(error) === "ELOOP" || errnoOf(error) === "ENXIO") return undefined;
    throw error;
  }
}

/** Whether a read failed because a directory or a pipe is there: nothing of the archive, as if the file were missing. */
export function isNoFile(error: unknown): boolean {
  return ["EISDIR", "ESPIPE", "EAGAIN"].includes(errnoOf(error) ?? "");
}

/** Undefined where the disk or its permissions do not let it be read. */
export function unlessUnreadable<T>(read: () => T): T | undefined {
  try {
    return system(stateDirectory, read);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** Creates a directory for its owner alone; an existing one is fine. */
export function makeDirectory(path: string): void {
  try {
    sys.mkdir(path, 0o700);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}
