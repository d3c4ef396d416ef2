// The top directory of a file system, which tells it from another one that is mounted in its place: a device number is
// given to another disk as soon as the first one is unmounted.
import { Buffer } from "node:buffer";
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { ifAllowed, unlessFailing } from "../errno.ts";
import { isInMemory, isOverlay, keepsBirths, tellsBirths } from "../system/file-system.ts";
import { sys } from "./syscalls.ts";

export interface DiskTop {
  /** Its path, as bytes in Latin-1. */
  readonly at: string;
  readonly inode: number;
  /** When it was made, where the file system says so. */
  readonly born?: number;
}

/**
 * The highest directory above `at` on the same file system that this user may see. Undefined for an overlay, where the
 * numbers and times of the top depend on what has been changed in it, and for one in memory, which does not come back.
 */
export function topOf(at: string, device: number): DiskTop | undefined {
  let top: DiskTop | undefined;
  for (let path = at; ; path = dirname(path)) {
    const stat = statOf(path);
    if (stat === undefined || stat.dev !== device) break;
    const born = tellsBirths() && stat.birthtimeMs > 0 ? { born: stat.birthtimeMs } : {};
    top = { at: path, inode: stat.ino, ...born };
    if (dirname(path) === path) break;
  }
  if (top === undefined) return undefined;
  const address = Buffer.from(top.at, "latin1");
  return isOverlay(address) || unlessFailing(() => isInMemory(address)) ? undefined : top;
}

/** The number that the file system has now. Undefined if another one, or none, is mounted there. */
export function deviceOf({ at, inode, born }: DiskTop): number | undefined {
  const stat = statOf(at);
  const isUnknown = born === undefined || !keepsBirths || !tellsBirths();
  return stat?.ino === inode && (isUnknown || stat.birthtimeMs === born) ? stat.dev : undefined;
}

function statOf(at: string): Stats | undefined {
  return ifAllowed(() => sys.lstat(Buffer.from(at, "latin1")));
}
