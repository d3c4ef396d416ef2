// `--store URL`: what is served becomes a replica of a workspace of the store. Loaded only with that option.
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { type OpenReplicaOptions, openReplica } from "../engine/replica/open-replica.ts";
import type { Replica } from "../engine/replica/replica.ts";
import type { ReplicaOptions } from "../engine/replica/replica-options.ts";
import { openWorkspaceStore, shownAddress } from "../engine/store/open-store.ts";
import type { WorkspaceId } from "../engine/store/store.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { UsageError } from "./usage-error.ts";

export const localDurabilityRisk =
  "--store-durability local: a change is answered before the store has it. If this machine is lost, so are the changes of the last moments; where another server changed the same lines meanwhile, its change stays and the one made here is only in the history of this machine";

type ShareOptions = Pick<OpenReplicaOptions, "name" | "id" | "durability" | "workspace">;

/** Faults: `store_unavailable`, `not_empty`. The caller disposes of it when nothing is served any longer. */
export async function shareThroughStore(
  config: Config,
  workspace: Workspace,
  log: Log,
): Promise<AsyncDisposable> {
  const name = config["store-workspace"] ?? "main";
  const shared = await share(config, log, { name, workspace, durability: config["store-durability"] });
  if (config["store-durability"] === "local") log.warn(localDurabilityRisk);
  const at = shownAddress(config.store ?? "");
  log.info(`sharing workspace ${name} of ${at} at revision ${shared.replica.revision}`);
  return shared;
}

/** The same for a directory that is known to be a copy of this workspace. */
export function shareNoted(
  config: Config,
  workspace: Workspace,
  id: WorkspaceId,
  log: Log,
): Promise<AsyncDisposable> {
  return share(config, log, { name: "", id, workspace, durability: "store" });
}

async function share(
  config: Config,
  log: Log,
  options: ShareOptions,
): Promise<AsyncDisposable & { readonly replica: Replica }> {
  const address = { store: config.store ?? "", objects: config["store-objects"] };
  const store = await openWorkspaceStore(address).catch(storeProblem);
  try {
    const replica = await openReplica({ ...replicaOptions(config, log), ...options, store });
    return {
      replica,
      async [Symbol.asyncDispose]() {
        await replica[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await store[Symbol.asyncDispose]();
    return storeProblem(error);
  }
}

export function replicaOptions(config: Config, log: Log | undefined): ReplicaOptions {
  return {
    trustMs: config["store-trust-ms"],
    maxBytes: config["store-max-bytes"],
    durability: config["store-durability"],
    info: message => log?.info(message),
    warn: message => log?.warn(message),
  };
}

/** A problem with the store is a problem of the start. */
export function storeProblem(error: unknown): never {
  if (Fault.is(error, "not_empty"))
    throw new UsageError(
      `${error.data.path} holds files that do not belong to the workspace; name an empty directory, which becomes a copy of it`,
    );
  if (Fault.is(error, "store_unavailable")) throw new UsageError(say(plainWording, error));
  throw error;
}
