// The changes whose hunks list_changes numbered last. A caller that then undoes hunks without naming a change means these
// numbers, unless it has changed something since they were shown.
import type { CallContext } from "../../contract/context.ts";
import type { Session, Slot } from "../../contract/session.ts";
import { standingChanges } from "../../engine/history/own.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";

interface NumberedDiff {
  readonly changes: readonly string[];
  /** The caller's last change at that time, which need not be one of them. */
  readonly latest: string | undefined;
}

const shown: Slot<NumberedDiff> = { initial: () => ({ changes: [], latest: undefined }) };

export function noteShown(
  session: Session,
  records: readonly ChangeRecord[],
  latest: string | undefined,
): void {
  session.set(shown, { changes: records.map(({ id }) => id), latest });
}

/** `latest` is the last change of this caller. */
export function changesShown(session: Session, latest: string | undefined): readonly string[] | undefined {
  const { changes, latest: then = "" } = session.get(shown);
  const isOutdated = latest !== undefined && latest > then;
  return changes.length === 0 || isOutdated ? undefined : changes;
}

/** The last change of this connection that is still in effect, or its last redo. */
export async function latestChange({ workspace, session }: CallContext): Promise<string | undefined> {
  for await (const { effective, earlier } of standingChanges(workspace, session))
    return earlier ? undefined : effective;
  return undefined;
}
