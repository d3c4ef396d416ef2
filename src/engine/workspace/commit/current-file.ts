// Reads the file that an edit starts from, through the directory that its path was resolved to.
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import { errnoOf, system } from "../errno.ts";
import { kindOf } from "../stat.ts";
import { onWindows } from "../windows-path.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import { identityOf } from "./copy-attributes.ts";
import type { EntryRef, HeldDirectories } from "./held-directories.ts";
import { readAll, sys } from "./syscalls.ts";
import type { Target } from "./target.ts";

/** The bytes that an edit starts from, and which file they are of. Something that is no file cannot be edited. */
export function currentFile(
  places: HeldDirectories,
  { entry, path: { given }, wasFile = false }: Target,
  limit = Number.POSITIVE_INFINITY,
): { bytes: Buffer; identity: string } | undefined {
  return system(given, () => {
    // Opening a device may have effects: anything that was not known to be a file is looked at first.
    if (!wasFile || onWindows) {
      const stat = sys.lstat(places.address(entry));
      if (stat === undefined) return undefined;
      if (!stat.isFile()) throw new Fault("not_a_file", { path: given, kind: kindOf(stat) });
    }
    return readFile(places, entry, given, limit);
  });
}

/** Undefined if it has been removed. */
function readFile(places: HeldDirectories, entry: EntryRef, given: string, limit: number) {
  let fd: number;
  try {
    fd = sys.open(places.address(entry), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (errnoOf(error) === "ELOOP") throw new ConcurrentChange(given); // it has become a link
    throw error;
  }
  try {
    const stat = sys.stat(fd);
    if (!stat.isFile()) throw new Fault("not_a_file", { path: given, kind: kindOf(stat) });
    if (stat.size > limit) throw new Fault("too_large", { path: given, size: stat.size, limit });
    return { bytes: readAll(fd, stat.size), identity: identityOf(stat) };
  } finally {
    sys.close(fd);
  }
}
