// The changes whose hunks list_changes numbered last. A caller that then undoes hunks without naming a change means these
// numbers, unless it has changed something since.
import type { Session, Slot } from "../../contract/session.ts";
import type { ChangeRecord } from "../../engine/workspace/archive/log.ts";

const shown: Slot<readonly string[]> = { initial: () => [] };

export function noteShown(session: Session, records: readonly ChangeRecord[]): void {
  session.set(
    shown,
    records.map(({ id }) => id),
  );
}

/** `latest` is the last change of this caller. */
export function changesShown(session: Session, latest: string | undefined): readonly string[] | undefined {
  const ids = session.get(shown);
  const isOutdated = latest !== undefined && ids.every(id => id < latest);
  return ids.length === 0 || isOutdated ? undefined : ids;
}
