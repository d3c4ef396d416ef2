// A directory that is a replica of a shared workspace. Writes that bypass the store would be reverted at the next start
// of its server, so a command either publishes what it does or refuses.
import { ReplicaNote } from "../engine/replica/replica-note.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { openDirectories } from "./directories.ts";
import { logOf } from "./log.ts";
import type { ChosenPolicy } from "./policy/policy-choice.ts";
import { UsageError } from "./usage-error.ts";

/** For a command that writes: publishes to the store until it is disposed of. Undefined if nothing is shared. */
export async function publishing(
  config: Config,
  workspace: Workspace,
  log: Log = logOf(config),
): Promise<AsyncDisposable | undefined> {
  const note = writableReplica(config, workspace);
  if (note === undefined) return undefined;
  refuseUnpublishable(config, note);
  if (workspace.roots.length !== 1 || workspace.roots[0]?.path !== note.root)
    throw new UsageError(
      `${note.root} is a copy of a shared workspace as a whole: add --workspace ${note.root}`,
    );
  const { shareNoted } = await import("./replica.ts");
  return await shareNoted(config, workspace, note.workspace ?? "", log);
}

/** Opens the replica that contains one of these paths, if any. The review page may show many directories. */
export async function openReplicaAt(
  config: Config,
  paths: readonly string[],
  policy: ChosenPolicy | undefined,
  log: Log = logOf(config),
): Promise<(AsyncDisposable & { readonly workspace: Workspace }) | undefined> {
  const note = firstReplica(config, paths);
  if (note === undefined) return undefined;
  refuseUnpublishable(config, note);
  const grants = [{ path: note.root, access: "read-write" as const }];
  const engine = openDirectories({ ...config, grants }, { withoutRoots: "usage" }, undefined, policy);
  try {
    const { shareNoted } = await import("./replica.ts");
    const shared = await shareNoted(config, engine.workspace, note.workspace ?? "", log);
    return {
      workspace: engine.workspace,
      async [Symbol.asyncDispose]() {
        await shared[Symbol.asyncDispose]();
        engine[Symbol.dispose]();
      },
    };
  } catch (error) {
    engine[Symbol.dispose]();
    throw error;
  }
}

function refuseUnpublishable(config: Config, note: ReplicaNote): void {
  if (note.isInUse)
    throw new UsageError(
      `${note.root} is a copy that a running server keeps up to date with a store: undo and redo on that server (the tool undo, or its page at /review), or stop it first`,
    );
  if (config.store === undefined) throw unshared(note);
}

/** For a server without --store. */
export function refuseUnshared(config: Config, workspace: Workspace): void {
  if (config.store !== undefined) return;
  const note = writableReplica(config, workspace);
  if (note !== undefined) throw unshared(note);
}

function writableReplica(config: Config, { roots }: Workspace): ReplicaNote | undefined {
  const writable = roots.filter(({ access }) => access === "read-write");
  return firstReplica(
    config,
    writable.map(({ path }) => path),
  );
}

function firstReplica(config: Config, paths: readonly string[]): ReplicaNote | undefined {
  for (const path of paths) {
    const note = ReplicaNote.covering(config["state-dir"], path);
    if (note !== undefined) return note;
  }
  return undefined;
}

function unshared({ root }: ReplicaNote): UsageError {
  return new UsageError(
    `${root} is a copy of a workspace in a shared store: name the store (--store, or POLYFS_STORE), or changes made here are lost; --read-only works without it`,
  );
}
