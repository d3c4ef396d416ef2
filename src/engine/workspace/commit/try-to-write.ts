// Finds out whether a file can be created in a directory by creating one: permissions do not show mounts, quotas and full
// disks. Listings hide the name, and the file is removed immediately.
import { join } from "node:path";
import { sys } from "../disk/syscalls.ts";
import { temporaryName } from "../disk/temporary.ts";
import { errnoOf } from "../errno.ts";

/** The system's code for the refusal; undefined if it worked. */
export function refusalToWrite(directory: string): string | undefined {
  const path = join(directory, temporaryName());
  try {
    sys.mkdir(path, 0o700);
  } catch (error) {
    return errnoOf(error) ?? "EIO";
  }
  sys.rmdir(path);
  return undefined;
}
