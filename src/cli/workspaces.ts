// `--workspaces DIR`: opens the directory of workspaces, decides which one is served, and keeps it in order.
import type { Dialect } from "../contract/dialect.ts";
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { collect, dropUnused, expiring } from "../engine/workspaces/collect.ts";
import { openWorkspaces as open } from "../engine/workspaces/open.ts";
import type { CopyMethod, WorkspaceRecord } from "../engine/workspaces/record.ts";
import type { Workspaces } from "../engine/workspaces/workspaces.ts";
import type { Log } from "../mcp/log.ts";
import { timeAgo } from "./commands/duration.ts";
import type { Config } from "./config.ts";
import { settingsOf } from "./settings.ts";
import { UsageError } from "./usage-error.ts";

const defaultMaxAge = "30d";
const defaultKeepDropped = "7d";
const soonMs = 1000;
const everyMs = 3_600_000;
const touchMs = 600_000;

/** With --store, the workspaces of the store, of which the directory holds copies. */
export async function openWorkspaces(config: Config, log?: Log, method?: CopyMethod): Promise<Workspaces> {
  const directory = config.workspaces;
  if (directory === undefined) throw new UsageError("name the directory of workspaces: --workspaces DIR");
  if (config.store !== undefined)
    return await (await import("./shared-workspaces.ts")).openSharedWorkspaces(
      config,
      directory,
      log,
      method,
    );
  const age = config["workspace-max-age"] ?? defaultMaxAge;
  try {
    return open({
      directory,
      maxBytes: config["workspace-max-bytes"],
      maxFiles: config["workspace-max-files"],
      ...(age !== "never" && { unusedMs: spanOf("workspace-max-age", age) }),
    });
  } catch (error) {
    if (error instanceof Fault)
      throw new UsageError(`${directory} cannot hold workspaces: ${say(plainWording, error)}`);
    throw error;
  }
}

export function graceOf(config: Config): number {
  return spanOf("workspace-keep-dropped", config["workspace-keep-dropped"] ?? defaultKeepDropped);
}

function spanOf(option: string, text: string): number {
  const span = timeAgo(text);
  if (span === undefined)
    throw new UsageError(`--${option} needs a time such as 12h or 14d, not ${JSON.stringify(text)}`);
  return span;
}

export interface ServedWorkspace {
  /** With the directory of the workspace as what is served. */
  readonly config: Config;
  readonly workspaces: Workspaces;
}

/** The workspace that `--workspace-name` names. */
export async function serveWorkspace(config: Config, dialect: Dialect, log: Log): Promise<ServedWorkspace> {
  if (config.grants.length > 0)
    throw new UsageError(
      "name a workspace (--workspace-name) or directories, not both; polyfs workspace adopt makes a directory a workspace",
    );
  const workspaces = await openWorkspaces(config, log);
  const name = config["workspace-name"];
  if (name === undefined)
    throw new UsageError(`name the workspace to serve: --workspace-name NAME${await names(workspaces)}`);
  const record = await found(workspaces, name);
  await prepare(workspaces, record, config, dialect);
  setInterval(() => workspaces.touch(record), touchMs).unref();
  const access = config["read-only"] ? "read-only" : "read-write";
  const standsFor = await workspaces.originalsOf(record);
  return { config: { ...config, grants: [{ path: record.root, access, standsFor }] }, workspaces };
}

/** Once the engine is open: keeps the workspace that --workspace-name names up to date with the store. */
export async function shareServed(config: Config, workspaces: Workspaces): Promise<void> {
  const name = config["workspace-name"];
  if (name === undefined || !workspaces.isShared) return;
  try {
    await workspaces.ready(await workspaces.find(name));
  } catch (error) {
    if (error instanceof Fault)
      throw new UsageError(`the workspace ${name} cannot be served: ${say(plainWording, error)}`);
    throw error;
  }
}

async function found(workspaces: Workspaces, name: string): Promise<WorkspaceRecord> {
  try {
    return await workspaces.find(name);
  } catch (error) {
    if (!Fault.is(error, "unknown_workspace")) throw error;
    throw new UsageError(
      `there is no workspace ${JSON.stringify(name)}${await names(workspaces)}; polyfs workspace adopt, create and fork make one`,
    );
  }
}

async function names(workspaces: Workspaces): Promise<string> {
  const all = (await workspaces.list()).map(({ name }) => name);
  return all.length === 0
    ? "; there are none yet"
    : `; there ${all.length === 1 ? "is" : "are"} ${all.slice(0, 20).join(", ")}`;
}

/** Makes the files ready for what this server may do with them. Faults become usage errors. */
export async function prepare(
  workspaces: Workspaces,
  record: WorkspaceRecord,
  config: Config,
  dialect: Dialect,
): Promise<void> {
  try {
    await (writesInPlace(config, dialect) ? workspaces.readyForCommands(record) : workspaces.ready(record));
    workspaces.touch(record);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError(`the workspace ${record.name} cannot be served: ${say(plainWording, error)}`);
  }
}

/** Whether a file may be written to without being replaced: by a command, or because that was asked for. */
function writesInPlace(config: Config, dialect: Dialect): boolean {
  const settings = settingsOf(config, dialect);
  const runs = settings.commands !== "none" && dialect.tools.some(({ effect }) => effect === "runs");
  return runs || settings.hardLinks === "keep";
}

/** Drops and removes what is due, soon after the start and every hour. */
export function keepInOrder(workspaces: Workspaces, graceMs: number, log: Log): void {
  const run = async () => {
    try {
      for (const { name } of await dropUnused(workspaces))
        log.warn(
          `the fork ${name} was dropped, because it was unused; polyfs workspace restore ${name} brings it back`,
        );
      for (const { record, expires = 0 } of await expiring(workspaces))
        log.warn(
          `the fork ${record.name} will be dropped on ${new Date(expires).toISOString()}, unless it is used`,
        );
      await collect(workspaces, graceMs);
    } catch (error) {
      log.error("workspaces could not be cleaned up", error);
    }
  };
  setTimeout(run, soonMs).unref();
  setInterval(run, everyMs).unref();
}
