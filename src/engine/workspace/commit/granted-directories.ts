// The directories that a journal names, as recovery may use them: only those in a root that this process may write to,
// found and judged as for any other change.
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import { deviceOf } from "../disk/disk-top.ts";
import { type FoundDirectory, isDirectoryOf, openRecorded } from "../disk/held-directories.ts";
import { bootId } from "../disk/process-identity.ts";
import { bytesOf, display, type Handle } from "../handle.ts";
import { parsePath, type WorkspacePath } from "../path.ts";
import { resolveExisting, resolvePath } from "../resolve.ts";
import { isWithin, type Root } from "../root.ts";
import { isDisk } from "../system/mounts.ts";
import type { JournalledCommit } from "./journalled-commit.ts";
import type { PowerCut } from "./power-cut.ts";
import type { StateDirectory } from "./state.ts";

/** A commit worked in a directory that this process may not write to, so another process must recover it. */
export class NotGranted extends Error {}

/** The disk that a directory was on is not there: nothing tells what became of it until that is mounted again. */
export class DiskAway extends NotGranted {
  readonly record: FoundDirectory;

  constructor(record: FoundDirectory) {
    super();
    this.record = record;
  }
}

/** Opens a directory as a commit knew it. */
export type OpenDirectories = (journalled: {
  readonly intent: Pick<JournalledCommit["intent"], "boot" | "id">;
}) => (record: FoundDirectory) => Handle | undefined;

/** The directories of a workspace. Read-only ones limit those that they are in, but not another workspace. */
export type GrantedRoots = readonly Root[];

/** Opens the directories of a commit. Undefined if one is gone or has been replaced. Throws where that is not known. */
export function openGranted(
  state: StateDirectory,
  workspaces: readonly GrantedRoots[],
  outage: PowerCut,
): OpenDirectories {
  return ({ intent }) => {
    const sameBoot = intent.boot === bootId();
    const openIn = (roots: GrantedRoots, record: FoundDirectory): Handle | undefined => {
      const path = grantedPath(roots, record);
      const handle = landed(roots, path, state);
      const isRemade = () =>
        !sameBoot && handle?.stat().isDirectory() === true && outage.mayBeRemade(record.at, intent);
      if (handle !== undefined && (isRemade() || isDirectoryOf(handle, record, sameBoot))) return handle;
      using there = handle ?? nearest(roots, path);
      if (there !== undefined && isOnOtherDisk(there, record)) throw new DiskAway(record);
      return undefined;
    };
    return record => {
      if (record.aside) return openRecorded({ ...record, at: bytesOf(join(state.path, "aside")) }, sameBoot);
      let refusal: NotGranted | undefined = new NotGranted();
      for (const roots of workspaces) {
        try {
          const handle = openIn(roots, record);
          if (handle !== undefined) return handle;
          if (!(refusal instanceof DiskAway)) refusal = undefined;
        } catch (error) {
          if (!(error instanceof NotGranted)) throw error;
          if (error instanceof DiskAway) refusal = error;
        }
      }
      if (refusal !== undefined) throw refusal;
      return undefined;
    };
  };
}

/** The directory above a missing one. Undefined where something else is on the way. */
function nearest(roots: readonly Root[], path: WorkspacePath): Handle | undefined {
  try {
    return resolveExisting(roots, path).resolved.handle;
  } catch (error) {
    if (Fault.is(error, "too_many_open_files") || !(error instanceof Fault)) throw error;
    return undefined;
  }
}

/**
 * Whether what is at the place of a directory, or above it, is on another disk. The top of its disk tells, if it has a time
 * of birth: disks get new numbers when the machine is started, and what has no disk of its own, such as an overlay, each
 * time that it is mounted.
 */
function isOnOtherDisk(there: Handle, { device, top }: FoundDirectory): boolean {
  const { dev } = there.stat();
  if (top?.born !== undefined) return deviceOf(top) !== dev;
  if (dev !== device && (isDisk(dev) || isDisk(device))) return true;
  return top !== undefined && deviceOf(top) === undefined;
}

function grantedPath(roots: readonly Root[], { at }: FoundDirectory): WorkspacePath {
  try {
    const path = parsePath(roots, display(at), { exact: true });
    if (path.root.access === "read-write") return path;
  } catch {
    // outside
  }
  throw new NotGranted();
}

function landed(roots: readonly Root[], path: WorkspacePath, state: StateDirectory): Handle | undefined {
  try {
    const { handle, root, path: where } = resolvePath(roots, path);
    if (root.access === "read-write" && !isWithin(where, state.path)) return handle;
    handle.close();
  } catch (error) {
    if (Fault.is(error, "not_found") || Fault.is(error, "not_a_directory")) return undefined;
    if (!(error instanceof Fault) || Fault.is(error, "too_many_open_files")) throw error;
  }
  throw new NotGranted();
}
