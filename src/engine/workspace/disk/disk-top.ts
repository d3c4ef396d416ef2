// The top directory of a file system, which tells it from another one that is mounted in its place: a device number is
// given to another disk as soon as the first one is unmounted.
import { Buffer } from "node:buffer";
import type { Stats } from "node:fs";
import { dirname } from "node:path";
import { ifAllowed } from "../errno.ts";
import { isOverlay, tellsBirths } from "../system/file-system.ts";
import { sys } from "./syscalls.ts";

export interface DiskTop {
  /** Its path, as bytes in Latin-1. */
  readonly at: string;
  readonly inode: number;
  /** When it was made, where the file system says so. */
  readonly born?: number;
}

/**
 * The highest directory above `at` on the same file system that this user may see. Undefined for an overlay: the numbers
 * and times of its top depend on what has been changed in it.
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
  return top === undefined || isOverlay(Buffer.from(top.at, "latin1")) ? undefined : top;
}

/** The number that the file system has now. Undefined if another one, or none, is mounted there. */
export function deviceOf({ at, inode, born }: DiskTop): number | undefined {
  const stat = statOf(at);
  const isSame = stat?.ino === inode && (born === undefined || stat.birthtimeMs === born || !tellsBirths());
  return isSame ? stat.dev : undefined;
}

function statOf(at: string): Stats | undefined {
  return ifAllowed(() => sys.lstat(Buffer.from(at, "latin1")));
}
