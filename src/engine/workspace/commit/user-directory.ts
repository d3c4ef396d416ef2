// The directory that all processes of a user on this machine share, in memory or among the temporary files. Nothing in
// it needs to survive a restart.
//
// Every user can write next to it, so its name proves nothing. It is opened without following links, its owner and mode
// are checked on the handle, and everything below is reached through that.
import { join } from "node:path";
import { sys } from "../disk/syscalls.ts";
import type { Handle } from "../handle.ts";
import { temporaryDirectory } from "../system/user.ts";
import { onWindows } from "../windows-path.ts";
import { openPrivate } from "./state.ts";

/** Faults: `permission_denied` if it belongs to another user. */
export function openUserDirectory(): Handle {
  const parent = !onWindows && sys.lstat("/dev/shm")?.isDirectory() ? "/dev/shm" : temporaryDirectory();
  return openPrivate(join(parent, `polyfs-${process.getuid?.() ?? "gate"}`), { follow: false });
}
