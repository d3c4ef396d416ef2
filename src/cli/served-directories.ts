// What a start serves: the directories that it names, or workspaces.
import type { Dialect } from "../contract/dialect.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import type { ServedWorkspace } from "./workspaces.ts";

/** `anyWorkspace`: a start that names neither a directory nor a workspace serves them all; each request chooses one. */
export async function servedBy(
  config: Config,
  dialect: Dialect,
  log: Log,
  { anyWorkspace = false } = {},
): Promise<Partial<ServedWorkspace> & { config: Config }> {
  if (config.workspaces === undefined) return { config };
  const { graceOf, keepInOrder, openWorkspaces, serveWorkspace } = await import("./workspaces.ts");
  const served =
    anyWorkspace && config["workspace-name"] === undefined && config.grants.length === 0
      ? { config, workspaces: await openWorkspaces(config, log) }
      : await serveWorkspace(config, dialect, log);
  keepInOrder(served.workspaces, graceOf(config), log);
  return served;
}
