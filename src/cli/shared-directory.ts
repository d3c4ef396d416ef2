// What is served, as part of a shared store where --store names one. Loads nothing without that option.
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Workspaces } from "../engine/workspaces/workspaces.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";

/** The caller disposes of the result before the workspace: what is not in the store yet is sent then. */
export async function sharedThroughStore(
  config: Config,
  workspace: Workspace,
  workspaces: Workspaces | undefined,
  log: Log,
): Promise<AsyncDisposable | undefined> {
  if (config.store === undefined) return undefined;
  if (workspaces === undefined)
    return await (await import("./replica.ts")).shareThroughStore(config, workspace, log);
  await (await import("./workspaces.ts")).shareServed(config, workspaces);
  return workspaces;
}
