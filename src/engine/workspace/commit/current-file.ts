// Reads the file that an edit starts from, through the directory that its path was resolved to. It stays open until the
// comparison before the commit (verify.ts).
import { constants } from "node:fs";
import { Fault } from "../../fault.ts";
import type { EntryRef, HeldDirectories } from "../disk/held-directories.ts";
import { readAll, sys } from "../disk/syscalls.ts";
import { errnoOf, system } from "../errno.ts";
import { kindOf } from "../stat.ts";
import { onWindows } from "../windows-path.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import { identityOf } from "./copy-attributes.ts";
import type { Target } from "./target.ts";

/** Files that one edit keeps open. Further ones are opened again. */
const mostOpen = 32;

/** The bytes that an edit starts from, and the identity of their file. Only a regular file can be edited. */
export function currentFile(
  places: HeldDirectories,
  { entry, path: { given }, wasFile = false }: Target,
  { index, limit = Number.POSITIVE_INFINITY }: { readonly index: number; readonly limit?: number },
): { bytes: Buffer; identity: string } | undefined {
  return system(given, () => {
    // Opening a device may have effects: anything that was not known to be a file is checked first.
    if (!wasFile || onWindows) {
      const stat = sys.lstat(places.address(entry));
      if (stat === undefined) return undefined;
      if (!stat.isFile()) throw new Fault("not_a_file", { path: given, kind: kindOf(stat) });
    }
    const keep = index < mostOpen && !onWindows; // Windows replaces no file that is open
    return readFile(places, entry, given, limit, keep);
  });
}

/** Undefined if it has been removed. */
function readFile(places: HeldDirectories, entry: EntryRef, given: string, limit: number, keep: boolean) {
  let fd: number;
  let isKept = false;
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
    const bytes = readAll(fd, stat.size);
    if (keep) places.keepOpen(entry, { fd, stat });
    isKept = keep;
    return { bytes, identity: identityOf(stat) };
  } finally {
    if (!isKept) sys.close(fd);
  }
}
