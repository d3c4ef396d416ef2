// Whether a held object lies in a mount of our own namespace (Linux).
//
// A path does not tell: an object reached through `/proc/PID/root` lies in a mount of another namespace, and its path
// is the path in that namespace.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import type { Handle } from "./handle.ts";

const room = Buffer.allocUnsafe(512);

/** The number of the mount. Undefined where the system does not tell. */
export function mountOf({ fd }: Handle): number | undefined {
  if (fd < 0) return undefined;
  const info = openSync(`/proc/self/fdinfo/${fd}`, "r");
  try {
    const text = room.toString("latin1", 0, readSync(info, room, 0, room.length, 0));
    const at = text.indexOf("mnt_id:");
    return at < 0 ? undefined : Number.parseInt(text.slice(at + 7), 10);
  } finally {
    closeSync(info);
  }
}

/**
 * Whether a handle lies in a mount that we can see. Mount ids are reused, so only the id of a held mount, such as the
 * root's, can be cached: others are looked up each time.
 */
export function isOwnMount(handle: Handle, held: { readonly mount: number | undefined }): boolean {
  const mount = mountOf(handle);
  if (mount === undefined) return false;
  return mount === held.mount || mountsOfOurs().has(mount);
}

function mountsOfOurs(): Set<number> {
  const lines = readFileSync("/proc/self/mountinfo", "latin1").split("\n");
  return new Set(lines.map(line => Number.parseInt(line, 10)));
}
