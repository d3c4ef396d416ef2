// Whether the file system of a directory can share the bytes of two files, found out by doing it.
import { constants, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sys } from "../disk/syscalls.ts";

export function canReflink(directory: string): boolean {
  return works(directory, "reflink", (from, to) => sys.copyFile(from, to, constants.COPYFILE_FICLONE_FORCE));
}

export function canLink(directory: string): boolean {
  return works(directory, "link", (from, to) => sys.link(from, to));
}

/** The caller that made the directory removes the files. */
function works(directory: string, name: string, copy: (from: string, to: string) => void): boolean {
  try {
    const from = join(directory, `${name}-from`);
    writeFileSync(from, "polyfs".repeat(2000));
    copy(from, join(directory, `${name}-to`));
    return true;
  } catch {
    return false;
  }
}
