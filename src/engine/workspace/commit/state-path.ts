// Decides where the state directory is, without creating anything: the configured path; else one in the user's own
// directories; else, if the user has none or cannot write there, one among the temporary files.
import { constants } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { sys } from "../disk/syscalls.ts";
import { errnoOf } from "../errno.ts";
import { temporaryDirectory, userHome, userId } from "../system/user.ts";
import { onWindows } from "../windows-path.ts";

/** The configured state directory; undefined if it is the user's default one. */
export function namedStatePath(wanted?: string): string | undefined {
  const told = wanted ?? process.env.POLYFS_STATE_DIR;
  if (told === undefined || told === "") return undefined;
  if (told !== latest.told || !isAbsolute(told)) latest = { told, path: resolve(told) };
  return latest.path;
}

/** Every read asks for the same one. */
let latest = { told: "", path: "" };

export function statePath(wanted?: string): string {
  return namedStatePath(wanted) ?? placeOfUser().path;
}

/** Where the state of this user's processes is, unless they were told another place, as this one may have been. */
export function usualStatePaths(): string[] {
  const { path, own } = placeOfUser();
  return own === undefined || own === path ? [path] : [path, own];
}

/** State among the temporary files, and why. */
export interface TemporaryState {
  readonly path: string;
  /** The default directory that it replaces; undefined if the user has no home. */
  readonly instead: string | undefined;
}

/** Undefined if state is in a lasting place. */
export function temporaryState(wanted?: string): TemporaryState | undefined {
  if (namedStatePath(wanted) !== undefined) return undefined;
  const { path, own } = placeOfUser();
  return path === own ? undefined : { path, instead: own };
}

interface UserStatePlace {
  readonly path: string;
  /** Where it should be. */
  readonly own: string | undefined;
}

const decided = new Map<string | undefined, UserStatePlace>();

/** Decided once: commits of one process must not have two places. */
function placeOfUser(): UserStatePlace {
  const own = ownPath();
  const known = decided.get(own);
  if (known !== undefined) return known;
  const place = { path: own !== undefined && isUsable(own) ? own : amongTemporaryFiles(), own };
  decided.set(own, place);
  return place;
}

function amongTemporaryFiles(): string {
  return join(temporaryDirectory(), `polyfs-${userId}`);
}

/** The user's default place could not be created. False if the place was named: then there is no other. */
export function giveUpOwnPlace(wanted: string | undefined): boolean {
  if (namedStatePath(wanted) !== undefined) return false;
  const { own } = placeOfUser();
  decided.set(own, { path: amongTemporaryFiles(), own });
  return true;
}

function ownPath(): string | undefined {
  const { XDG_STATE_HOME: xdg = "", LOCALAPPDATA: local = "" } = process.env;
  if (onWindows && isAbsolute(local)) return join(local, "polyfs", "state");
  // A relative path would be in the working directory, which is a project.
  if (isAbsolute(xdg)) return join(xdg, "polyfs");
  const home = userHome();
  return home && join(home, ".local", "state", "polyfs");
}

/** The directory, or the one above it that exists and in which it would be created. */
export function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) if (sys.lstat(at) !== undefined || dirname(at) === at) return at;
}

/** Whether a directory exists and belongs to the user, or can be created. */
export function isUsable(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    try {
      sys.access(at, constants.W_OK | constants.X_OK);
      return at !== path || !isAnothers(at);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" || dirname(at) === at) return false;
    }
  }
}

function isAnothers(path: string): boolean {
  const stat = sys.lstat(path);
  return stat?.isDirectory() === true && userId >= 0 && stat.uid !== userId;
}
