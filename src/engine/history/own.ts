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
 * Changes of this connection that are not undos and have not been undone, those last that took effect first. If it has
 * made none, those of earlier connections of the same client.
 */
export async function* standingChanges(
  workspace: Workspace,
  author: Author,
): AsyncGenerator<Standing & { earlier: boolean }> {
  let own = false;
  /** Redone since: this connection may have made changes before that. */
  let redone: Standing[] = [];
  for await (const { isUndone, ...one } of madeChanges(workspace)) {
    const { id, time, connection, client } = one.record;
    const isOwn = connection === author.connection;
    own ||= isOwn;
    if (isUndone) continue;
    if (isOwn) yield { ...one, earlier: false };
    else if (!own && client === author.client && time < author.started) {
      redone.push(one);
      if (one.effective !== id) continue;
      for (const each of redone) yield { ...each, earlier: true };
      redone = [];
    }
  }
  if (!own) for (const each of redone) yield { ...each, earlier: true };
}
