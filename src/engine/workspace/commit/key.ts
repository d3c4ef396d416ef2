// The key that authenticates journals. Recovery ignores a record without its mark: polyfs did not write it. The key is
// made once for a state directory and flushed, because journals survive a power cut, too.
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { unlinkIfThere } from "../disk/if-there.ts";
import { flushAndClose, readAll, sys, writeAll } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { Handle } from "../handle.ts";
import { onWindows } from "../windows-path.ts";
import { openToFlush } from "./durable-directory.ts";
import { purge } from "./purge.ts";

const keyBytes = 32;
const fileName = "key";

/** The key of a state directory. A new one is made if there is none, or if another user could have written it. */
export function keyOf(state: string): Buffer {
  using directory = Handle.open(state);
  for (let round = 0; round < 3; round++) {
    const found = readKey(directory);
    if (found !== undefined) return found;
    makeKey(directory);
  }
  throw Object.assign(new Error("EACCES: the key cannot be made"), { code: "EACCES", syscall: "open" });
}

/** The key is never a link, a socket or another user's file. */
const notKeys = new Set<string | undefined>(["ELOOP", "ENXIO", "EACCES", "EPERM"]);

function readKey(directory: Handle): Buffer | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = sys.open(directory.below(fileName), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    if (!notKeys.has(errnoOf(error))) throw error; // it may be a good one
    fd = -1;
  }
  try {
    if (fd >= 0) {
      const stat = sys.stat(fd);
      const isOurs = stat.uid === (process.getuid?.() ?? stat.uid);
      const isPrivate = onWindows || (stat.mode & 0o077) === 0;
      if (stat.isFile() && stat.size === keyBytes && isOurs && isPrivate) return readAll(fd, keyBytes);
    }
  } finally {
    if (fd >= 0) sys.close(fd);
  }
  purge(directory, fileName); // records signed with it cannot be trusted
  return undefined;
}

/** It gets its name once it is complete. If two processes make a key, the first one wins. */
function makeKey(directory: Handle): void {
  const draft = String(directory.below(`${fileName}-${randomBytes(8).toString("hex")}`));
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const fd = sys.open(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    writeAll(fd, randomBytes(keyBytes));
    sys.flush(fd);
    sys.link(draft, directory.below(fileName));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  } finally {
    sys.close(fd);
    unlinkIfThere(draft);
  }
  flushAndClose(openToFlush(directory.address));
}
