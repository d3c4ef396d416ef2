// A directory that is a replica of a shared workspace. What is written there without the store would be taken away again
// at the next start of its server, so a command either publishes what it does or refuses.
import { ReplicaNote } from "../engine/replica/replica-note.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { logOf } from "./log.ts";
import { UsageError } from "./usage-error.ts";

/** For a command that writes: publishes to the store until it is disposed of. Undefined where nothing is shared. */
export async function publishing(
  config: Config,
  workspace: Workspace,
  log: Log = logOf(config),
): Promise<AsyncDisposable | undefined> {
  const note = writableReplica(config, workspace);
  if (note === undefined) return undefined;
  if (note.isInUse)
    throw new UsageError(
      `${note.root} is a copy that a running server keeps in step with a store: undo and redo there (the tool undo, or the review page), or end that server first`,
    );
  if (config.store === undefined) throw unshared(note);
  if (workspace.roots.length !== 1 || workspace.roots[0]?.path !== note.root)
    throw new UsageError(
      `${note.root} is a copy of a shared workspace as a whole: add --workspace ${note.root}`,
    );
  const { shareNoted } = await import("./replica.ts");
  return await shareNoted(config, workspace, note.workspace ?? "", log);
}

/** For a server without --store. */
export function refuseUnshared(config: Config, workspace: Workspace): void {
  if (config.store !== undefined) return;
  const note = writableReplica(config, workspace);
  if (note !== undefined) throw unshared(note);
}

function writableReplica(config: Config, { roots }: Workspace): ReplicaNote | undefined {
  for (const { path, access } of roots) {
    const note = access === "read-write" ? ReplicaNote.covering(config["state-dir"], path) : undefined;
    if (note !== undefined) return note;
  }
  return undefined;
}

function unshared({ root }: ReplicaNote): UsageError {
  return new UsageError(
    `${root} is a copy of a workspace in a shared store: name the store (--store, or POLYFS_STORE), or what is changed here is lost; --read-only reads it without`,
  );
}
