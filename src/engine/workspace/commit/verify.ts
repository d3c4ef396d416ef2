// The comparison before a commit: the files still hold what the changes were computed from.
import { Fault } from "../../fault.ts";
import type { HeldDirectories, ReadFile } from "../disk/held-directories.ts";
import { hasBytes, readAll, sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf, system } from "../errno.ts";
import type { Expectation } from "./change.ts";
import type { Precondition } from "./commit-plan.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import { identityOf } from "./copy-attributes.ts";
import { withFileAt } from "./stage.ts";

/** Whether it is about the bytes of a file, and not only about which file is there. */
export function comparesContent({ expect, base }: Precondition): boolean {
  return Buffer.isBuffer(base) || (expect !== undefined && expect !== "absent");
}

/** The last check before the commit. */
export function verify(check: Precondition, places: HeldDirectories): void {
  const { entry, given, known } = check;
  const readsContent = comparesContent(check);
  if (!readsContent || known === undefined) {
    const stat = sys.lstat(places.address(entry));
    if (stat?.ino !== known?.inode || readsContent) throw new ConcurrentChange(given);
    return;
  }
  const read = places.readAt(entry);
  const found =
    read === undefined ? contentMeets(check, known.inode, places) : readContentMeets(check, read, places);
  if (!found?.same) throw new ConcurrentChange(given);
  if (!found.meets) throw new Fault("changed_meanwhile", { path: given });
}

/**
 * The same for a file that the edit kept open. The plan took over its attributes as they were then, so the file must
 * not have been changed in any way. Undefined if it was.
 */
function readContentMeets(check: Precondition, { fd, stat }: ReadFile, places: HeldDirectories) {
  const { entry, given, expect, base } = check;
  try {
    return system(given, () => {
      const now = sys.lstat(places.address(entry));
      if (now === undefined || identityOf(now) !== identityOf(stat)) return undefined;
      return {
        same: !Buffer.isBuffer(base) || hasBytes(fd, now.size, base),
        meets: meets(fd, now.size, expect),
      };
    });
  } finally {
    places.closeFile(entry);
  }
}

/** Undefined if another file is there now. */
function contentMeets({ entry, given, expect, base }: Precondition, inode: number, places: HeldDirectories) {
  try {
    return withFileAt(places, entry, inode, (fd, size) => ({
      same: !Buffer.isBuffer(base) || hasBytes(fd, size, base),
      meets: meets(fd, size, expect),
    }));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    if (sys.lstat(places.address(entry))?.ino !== inode) return undefined;
    throw faultOf(error, given);
  }
}

function meets(fd: number, size: number, expect: Expectation | undefined): boolean {
  if (expect === undefined || expect === "absent") return true;
  return typeof expect === "function" ? expect(readAll(fd, size)) : hasBytes(fd, size, expect);
}
