// The directories that a journal names, as recovery may use them: only those in a root that this process may write to,
// found and judged as for any other change.
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import { type FoundDirectory, isDirectoryOf, openRecorded } from "../disk/held-directories.ts";
import { bootId } from "../disk/process-identity.ts";
import { bytesOf, display, type Handle } from "../handle.ts";
import { parsePath, type WorkspacePath } from "../path.ts";
import { resolvePath } from "../resolve.ts";
import { isWithin, type Root } from "../root.ts";
import type { JournalledCommit } from "./journalled-commit.ts";
import type { PowerCut } from "./power-cut.ts";
import type { StateDirectory } from "./state.ts";

/** A commit worked in a directory that this process may not write to, so another process must recover it. */
export class NotGranted extends Error {}

/** Opens a directory as a commit knew it. */
export type OpenDirectories = (journalled: {
  readonly intent: Pick<JournalledCommit["intent"], "boot" | "id">;
}) => (record: FoundDirectory) => Handle | undefined;

/** Opens the directories of a commit. Undefined if one is gone or has been replaced. */
export function openGranted(
  state: StateDirectory,
  roots: readonly Root[],
  outage: PowerCut,
): OpenDirectories {
  return ({ intent }) => {
    const sameBoot = intent.boot === bootId();
    return record => {
      if (record.aside) return openRecorded({ ...record, at: bytesOf(join(state.path, "aside")) }, sameBoot);
      const path = grantedPath(roots, record);
      const handle = landed(roots, path, state);
      if (handle === undefined) return undefined;
      const stat = handle.stat();
      const isRemade = !sameBoot && stat.isDirectory() && outage.mayBeRemade(record.at, intent);
      if (isRemade || isDirectoryOf(handle, record, sameBoot)) return handle;
      handle.close();
      return undefined;
    };
  };
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
