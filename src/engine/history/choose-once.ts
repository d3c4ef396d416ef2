// Undoing "the last change" chooses a change and undoes it, and another caller may choose the same one in between. The
// undo checks under its locks that the chosen change has not been undone since; if it has, another is chosen.
import { Fault } from "../fault.ts";
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Workspace } from "../workspace/workspace.ts";

const attempts = 20;

class UndoneMeanwhile extends Error {
  override readonly name = "UndoneMeanwhile";
}

/** Runs `action` with the newest change there is, before it chooses, and again where its choice was overtaken. */
export async function chooseOnce<T>(
  workspace: Workspace,
  action: (chosenAfter: string) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round++) {
    await workspace.othersRecorded();
    try {
      return await action(workspace.archive.changes.newestId() ?? "");
    } catch (error) {
      if (!(error instanceof UndoneMeanwhile)) throw error;
      if (round === attempts) throw new Fault("changed_meanwhile", { path: "" });
    }
  }
}

/** For a commit that undoes changes: throws if one of them was undone after the change with the id `chosenAfter`. */
export async function confirmNotUndone(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  chosenAfter: string | undefined,
): Promise<void> {
  if (chosenAfter === undefined) return;
  await workspace.othersRecorded();
  for (const { undoes } of workspace.archive.changes.newest(undefined, chosenAfter)) {
    if (records.some(record => record.id === undoes)) throw new UndoneMeanwhile();
  }
}
