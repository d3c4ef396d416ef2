// What kind of file system a directory is on: some do not guarantee what commits depend on.

import { dirname } from "node:path";
import { Fault } from "../../fault.ts";
import { once } from "../../once.ts";
import { system } from "../errno.ts";
import { lstatSync, statfsSync } from "./calls.ts";
import type { Address } from "./held.ts";

export interface FileSystem {
  /** As Linux calls it (`ext4`), or the number of its kind. */
  readonly kind: string;
  /** Reached over a network or through another program: locks and flushes may mean less there. */
  readonly remote: boolean;
  readonly freeBytes: number;
}

/** Numbers of Linux's statfs(2). */
const kinds: ReadonlyMap<number, readonly [kind: string, remote?: true]> = new Map([
  [0xef53, ["ext4"]],
  [0x9123683e, ["btrfs"]],
  [0x58465342, ["xfs"]],
  [0x2fc12fc1, ["zfs"]],
  [0xf2f52010, ["f2fs"]],
  [0xca451a4e, ["bcachefs"]],
  [0x01021994, ["tmpfs"]],
  [0x858458f6, ["ramfs"]],
  [0x794c7630, ["overlay"]],
  [0x4d44, ["vfat"]],
  [0x2011bab0, ["exfat"]],
  [0x5346544e, ["ntfs"]],
  [0x7366746e, ["ntfs3"]],
  [0x6969, ["nfs", true]],
  [0xff534d42, ["cifs", true]],
  [0xfe534d42, ["smb", true]],
  [0x01021997, ["9p", true]],
  [0x65735546, ["fuse", true]],
  [0x00c36400, ["ceph", true]],
  [0x6a656a63, ["virtiofs", true]],
]);

export function fileSystemOf(path: Address): FileSystem {
  const { type, bavail, bsize } = system(String(path), () => statfsSync(path));
  const number = type >>> 0;
  const [kind, remote = false] =
    (process.platform === "linux" ? kinds.get(number) : undefined) ?? ([`type ${number}`] as const);
  return { kind, remote, freeBytes: bavail * bsize };
}

/** Those that set a directory's times with every change in it, at once, by the clock of this machine. */
const timely = new Set(["ext4", "btrfs", "xfs", "zfs", "f2fs", "bcachefs", "tmpfs", "ramfs", "overlay"]);

/** Whether the times of directories can be trusted. Not over a network, nor on an unknown file system. */
export function keepsTimes(path: string): boolean {
  try {
    return timely.has(fileSystemOf(path).kind);
  } catch {
    return false;
  }
}

/** Whether files there are copied when they are first changed or moved. */
export function isOverlay(path: Address): boolean {
  try {
    return fileSystemOf(path).kind === "overlay";
  } catch {
    return false;
  }
}

/**
 * Whether the times of birth are those. Where the system does not let Node ask for them, it gives the time of the last
 * change instead, also for what has none.
 */
export const tellsBirths = once((): boolean => {
  try {
    return lstatSync("/proc/self").birthtimeMs === 0;
  } catch {
    return true;
  }
});

/** Whether times of birth stay as they are. macOS sets one back if the time of the last change is set to before it. */
export const keepsBirths = process.platform === "linux";

/** File systems that only one machine at a time can mount. An unknown one does not count. */
const local = new Set([
  "ext4",
  "btrfs",
  "xfs",
  "zfs",
  "f2fs",
  "bcachefs",
  "tmpfs",
  "ramfs",
  "overlay",
  "vfat",
  "exfat",
  "ntfs",
  "ntfs3",
]);

export function isOfOneMachine(path: string): boolean {
  try {
    return local.has(fileSystemOf(path).kind);
  } catch {
    return false;
  }
}

/** Whether files are in memory there. */
export function isInMemory(path: Address): boolean {
  return ["tmpfs", "ramfs"].includes(fileSystemOf(path).kind);
}

/** Whether files there are, or would be, lost when the machine is switched off. */
export function isVolatile(path: string): boolean {
  try {
    return isInMemory(path);
  } catch (error) {
    return Fault.is(error, "not_found") && dirname(path) !== path && isVolatile(dirname(path));
  }
}

/**
 * Whether a name that was removed may be back after a power cut although its directory was flushed since. btrfs flushes
 * a directory into a log, and entries that an earlier flush put there sometimes stay in it. Only a flush of the whole
 * file system discards that log.
 */
export function revivesNames(path: string): boolean {
  try {
    return fileSystemOf(path).kind === "btrfs";
  } catch {
    return false;
  }
}
