// A client's configuration file: read, and written back through a workspace of its own directory, so that the change
// is atomic, recorded, and refused if the file changed in between. A backup stays beside it.
import { isUtf8 } from "node:buffer";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../../engine/fault.ts";
import type { Change } from "../../engine/workspace/commit/change.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import { Workspace } from "../../engine/workspace/workspace.ts";
import { Unfit } from "./unfit.ts";

const maxBytes = 64 * 1024 * 1024;
/** How many old states of a file stay beside it. */
const mostBackups = 5;

export interface Configuration {
  /** The canonical path. */
  readonly path: string;
  /** Undefined if there is no such file yet. */
  readonly bytes?: Buffer;
  /** Its content, without a byte-order mark. */
  readonly text: string;
}

/** Faults, and `Unfit` if it is not text or must not be written. */
export function readConfiguration(file: string, state?: string): Configuration {
  const path = behindLinks(file, state);
  using workspace = openAbove(path, "read-only", state);
  const at = workspace.at(path);
  try {
    if ((workspace.stat(at).mode & 0o200) === 0) throw new Unfit("it is read-only");
    using opened = workspace.file(at);
    const bytes = opened.readNow(0, maxBytes + 1);
    if (bytes.length > maxBytes || !isUtf8(bytes)) throw new Unfit("it is not UTF-8 text");
    return { path, bytes, text: bytes.toString("utf8").replace(/^\ufeff/, "") };
  } catch (error) {
    if (Fault.is(error, "not_found")) return { path, text: "" };
    throw error;
  }
}

/** Writes it and keeps a backup beside it; returns the backup's path. */
export async function writeConfiguration(
  { path, bytes }: Configuration,
  text: string,
  state?: string,
): Promise<string | undefined> {
  using workspace = openAbove(path, "read-write", state);
  const at = workspace.at(path);
  const marked = bytes?.subarray(0, 3).equals(Buffer.from("\ufeff")) ? `\ufeff${text}` : text;
  const changes: Change[] = [
    { kind: "write", path: at, bytes: Buffer.from(marked), expect: bytes ?? "absent" },
  ];
  const backup = bytes === undefined ? undefined : backupOf(path);
  if (bytes !== undefined && backup !== undefined) {
    const { mode } = workspace.stat(at);
    changes.push({ kind: "write", path: workspace.at(backup), bytes, mode, expect: "absent" });
    for (const old of oldBackups(workspace, path)) changes.push({ kind: "remove", path: workspace.at(old) });
  }
  await workspace.commit(changes, { parents: true, by: { action: "setup", client: "polyfs setup" } });
  await workspace.settled();
  return backup;
}

/** `config.json.2026-08-01-140322-117.backup` */
function backupOf(path: string): string {
  const time = new Date().toISOString().replace("T", "-").replaceAll(":", "").replace(".", "-").slice(0, -1);
  return join(dirname(path), `${basename(path)}.${time}.backup`);
}

/** The backups that are one too many once another is written; the oldest go first. */
function oldBackups(workspace: Workspace, path: string): string[] {
  const directory = dirname(path);
  const start = `${basename(path)}.`;
  const opened = workspace.directory(workspace.at(directory));
  const names = opened.entries().map(({ name }) => name);
  opened.close();
  const backups = names
    .filter(
      name =>
        name.startsWith(start) && /^\d{4}-\d\d-\d\d-\d{6}-\d{3}\.backup$/.test(name.slice(start.length)),
    )
    .sort();
  return backups.slice(0, Math.max(0, backups.length + 1 - mostBackups)).map(name => join(directory, name));
}

/** People keep their settings elsewhere and link to them: the link stays, its target is written. */
function behindLinks(file: string, state: string | undefined): string {
  let path = resolve(file);
  for (let steps = 0; steps < 16; steps++) {
    using workspace = openAbove(path, "read-only", state);
    const target = linkAt(workspace, path);
    if (target === undefined) return path;
    path = resolve(dirname(path), target);
  }
  throw new Unfit("it is a dangling link");
}

function linkAt(workspace: Workspace, path: string): string | undefined {
  try {
    return workspace.lstat(workspace.at(path)).target;
  } catch (error) {
    if (Fault.is(error, "not_found")) return undefined;
    throw error;
  }
}

/** The nearest existing directory above a file. */
function openAbove(path: string, access: Grant["access"], state: string | undefined): Workspace {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    try {
      return Workspace.open([{ path: directory, access }], { state, onlyLooks: access === "read-only" });
    } catch (error) {
      if (!Fault.is(error, "not_found") || dirname(directory) === directory) throw error;
    }
  }
}

/** Whether something is at a path. */
export function isThere(path: string): boolean {
  try {
    using workspace = openAbove(path, "read-only", undefined);
    workspace.lstat(workspace.at(path));
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
