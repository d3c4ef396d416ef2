// The audit log that --audit names, open. Callers must not be able to write it.
import { plainWording, say } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { errnoOf, errnoWords } from "../engine/workspace/errno.ts";
import { type Access, isWithin } from "../engine/workspace/root.ts";
import { canonicalPath } from "../engine/workspace/system/named-file.ts";
import { nativeForm } from "../engine/workspace/windows-path.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Workspaces } from "../engine/workspaces/workspaces.ts";
import { AuditLog, type AuditLogOptions } from "../host/audit-log.ts";
import { logTarget } from "../host/log-target.ts";
import type { Log } from "../mcp/log.ts";
import { version } from "../version.ts";
import type { Config } from "./config.ts";
import { UsageError } from "./usage-error.ts";

export function openAudit(config: Config, workspace: Workspace, log: Log): AuditLog | undefined {
  const { audit: given, "audit-max-bytes": maxBytes } = config;
  if (given === undefined) return undefined;
  refuseServed("--audit", given, workspace);
  const target = told(() => logTarget(given));
  if (target === "reader")
    throw new UsageError(`--audit ${given} is not a regular file: the server would wait for its reader`);
  if (target === "output" && config.http === undefined)
    throw new UsageError(`--audit ${given} is standard output, which belongs to the protocol`);
  // Rotation is about the file, not about a link to it.
  const path = target === "file" ? canonicalPath(given) : given;
  const served = workspace.roots.map(root => `${nativeForm(root.path)} (${root.access})`);
  const options: AuditLogOptions = {
    maxBytes,
    about: { version, served },
    onError: error =>
      log.error(
        `the audit cannot be written${reasonOf(error)}: its lines wait in memory`,
        errnoOf(error) === undefined ? error : undefined,
      ),
    onUnrotated: error =>
      log.error(`the audit is full and cannot be rotated${reasonOf(error)}: the file grows`),
    onLost: lines => {
      log.error(`the audit cannot be written: its last ${lines} lines are lost`);
      process.exitCode = 1;
    },
  };
  return told(() => new AuditLog(path, options));
}

function told<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError(`the audit cannot be written: ${say(plainWording, error)}`);
  }
}

/** For a command, which can refuse: a server goes on where the disk is full. */
export function openCommandAudit(config: Config, workspace: Workspace, log: Log): AuditLog | undefined {
  const audit = openAudit(config, workspace, log);
  if (audit?.isFailing !== true) return audit;
  audit[Symbol.dispose]();
  throw new UsageError(`the audit cannot be written: ${config.audit}`);
}

/** Files that decide about callers, or record them, must not be writable by callers; a secret must not be readable. */
export function refuseServed(
  option: string,
  path: string,
  workspace: Workspace,
  { isSecret = false } = {},
): void {
  const access = accessTo(canonicalPath(path), workspace);
  if (access === undefined || (access === "read-only" && !isSecret)) return;
  throw new UsageError(
    `${option} ${path} is in a directory that callers may ${isSecret ? "read" : "write"}: move it elsewhere`,
  );
}

/** The access of callers to the directory that holds a file; undefined if it is not served. */
function accessTo(file: string, workspace: Workspace): Access | undefined {
  try {
    return workspace.locate(workspace.at(file)).root.access;
  } catch {
    // A rule may hide it.
    const holding = workspace.roots.filter(({ path }) => isWithin(file, path));
    return holding.sort((a, b) => b.path.length - a.path.length)[0]?.access;
  }
}

/** The same for the workspaces of `--workspaces`, which callers enter by name. */
export async function refuseInWorkspaces(
  option: string,
  path: string,
  workspaces: Workspaces,
): Promise<void> {
  const file = canonicalPath(path);
  if (isWithin(file, workspaces.layout.path))
    throw new UsageError(`${option} ${path} is in the directory of --workspaces, which polyfs manages`);
  const holder = (await workspaces.list()).find(({ root }) => isWithin(file, canonicalPath(root)));
  if (holder !== undefined)
    throw new UsageError(`${option} ${path} is in the workspace ${holder.name}, which callers may write`);
}

function reasonOf(error: unknown): string {
  const errno = errnoOf(error);
  return errno === undefined ? "" : ` (${errnoWords(errno)})`;
}
