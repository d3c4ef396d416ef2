// The folders of the archive: made when first needed, listed where they are there.

import { sys } from "../commit/syscalls.ts";
import { errnoOf } from "../errno.ts";

export function namesIn(directory: string): string[] {
  try {
    return sys.names(directory).map(String);
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

export function makeDirectory(path: string): void {
  try {
    sys.mkdir(path, 0o700);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

export function removeIfThere(path: string): void {
  try {
    sys.unlink(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
