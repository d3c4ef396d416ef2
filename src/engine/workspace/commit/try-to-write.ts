// Whether something can be created in a directory, found out by doing it: permissions alone do not tell about mounts,
// quotas and full disks. The name is one of those that listings leave out, and is gone at once.
import { join } from "node:path";
import { errnoOf } from "../errno.ts";
import { sys } from "./syscalls.ts";
import { temporaryName } from "./temporary.ts";

/** The system's code for the refusal; undefined where it worked. */
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
