// The changes of one connection: which are still in effect, and which the next undo reverts.
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isVisible } from "./changes.ts";

export interface Author {
  readonly client: string;
  readonly connection: string;
  /** When the connection began, in milliseconds since 1970. */
  readonly started: number;
}

/**
 * Changes of this connection that are not undos and have not been undone, newest first. If it has made none, those of
 * earlier connections of the same client.
 */
export async function* standingChanges(
  workspace: Workspace,
  author: Author,
): AsyncGenerator<{ record: ChangeRecord; earlier: boolean }> {
  await workspace.othersRecorded();
  const undone = new Set<string>();
  let own = false;
  for (const record of workspace.archive.changes.newest()) {
    const { id, undoes, partial, time, connection, client } = record;
    if (undoes !== undefined && !partial && !undone.has(id)) undone.add(undoes);
    const isOwn = connection === author.connection;
    const isAction = undoes === undefined;
    own ||= isOwn && isAction;
    if (!isAction || undone.has(id) || !isVisible(workspace, record)) continue;
    if (isOwn) yield { record, earlier: false };
    else if (!own && client === author.client && time < author.started) yield { record, earlier: true };
  }
}
