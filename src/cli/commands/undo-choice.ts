// Which changes `polyfs undo` is about: one by its id, the last one, or all of a time, a connection or a client.

import { isClientNamed } from "../../engine/client-name.ts";
import { Fault } from "../../engine/fault.ts";
import { changeNamed, concerns, isPartlyVisible, isVisible } from "../../engine/history/changes.ts";
import { isLeft } from "../../engine/history/left.ts";
import { standing } from "../../engine/history/standing.ts";
import { writtenDate } from "../../engine/text/written-date.ts";
import { type ChangeRecord, type ListStart, listStart } from "../../engine/workspace/archive/log.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { UsageError } from "../usage-error.ts";
import { timeAgo } from "./duration.ts";

export interface UndoChoice {
  readonly change: string | undefined;
  readonly path: WorkspacePath | undefined;
  readonly since: string | undefined;
  readonly task: boolean;
  readonly client: string | undefined;
}

/**
 * Newest first. Faults: `unknown_change`, also if a change touched other directories as well: skipping it would
 * silently undo an older change instead.
 */
export async function chosenChanges(workspace: Workspace, choice: UndoChoice): Promise<ChangeRecord[]> {
  const { change, since, task, client, path } = choice;
  if (change !== undefined) {
    if (since !== undefined || task || client !== undefined)
      throw new UsageError("a change by its id excludes --since, --task and --client");
    return [await changeNamed(workspace, change)];
  }
  if (since !== undefined && task) throw new UsageError("--since and --task exclude each other");
  const start = since === undefined ? listStart(undefined) : await beginning(workspace, since);
  const several = since !== undefined || task;
  const at = path && workspace.locate(path).path;
  const chosen: ChangeRecord[] = [];
  const clients = new Set<string>();
  for await (const one of standing(workspace, isPartlyVisible)) {
    const { record, partly, effective } = one;
    if (start.isEnd(effective)) break;
    if (!start.has(record)) continue;
    clients.add(record.client);
    if (client !== undefined && !isClientNamed(record.client, client)) continue;
    if (at !== undefined && !record.files.some(file => concerns(file, at))) continue;
    if (task && !isOfTask(record, chosen[0])) continue;
    if (!isVisible(workspace, record)) throw new Fault("unknown_change", { id: record.id });
    if (!several && partly.length > 0 && !(await isLeft(workspace, one, path))) continue;
    chosen.push(record);
    if (!several) break;
  }
  if (chosen.length > 0) return chosen;
  if (client !== undefined && clients.size > 0 && ![...clients].some(label => isClientNamed(label, client)))
    throw new UsageError(`no change of ${client} is left to undo; there are changes of: ${names(clients)}`);
  if (since !== undefined) throw new UsageError(`there is no change to undo since ${since}`);
  throw new Fault("unknown_change", { id: "" });
}

function isOfTask(record: ChangeRecord, latest: ChangeRecord | undefined): boolean {
  return latest === undefined || (record.connection !== undefined && record.connection === latest.connection);
}

async function beginning(workspace: Workspace, text: string): Promise<ListStart> {
  const ago = timeAgo(text);
  if (ago !== undefined) return listStart(undefined, Date.now() - ago);
  const time = writtenDate(text);
  if (!Number.isNaN(time)) return listStart(undefined, time);
  await workspace.othersRecorded();
  if (workspace.archive.changes.get(text) !== undefined) return listStart(await changeNamed(workspace, text));
  throw new UsageError(
    `--since needs a time such as 30m, 2h or 1d, a date, or a change's id, not ${JSON.stringify(text)}`,
  );
}

function names(clients: ReadonlySet<string>): string {
  return [...clients].map(name => name || "(no name)").join(", ");
}
