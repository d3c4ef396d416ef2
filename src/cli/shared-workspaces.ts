// `--workspaces DIR --store URL`: the workspaces of a shared store, with copies in DIR. Loaded only with both options.
import { join } from "node:path";
import { openWorkspaceStore, shownAddress, storeIdentity } from "../engine/store/open-store.ts";
import { contentHash } from "../engine/text/version.ts";
import type { CopyMethod } from "../engine/workspaces/record.ts";
import { SharedWorkspaces } from "../engine/workspaces/shared-workspaces.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { localDurabilityRisk, replicaOptions, storeProblem } from "./replica.ts";

export async function openSharedWorkspaces(
  config: Config,
  directory: string,
  log?: Log,
  method?: CopyMethod,
): Promise<SharedWorkspaces> {
  const address = config.store ?? "";
  const store = await openWorkspaceStore({ store: address, objects: config["store-objects"] }).catch(
    storeProblem,
  );
  if (config["store-durability"] === "local") log?.warn(localDurabilityRisk);
  log?.info(`sharing the workspaces of ${shownAddress(address)}`);
  const identity = contentHash(Buffer.from(storeIdentity(address)));
  return new SharedWorkspaces({
    // Copies of workspaces that are not in the store are removed, so each store has its own folder.
    ...{ directory: join(directory, `shared-${identity.slice(0, 12)}`), store },
    method,
    limits: { maxBytes: config["workspace-max-bytes"], maxFiles: config["workspace-max-files"] },
    replica: replicaOptions(config, log),
  });
}
