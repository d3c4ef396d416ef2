// The calls of node:fs that name something, for addresses of held objects (held.ts). Everything in the workspace uses
// these. Where a held object has an address of its own (/proc), they are node:fs's own functions.
import {
  accessSync as access,
  chmodSync as chmod,
  closeSync,
  constants,
  fchmodSync,
  lchownSync as lchown,
  linkSync as link,
  lstatSync as lstat,
  lutimesSync as lutimes,
  type MakeDirectoryOptions,
  mkdirSync as mkdir,
  openSync as open,
  readdirSync as readdir,
  readlinkSync as readlink,
  renameSync as rename,
  rmdirSync as rmdir,
  statfsSync as statfs,
  symlinkSync as symlink,
  unlinkSync as unlink,
  unlink as unlinkInThread,
} from "node:fs";
import { byDescriptor } from "./descriptors.ts";
import { byWorkingDirectory, enterable } from "./entered-directory.ts";
import type { Address } from "./held.ts";
import { bothLocated, located, openLocated } from "./working-directory.ts";

export const accessSync = named(access);
export const lchownSync = named(lchown);
export const lstatSync = byDescriptor ? lstat : (lstatLocated as typeof lstat);
export const lutimesSync = named(lutimes);
/** No directory is made that could not be entered afterwards. */
export const mkdirSync: typeof mkdir = byDescriptor
  ? mkdir
  : (((address: Address, options: MakeDirectoryOptions) =>
      mkdir(byWorkingDirectory() ? enterable(located(address)) : address, options)) as typeof mkdir);
export const readdirSync = named(readdir);
export const readlinkSync = named(readlink);
export const rmdirSync = named(rmdir);
export const statfsSync = named(statfs);
export const unlinkSync = named(unlink);
export const openSync = byDescriptor ? open : (openLocated as typeof open);
export const linkSync = ofTwo(link);
export const renameSync = ofTwo(rename);

export const symlinkSync: typeof symlink = byDescriptor
  ? symlink
  : (target, address, type) => symlink(target, located(address as Address), type);

/** Never through a link, where that can be had. */
export const chmodSync: typeof chmod = byDescriptor
  ? chmod
  : (address, mode) => {
      if (!byWorkingDirectory()) return chmod(address, mode);
      const at = located(address as Address);
      if (at === ".") return chmod(at, mode); // the directory that the process is in, which need not be readable
      const fd = openLocated(
        address as Address,
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
      try {
        fchmodSync(fd, mode);
      } finally {
        closeSync(fd);
      }
    };

/** In a thread, where an address means the same there. */
export function unlinkLater(address: Address, done: (error: Error | null) => void): void {
  if (!byWorkingDirectory()) {
    unlinkInThread(address, done);
    return;
  }
  try {
    unlinkSync(address);
    queueMicrotask(() => done(null));
  } catch (error) {
    queueMicrotask(() => done(error as Error));
  }
}

/** A directory that is gone itself holds nothing. */
function lstatLocated(address: Address, options?: { readonly throwIfNoEntry?: boolean }): unknown {
  try {
    return lstat(located(address), options);
  } catch (error) {
    if (options?.throwIfNoEntry === false && (error as NodeJS.ErrnoException).code === "ENOENT")
      return undefined;
    throw error;
  }
}

type SystemCallByAddress = (address: Address, ...rest: never[]) => unknown;

function named<F>(call: F): F {
  if (byDescriptor) return call;
  const plain = call as SystemCallByAddress;
  return ((address: Address, ...rest: never[]) => plain(located(address), ...rest)) as F;
}

function ofTwo<F>(call: F): F {
  if (byDescriptor) return call;
  const plain = call as (from: Address, to: Address) => void;
  return ((from: Address, to: Address) => plain(...bothLocated(from, to))) as F;
}
