// `undo`: undoes changes, or a part of them: one path, or single hunks. Later edits elsewhere in the same files stay.
// Without arguments it undoes the last change of this connection.
import type { CallContext } from "../../contract/context.ts";
import type { Slot } from "../../contract/session.ts";
import { type Reply, text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { changeNamed, concerns, wasChangedSince, wasRemovedWithin } from "../../engine/history/changes.ts";
import { chooseOnce } from "../../engine/history/choose-once.ts";
import { isLeft } from "../../engine/history/left.ts";
import { standingChanges } from "../../engine/history/own.ts";
import { isUndo, standing } from "../../engine/history/standing.ts";
import type { Restored } from "../../engine/history/undo.ts";
import { undoHunks } from "../../engine/history/undo-hunks.ts";
import { undoMany } from "../../engine/history/undo-many.ts";
import { type ChangeRecord, listStart } from "../../engine/workspace/archive/log.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { AnswerLines, answerBytes, counted } from "./answer.ts";
import { authorOf, timeOf } from "./change-lines.ts";
import { refused } from "./failure.ts";
import { givenAt, pathAt, shownAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { addRestored } from "./restored-lines.ts";
import { changesShown, latestChange } from "./shown-diff.ts";
import { sinceOf } from "./since.ts";
import { syntaxNotesOf } from "./syntax-notes.ts";
import { dryRunProperty, namedHint, notes, redoHint } from "./writing.ts";

interface UndoParams {
  readonly change?: string;
  readonly changes?: readonly string[];
  readonly since?: string;
}

export const undo = polyfsTool({
  name: "undo",
  title: "Undo",
  description: "Undo changes (default: your last), or a path or hunks of them; later edits elsewhere stay.",
  input: {
    type: "object",
    properties: {
      change: { type: "string" },
      changes: { type: "array", minItems: 1, items: { type: "string" } },
      since: { type: "string", description: "All of yours after it; as in list_changes." },
      path: { type: "string" },
      hunks: {
        type: "array",
        minItems: 1,
        items: { type: "integer" },
        description: "Numbers as in the diff.",
      },
      dry_run: dryRunProperty,
    },
  },
  effect: "writes",
  page: "review",
  paths: ["path"],
  async run({ path, hunks, dry_run, ...wanted }, call) {
    const { workspace, session, signal } = call;
    if ([wanted.change, wanted.changes, wanted.since].filter(one => one !== undefined).length > 1)
      throw refused(
        "change, changes and since cannot be combined",
        "Send one of them, or none for your last change.",
      );
    const at = path === undefined ? undefined : pathAt(call, path);
    const where = path === undefined ? "" : ` in ${printable(path)}`;
    const { client, connection } = session;
    const isNamed = wanted.change !== undefined || wanted.changes !== undefined;
    const isStep = !isNamed && wanted.since === undefined && hunks === undefined;
    const undoChosen = async (chosenAfter: string | undefined): Promise<Reply> => {
      const isOfDiff = hunks !== undefined && !isNamed && wanted.since === undefined;
      const params = isOfDiff ? await numberedChanges(call) : wanted;
      const passed: ChangeRecord[] = [];
      for (;;) {
        const { records, note } = await chosen(params, at, call, passed);
        const isRedo = records.every(isUndo);
        const isOfCommand = records.some(({ began }) => began !== undefined);
        const options = { path: at, dryRun: dry_run ?? false, client, connection, signal, chosenAfter };
        const explained = async (error: unknown) => {
          throw asPrinted(workspace, await withOutside(workspace, records, error));
        };
        if (hunks !== undefined) {
          const { restored, commit } = await undoHunks(workspace, records, hunks, options).catch(explained);
          const what = `${counted(hunks.length, "hunk")} of ${named(records)}${where}`;
          const commits = commit ? [commit] : [];
          return answer(
            { what, note, passed, restored, commits, isRedo, isOfCommand, dryRun: dry_run },
            call,
          );
        }
        const undone = await undoMany(workspace, records, options).catch(explained);
        const restored = undone.flatMap(one => one.restored);
        const follows = undone.filter(one => one.follows).map(({ change }) => change.id);
        const commits = undone.flatMap(({ commit }) => (commit === undefined ? [] : [commit]));
        const [only] = records;
        const isGone =
          isStep && restored.length === 0 && only !== undefined && !passed.some(({ id }) => id === only.id);
        if (isGone) {
          const told = session.get(toldGone);
          if (told.has(only.id) || !session.lasting) {
            passed.push(only);
            continue;
          }
          // The caller hears that nothing is left of its last change before anything older is undone.
          if (!dry_run) told.add(only.id);
        }
        const what = named(records) + where;
        return answer(
          { what, note, passed, restored, commits, isRedo, isOfCommand, dryRun: dry_run, isGone, follows },
          call,
        );
      }
    };
    return isNamed ? undoChosen(undefined) : chooseOnce(workspace, undoChosen);
  },
});

/** The changes that numbers of hunks count in: those of the diff that was shown last, or else the last change. */
async function numberedChanges(call: CallContext): Promise<UndoParams> {
  const changes = changesShown(call.session, await latestChange(call));
  return changes === undefined ? {} : { changes };
}

/**
 * Which changes are meant, newest first. A step back goes past those in `passed`; where there is nothing before them, the
 * first of these is the answer.
 */
async function chosen(
  { change, changes, since }: UndoParams,
  path: WorkspacePath | undefined,
  call: CallContext,
  passed: readonly ChangeRecord[],
): Promise<{ records: ChangeRecord[]; note?: string }> {
  const { workspace } = call;
  const ids = changes ?? (change === undefined ? undefined : [change]);
  if (ids !== undefined) {
    const records: ChangeRecord[] = [];
    for (const id of new Set(ids)) records.push(await changeNamed(workspace, id));
    return { records };
  }
  const at = path && workspace.locate(path).path;
  const [first] = passed;
  const isPassed = ({ id }: ChangeRecord) => passed.some(one => one.id === id);
  const isWanted = ({ files }: ChangeRecord) => at === undefined || files.some(file => concerns(file, at));
  if (since === undefined && path !== undefined) {
    for await (const one of standing(workspace)) {
      if (isPassed(one.record)) continue;
      if (!isWanted(one.record)) {
        // It cannot be undone alone, and a change before that one is not the last.
        if (at !== undefined && wasRemovedWithin(workspace, one.record, at) && !exists(workspace, path))
          throw new Fault("unknown_change", { id: one.record.id, path: path.given });
        continue;
      }
      if (one.partly.length === 0 || (await isLeft(workspace, one, path))) return lastOf(one.record, call);
    }
    if (first !== undefined) return lastOf(first, call);
    throw new Fault("unknown_change", { id: "" });
  }
  const from = await sinceOf(since, call);
  const start = listStart(workspace.archive.changes.get(from.after ?? ""), from.since);
  const records: ChangeRecord[] = [];
  let note: string | undefined;
  for await (const { earlier, ...one } of standingChanges(workspace, call.session)) {
    const { record, partly, effective } = one;
    if (start.isEnd(effective)) break;
    if (!start.has(record)) continue;
    if (!isWanted(record) || isPassed(record) || (since === "start" && earlier)) continue;
    if (since === undefined && partly.length > 0 && !(await isLeft(workspace, one, path))) continue;
    if (earlier && note === undefined) note = `[of an earlier connection, made ${timeOf(record)}]`;
    records.push(record);
    if (since === undefined) break;
  }
  if (records.length === 0 && first !== undefined) return { records: [first] };
  if (records.length === 0) throw new Fault("unknown_change", { id: "" });
  return { records, ...(note !== undefined && { note }) };
}

/** The last change of a path may be anyone's: the caller hears whose. */
function lastOf(record: ChangeRecord, { session }: CallContext): { records: ChangeRecord[]; note?: string } {
  if (record.connection === session.connection) return { records: [record] };
  return { records: [record], note: `[made by ${authorOf(record)}, ${timeOf(record)}]` };
}

function exists(workspace: Workspace, path: WorkspacePath): boolean {
  try {
    workspace.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** The changes of which this connection was told that nothing is left. */
const toldGone: Slot<Set<string>> = { initial: () => new Set() };

function named(records: readonly ChangeRecord[]): string {
  const [only] = records;
  if (records.length === 1 && only !== undefined) return `${only.id} (${only.action || "?"})`;
  const ids = records.slice(0, 10).map(({ id }) => id);
  return `${counted(records.length, "change")}: ${ids.join(", ")}${records.length > 10 ? ", …" : ""}`;
}

interface Told {
  readonly what: string;
  readonly note?: string | undefined;
  /** Changes of which nothing was left. */
  readonly passed: readonly ChangeRecord[];
  readonly restored: readonly Restored[];
  readonly commits: readonly Commit[];
  /** What was undone were undos. */
  readonly isRedo: boolean;
  readonly dryRun: boolean | undefined;
  /** Nothing is left of the caller's last change, and the caller did not know yet. */
  readonly isGone?: boolean;
  /** Changes that a dry run cannot show, because later ones are undone first. */
  readonly follows?: readonly string[];
  /** A command's change is among them. */
  readonly isOfCommand: boolean;
}

/** Marks a refusal about a path that was changed outside of polyfs. */
async function withOutside(
  workspace: Workspace,
  records: readonly ChangeRecord[],
  error: unknown,
): Promise<unknown> {
  for (const code of ["stale", "not_found", "exists"] as const)
    if (Fault.is(error, code) && !(await wasChangedSince(workspace, records, error.data.path)))
      return new Fault(code, { ...error.data, outside: true }, { cause: error });
  return error;
}

/** A refusal about a recorded path, with the path as it is printed. */
function asPrinted(workspace: Workspace, error: unknown): unknown {
  for (const code of ["stale", "not_found", "exists", "not_a_file", "not_kept"] as const)
    if (Fault.is(error, code)) {
      const path = givenAt(workspace, error.data.path);
      return new Fault(code, { ...error.data, path }, { cause: error });
    }
  if (Fault.is(error, "others_work")) {
    const paths = error.data.paths.map(path => givenAt(workspace, path));
    return new Fault("others_work", { ...error.data, paths }, { cause: error });
  }
  return error;
}

async function answer(done: Told, call: CallContext): Promise<Reply> {
  const { what, note, passed, restored, commits, isRedo, dryRun, follows = [] } = done;
  const { workspace } = call;
  const lines = new AnswerLines(answerBytes(call.settings) - 400);
  const isNothing = restored.length === 0 && follows.length === 0;
  const did = isNothing ? "nothing left of" : dryRun ? "would undo" : "undid";
  lines.note(`${did} ${what}`);
  if (note !== undefined) lines.note(note);
  if (passed.length > 0 && !isNothing) lines.note(`[nothing was left of ${named(passed)}]`);
  if (isNothing) lines.note("[nothing to undo: everything is as it was before]");
  if (done.isOfCommand && restored.length > 0)
    lines.note("[the change of a command is all that changed while it ran, by other programs too]");
  if (done.isGone && !dryRun) lines.note("[the next undo goes one step further back]");
  await addRestored(lines, restored, workspace);
  const hint = isRedo ? namedHint : redoHint;
  const told = commits.slice(0, 20).flatMap(commit => notes(commit, call, hint));
  for (const line of new Set(told)) lines.note(line);
  if (follows.length > 0) {
    const some = `${follows.slice(0, 10).join(", ")}${follows.length > 10 ? ", …" : ""}`;
    lines.note(`[not shown, because later changes of the same files are undone first: ${some}]`);
  }
  if (dryRun) lines.note("[dry run: nothing was written]");
  const changed = restored.filter(one => one.after !== undefined);
  const files = changed.map(({ at, before, after }) => ({
    before,
    after,
    get path() {
      return shownAt(workspace, at); // the first few are asked for it
    },
  }));
  for (const line of await syntaxNotesOf(files)) lines.note(line);
  return text(lines.toString());
}
