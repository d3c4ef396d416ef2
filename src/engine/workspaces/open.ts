// Opens a directory of workspaces on one machine, with their records beside them.
import { DirectoryStore } from "../store/directory/directory-store.ts";
import { Workspaces } from "./workspaces.ts";

/** Where workspaces are kept, and their limits. */
export interface WorkspacesOptions {
  /** Where forks and their records are kept. Created where it is missing. */
  readonly directory: string;
  /** Forks that were not used for this long may be dropped. Default: none is. */
  readonly unusedMs?: number | undefined;
  /** How many bytes each workspace may hold of its own; 0 for no limit, which is the default. */
  readonly maxBytes?: number | undefined;
  /** How many files each workspace may hold of its own; 0 for no limit, which is the default. */
  readonly maxFiles?: number | undefined;
}

/**
 * Opens a directory of workspaces: adopt a directory or create one, fork it, compare and merge the fork, drop it.
 * Dispose of it when done (`await using`). Faults: `permission_denied`, `not_a_directory`, `io`.
 */
export function openWorkspaces(options: WorkspacesOptions): Workspaces {
  const { directory, unusedMs, maxBytes = 0, maxFiles = 0 } = options;
  return new Workspaces({
    directory,
    unusedMs,
    limits: { maxBytes, maxFiles },
    store: path => new DirectoryStore(path),
  });
}
