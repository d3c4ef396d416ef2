// The changes of one connection: which are still in effect, and which the next undo reverts.
import type { Workspace } from "../workspace/workspace.ts";
import { madeChanges, type Standing } from "./standing.ts";

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
): AsyncGenerator<Standing & { earlier: boolean }> {
  let own = false;
  for await (const { record, partly, isUndone } of madeChanges(workspace)) {
    const { time, connection, client } = record;
    const isOwn = connection === author.connection;
    own ||= isOwn;
    if (isUndone) continue;
    if (isOwn) yield { record, partly, earlier: false };
    else if (!own && client === author.client && time < author.started)
      yield { record, partly, earlier: true };
  }
}
