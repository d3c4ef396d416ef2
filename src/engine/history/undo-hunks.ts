// Takes back some hunks of one or several changes. A commit like any other, so it can be undone itself.
import { Fault } from "../fault.ts";
import type { ChangeRecord } from "../workspace/archive/log.ts";
import type { Commit } from "../workspace/commit/change.ts";
import type { WorkspacePath } from "../workspace/path.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { confirmNotUndone } from "./choose-once.ts";
import { isAt, type NetText, netTexts, withoutHunks } from "./hunks.ts";
import type { Restored, UndoOptions } from "./undo.ts";

export interface HunkUndo {
  readonly restored: readonly Restored[];
  readonly commit?: Commit;
}

const attempts = 5;

/** Faults: `unknown_hunk`, `stale`, and those of a commit. */
export async function undoHunks(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  numbers: readonly number[],
  options: Omit<UndoOptions, "change"> & { readonly maxBytes?: number },
): Promise<HunkUndo> {
  const net = await netTexts(workspace, records, options.maxBytes);
  confirmWithin(workspace, net, numbers, options.path);
  for (let round = 1; ; round++) {
    const { changes, files } = await withoutHunks(workspace, net, numbers);
    const restored = files.map(
      ({ at, before, after }): Restored => ({
        at,
        did: after === undefined ? "removed" : before === undefined ? "restored" : "changed back",
        ...(before && { before: workspace.shown(at, before) }),
        ...(after && { after: workspace.shown(at, after) }),
      }),
    );
    if (options.dryRun || changes.length === 0) return { restored };
    const { client = "", connection, signal } = options;
    const [only] = records;
    const undoes = records.length === 1 ? only?.id : undefined;
    const by = {
      action: "undo",
      client,
      ...(connection && { connection }),
      ...(undoes && { undoes, partial: true, hunks: true as const }),
    };
    try {
      const commit = await workspace.commit(changes, {
        by,
        parents: true,
        links: "refuse",
        unmasked: true,
        signal,
        confirm: () => confirmNotUndone(workspace, records, options.chosenAfter),
      });
      return { restored, commit };
    } catch (error) {
      if (!Fault.is(error, "changed_meanwhile") || round === attempts) throw error;
    }
  }
}

/** A number that counts in another file is a mistake: nothing may be reported as undone. */
function confirmWithin(
  workspace: Workspace,
  net: readonly NetText[],
  numbers: readonly number[],
  path: WorkspacePath | undefined,
): void {
  if (path === undefined) return;
  const only = workspace.locate(path).path;
  const inside = net.filter(file => file.hunks.length > 0 && isAt(file, only));
  const isInside = (number: number) =>
    inside.some(({ first, hunks }) => number >= first && number < first + hunks.length);
  const hunk = numbers.find(number => !isInside(number));
  if (hunk === undefined) return;
  const [head, tail] = [inside[0], inside.at(-1)];
  const range = head && tail && ([head.first, tail.first + tail.hunks.length - 1] as const);
  const hunks = net.reduce((sum, file) => sum + file.hunks.length, 0);
  const within = { path: path.given, ...(range && { numbers: range }) };
  throw new Fault("unknown_hunk", { hunk, hunks, within });
}
