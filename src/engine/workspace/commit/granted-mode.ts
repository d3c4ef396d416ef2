// The one place that decides which permission bits a new file gets. The set-user-ID and set-group-ID bits make a file
// run as its owner, so they never pass to a file of another owner: a copy that root makes of another user's program
// would run as root. Directories are not concerned: their set-group-ID bit only says which group new entries get.

import { sys } from "../disk/syscalls.ts";
import type { Address } from "../system/held.ts";

const setUserId = 0o4000;
const setGroupId = 0o2000;
const setIds = setUserId | setGroupId;

export interface Owner {
  readonly user: number;
  readonly group: number;
}

export function ownerOf({ uid, gid }: { readonly uid: number; readonly gid: number }): Owner {
  return { user: uid, group: gid };
}

/** The owner of what this process creates. */
export function ownOwner(): Owner {
  return { user: process.geteuid?.() ?? 0, group: process.getegid?.() ?? 0 };
}

/**
 * The bits that a file of the owner `made` gets, if they are those of a file of the owner `from`. A mode from a record
 * that names no owner has no `from`.
 */
export function grantedMode(mode: number, made: Owner, from: Owner | undefined): number {
  const bits = mode & 0o7777;
  if ((bits & setIds) === 0) return bits;
  if (from === undefined || made.user !== from.user) return bits & ~setIds;
  return made.group === from.group ? bits : bits & ~setGroupId;
}

/**
 * The mode that a staged file is created with. It gets `mode` once its content is written; until then, only its owner
 * can open it. Without a mode it gets the system's defaults: umask and default ACLs.
 */
export function modeWhileStaged(mode: number | undefined): number {
  return mode === undefined ? 0o666 : 0o600;
}

/** Gives an open new file its mode. It has its owner already: a change of the owner would clear bits. */
export function giveMode(fd: number, mode: number, from: Owner | undefined): void {
  sys.chmod(fd, (mode & setIds) === 0 ? mode & 0o7777 : grantedMode(mode, ownerOf(sys.stat(fd)), from));
}

/** The same for a new file in a directory that only this process writes to. */
export function giveModeAt(address: Address, mode: number, from: Owner): void {
  const made = sys.lstat(address);
  if (made !== undefined) sys.chmodAt(address, grantedMode(mode, ownerOf(made), from));
}

/** The file that a mode's set-ID bits come from: the replaced file, if it has all of them. */
export function holderOf(
  mode: number,
  replaced: { readonly mode: number; readonly uid: number; readonly gid: number } | undefined,
): Owner | undefined {
  return replaced !== undefined && (mode & setIds & ~replaced.mode) === 0 ? ownerOf(replaced) : undefined;
}
