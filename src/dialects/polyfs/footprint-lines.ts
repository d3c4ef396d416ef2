// The changes of a command, in a few lines: a created or removed tree is one. Of many, those of existing files come
// before the created ones, such as what a build makes. Other programs may have written, too,
// so the answer says "changed while it ran". What rules deny is counted and not named; what they mask or protect is
// marked.
import type { CallContext } from "../../contract/context.ts";
import type { Slot } from "../../contract/session.ts";
import type { Footprint, RecordedFootprint } from "../../engine/history/footprint.ts";
import { standingChanges } from "../../engine/history/own.ts";
import { uncoveredIn } from "../../engine/history/uncovered.ts";
import { TimeSlice } from "../../engine/workspace/footprint/time-slice.ts";
import { isWithin } from "../../engine/workspace/root.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { counted } from "./answer.ts";
import { shownAt } from "./paths.ts";
import { namedHint, undoHint } from "./writing.ts";

const most = 20;
const mostNamed = 5;
const letters = { created: "A", modified: "M", deleted: "D", mode: "M", touched: "M" } as const;

/** Begins the note about files that another caller changed while the command ran. */
export const changedByOthers = "also changed by others at the same time";

/** Directories that were named as too large to compare: a caller hears of each once. */
const namedBefore: Slot<Set<string>> = { initial: () => new Set() };

interface NumberedChange {
  readonly number: number;
  readonly line: string;
}

export async function footprintLines(
  footprint: Footprint,
  recorded: RecordedFootprint | undefined,
  call: CallContext,
): Promise<string[]> {
  const { workspace, session } = call;
  const { changes, uncertain } = footprint;
  const lines: string[] = [];
  const slice = new TimeSlice();
  const existing: NumberedChange[] = [];
  const created: NumberedChange[] = [];
  let count = 0;
  let tree: string | undefined;
  let denied = 0;
  for (const { path, bytes, change, before, after } of changes) {
    if (slice.isOver) await slice.turn();
    if (workspace.isHidden(path)) {
      denied++;
      continue;
    }
    if (tree !== undefined && isWithin(bytes, tree)) continue;
    const isDirectory = (after ?? before)?.kind === "directory";
    if (isDirectory && change !== "mode") tree = bytes;
    count++;
    const kind = change === "created" ? created : existing;
    if (kind.length === most) continue;
    const line = `${letters[change]} ${shownAt(workspace, path)}${isDirectory ? "/" : ""}${change === "mode" ? " (mode)" : ""}${markOf(path, workspace)}`;
    kind.push({ number: count, line });
  }
  const listed = [...existing, ...created].slice(0, most).sort((a, b) => a.number - b.number);
  for (const { line } of listed) lines.push(line);
  const more = count - listed.length;
  if (more > 0) lines.push(`[${counted(more, "more change")}]`);
  const whose = uncertain ? ", by this command or by another one that ran at the same time" : "";
  if (lines.length > 0) lines.unshift(`changed while it ran${whose}:`);
  if (denied > 0) lines.push(deniedNote(denied));
  if (recorded !== undefined) {
    const { record } = recorded;
    const isNext = record.others || (await isNextUndo(record.id, call));
    lines.push(isNext ? undoHint(record) : namedHint(record));
    if (!recorded.isDurable)
      lines.push("[its history could not be flushed to the disk: undo works, but not after a power cut]");
  }
  const named = (paths: readonly string[]) =>
    namedIn(
      paths.filter(path => !workspace.isHidden(path.replace(/\/$/, ""))),
      workspace,
    );
  const { notKept, shared, inside, tooLarge, unknown } = uncoveredIn(footprint);
  if (notKept.length > 0) lines.push(`[not kept, so undo does not cover it: ${named(notKept)}]`);
  if (shared.length > 0) lines.push(`[${changedByOthers}, so undo does not cover it: ${named(shared)}]`);
  const heard = session.get(namedBefore);
  const unheard = tooLarge.filter(path => !heard.has(path));
  for (const path of unheard.slice(0, mostNamed)) heard.add(path);
  if (inside.length > 0)
    lines.push(`[changes inside are neither listed nor covered by undo: ${named(inside)}]`);
  if (unheard.length > 0)
    lines.push(`[too large to compare, so changes inside are not listed, now and later: ${named(unheard)}]`);
  if (unknown !== undefined)
    lines.push("[the roots are too large to find everything that a command changes; undo does not cover it]");
  return lines;
}

/** Whether undo without arguments takes this change: the caller may have made others that come after it. */
async function isNextUndo(id: string, { workspace, session }: CallContext): Promise<boolean> {
  for await (const { record } of standingChanges(workspace, session)) return record.id === id;
  return true;
}

/** That files under a rule which denies them are left out. */
export function deniedNote(count: number): string {
  return `[${counted(count, "change")} not listed: the policy denies the path]`;
}

function markOf(path: string, workspace: Workspace): string {
  if (!workspace.isChangeable(path)) return " (read-only by the policy)";
  return workspace.isShownWhole(path) ? "" : " (masked by the policy)";
}

function namedIn(paths: readonly string[], workspace: Workspace): string {
  const names = paths.slice(0, mostNamed).map(path => {
    const shown = shownAt(workspace, path);
    return path.endsWith("/") && !shown.endsWith("/") ? `${shown}/` : shown;
  });
  const more = paths.length - names.length;
  if (names.length === 0) return "paths that the policy denies";
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
