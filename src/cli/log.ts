// The log as the options have it, and the line that each start has.

import type { Dialect } from "../contract/dialect.ts";
import { defaultSettings, type Settings } from "../contract/settings.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { createLog, type Log } from "../mcp/log.ts";
import { version } from "../version.ts";
import type { Config } from "./config.ts";

export function logOf(config: Pick<Config, "log-level" | "log-format">): Log {
  return createLog(config["log-level"], undefined, config["log-format"]);
}

interface Started {
  /** Where: a URL, or `stdio`. */
  readonly at: string;
  readonly dialect: Dialect;
  /** Whether commands may run, as the options say; the dialect decides if they say nothing. */
  readonly commands: Settings["commands"];
  readonly workspace: Workspace;
  readonly policy: string;
  /** What confines commands. */
  readonly sandbox?: string;
  /** The callers, if there can be more than one client. */
  readonly callers?: string;
  readonly metrics?: string;
  /** The address of the review page; with a one-time token where callers are not authenticated. */
  readonly review?: string;
  /** Where traces go. */
  readonly telemetry?: string;
}

/** Logs what is served, where, to whom, under which policy, and how commands run. */
export function tellStart(
  log: Log,
  config: Config,
  { at, dialect, commands, workspace, ...rest }: Started,
): void {
  const roots = workspace.roots.map(({ path, access }) => `${path} (${access})`);
  const how = commandsRun(dialect, workspace, commands);
  const { policy, sandbox, callers, metrics, review, telemetry } = rest;
  log.started(`started at ${at}`, {
    version,
    dialect: dialect.name,
    serves: roots.length === 0 ? "the directories that the client or its token names" : roots.join(", "),
    policy,
    commands: how,
    ...(sandbox !== undefined && { sandbox }),
    ...(how === "sandboxed" && { network: config["run-network"] ? "allowed" : "none" }),
    ...(callers !== undefined && { callers }),
    ...(metrics !== undefined && { metrics }),
    ...(review !== undefined && { review }),
    ...(telemetry !== undefined && { telemetry }),
    ...(config.audit !== undefined && { audit: config.audit }),
  });
}

/** How commands run. If no option says so, the dialect decides. */
function commandsRun(dialect: Dialect, workspace: Workspace, commands: Settings["commands"]): string {
  const settings = { ...defaultSettings, commands };
  const runs = dialect.tools.some(
    tool =>
      tool.effect === "runs" &&
      commands !== "none" &&
      dialect.offers?.(tool, { workspace, settings }) !== false,
  );
  return runs ? (commands ?? "unsandboxed") : "off";
}
