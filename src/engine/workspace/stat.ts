// The attributes of a file-system object, as a plain value.
import type { Stats } from "node:fs";
import type { Kind } from "../fault.ts";

export interface Stat {
  readonly kind: Kind;
  readonly size: number;
  /** Permission bits, `0o7777`. */
  readonly mode: number;
  readonly links: number;
  readonly modified: Date;
  readonly created: Date;
  readonly accessed: Date;
  readonly device: number;
  readonly inode: number;
}

export function statOf(stats: Stats): Stat {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    links: stats.nlink,
    modified: stats.mtime,
    created: stats.birthtime,
    accessed: stats.atime,
    device: stats.dev,
    inode: stats.ino,
  };
}

/** Works for the results of `stat` and of `readdir`. */
export function kindOf(
  entry: Pick<
    Stats,
    | "isFile"
    | "isDirectory"
    | "isSymbolicLink"
    | "isFIFO"
    | "isSocket"
    | "isBlockDevice"
    | "isCharacterDevice"
  >,
): Kind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFIFO()) return "fifo";
  if (entry.isSocket()) return "socket";
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return "device";
  return "other";
}
