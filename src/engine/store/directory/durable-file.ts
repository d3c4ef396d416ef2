// Files that are created atomically: written under another name, flushed, and linked to their own name only if it is
// free. Of several processes that try at the same time, exactly one succeeds, without a lock.
import { randomBytes } from "node:crypto";
import { contentHash } from "../../text/version.ts";
import { openNew } from "../../workspace/archive/folder.ts";
import { contentAt, unlinkIfThere } from "../../workspace/disk/if-there.ts";
import { sys, writeAll } from "../../workspace/disk/syscalls.ts";
import { errnoOf } from "../../workspace/errno.ts";
import { forFlushing, onWindows } from "../../workspace/windows-path.ts";

/** Drafts begin so. They are left by a crash, and removed by a collection. */
export const draftPrefix = ".draft-";

/** Writes a value to a new file; false if the name is taken. `folders` are made where they are missing. */
export async function create(path: string, folder: string, value: unknown): Promise<boolean> {
  const json = JSON.stringify(value);
  const draft = `${folder}/${draftPrefix}${randomBytes(8).toString("hex")}`;
  const fd = openNew(draft, [folder]);
  try {
    try {
      writeAll(fd, Buffer.from(`${contentHash(Buffer.from(json))}\n${json}`));
      await sys.flushDataLater(fd);
    } finally {
      sys.close(fd);
    }
    try {
      sys.link(draft, path);
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw error;
    }
  } finally {
    unlinkIfThere(draft);
  }
  await flushDirectory(folder);
  return true;
}

/** The value in a file; "damaged" where it does not fit its checksum, undefined if there is none. */
export function valueAt<T>(path: string): T | "damaged" | undefined {
  const bytes = contentAt(path);
  if (bytes === undefined) return undefined;
  const json = bytes.subarray(bytes.indexOf(10) + 1);
  if (bytes.toString("latin1", 0, bytes.length - json.length - 1) !== contentHash(json)) return "damaged";
  return JSON.parse(json.toString()) as T;
}

/** Windows writes names through, and has no way to flush a directory. */
export async function flushDirectory(path: string): Promise<void> {
  if (onWindows) return;
  const fd = sys.open(path, forFlushing);
  try {
    await sys.flushLater(fd);
  } finally {
    sys.close(fd);
  }
}
