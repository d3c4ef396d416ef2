// Undo from the page: of changes, of a file in them, of single hunks; and what that would do. It is the engine's undo,
// so it touches only what the changes made, and is recorded like any change, as the client `review`.

import { plainWording, say } from "../contract/wording.ts";
import { append } from "../engine/append.ts";
import { Fault } from "../engine/fault.ts";
import { concerns } from "../engine/history/changes.ts";
import { isAt, netTexts, withoutHunks } from "../engine/history/hunks.ts";
import { type Restored, undo } from "../engine/history/undo.ts";
import { undoHunks } from "../engine/history/undo-hunks.ts";
import { undoMany } from "../engine/history/undo-many.ts";
import { isNoText } from "../engine/text/detect.ts";
import { humanSize } from "../engine/text/size.ts";
import { decode } from "../engine/text/text.ts";
import type { ChangeRecord } from "../engine/workspace/archive/log.ts";
import type { Commit } from "../engine/workspace/commit/change.ts";
import { isWithin } from "../engine/workspace/root.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { ChangeSummary, Collision, RestoredFile, UndoResult } from "./api.ts";
import { hunksOf } from "./difference.ts";
import { maxComparedBytes } from "./sides.ts";
import { nameOf, type Viewer } from "./viewer.ts";

const client = "review";
const previewLines = 500;
const mostFiles = 200;

export interface Undoing {
  /** Newest first. */
  readonly records: readonly ChangeRecord[];
  readonly path?: string | undefined;
  readonly hunks?: readonly number[] | undefined;
  readonly preview: boolean;
  /** Later changes of a path that are not undone and not among the records. */
  later(path: string): readonly ChangeSummary[];
}

/** Faults: `unknown_change` where the changes are not about the path, and those of an undo. */
export async function undoFor(viewer: Viewer, undoing: Undoing): Promise<UndoResult> {
  const { path: only, records } = undoing;
  if (only !== undefined && touching(records, only).length === 0)
    throw new Fault("unknown_change", { id: records[0]?.id ?? "", path: only });
  if (undoing.preview) return await preview(viewer, undoing);
  try {
    const { restored, commits } = await undone(viewer, undoing);
    const files = await described(viewer, restored);
    return { done: true, changes: commits.map(({ id }) => id), files, collisions: [] };
  } catch (error) {
    if (!isCollision(error)) throw error;
    return { done: false, changes: [], files: [], collisions: [collision(viewer, undoing, error)] };
  }
}

async function undone(viewer: Viewer, undoing: Undoing): ReturnType<typeof run> {
  const action = async (workspace: Workspace) => {
    await workspace.replication?.refresh("writes");
    const done = await approved(workspace, view => run(view, undoing));
    await workspace.settled();
    return done;
  };
  if (viewer.undoIn === undefined) return await action(viewer.workspace);
  const { path, records } = undoing;
  const files = records.flatMap(record => record.files);
  const paths = files.flatMap(({ at, from }) => (from === undefined ? [at] : [at, from]));
  return await viewer.undoIn(path === undefined ? [...new Set(paths)] : [path], action);
}

/** The person at the page is the one whom rules ask. */
async function approved<T>(workspace: Workspace, action: (workspace: Workspace) => Promise<T>): Promise<T> {
  for (let round = 1, view = workspace; ; round++) {
    try {
      return await action(view);
    } catch (error) {
      if (!Fault.is(error, "approval_needed") || round > 20) throw error;
      view = view.approving(error.data.needs);
    }
  }
}

async function run(
  workspace: Workspace,
  { records, path, hunks }: Undoing,
): Promise<{ restored: readonly Restored[]; commits: readonly Commit[] }> {
  const at = path === undefined ? undefined : workspace.recorded(path);
  const options = { path: at, client, connection: client, maxBytes: maxComparedBytes };
  if (hunks !== undefined) {
    const { restored, commit } = await undoHunks(workspace, records, hunks, options);
    return { restored, commits: commit === undefined ? [] : [commit] };
  }
  const about = path === undefined ? records : touching(records, path);
  const undone = await undoMany(workspace, about, options);
  return {
    restored: undone.flatMap(one => one.restored),
    commits: undone.flatMap(({ commit }) => (commit === undefined ? [] : [commit])),
  };
}

function touching(records: readonly ChangeRecord[], path: string): ChangeRecord[] {
  return records.filter(({ files }) => files.some(file => concerns(file, path)));
}

/** File by file, so that what is in the way of one does not hide what becomes of the others. */
async function preview(viewer: Viewer, undoing: Undoing): Promise<UndoResult> {
  const { workspace } = viewer;
  const { records, path, hunks } = undoing;
  const restored: Restored[] = [];
  const collisions: Collision[] = [];
  const attempt = async (action: () => Promise<readonly Restored[]>) => {
    try {
      append(restored, await action());
    } catch (error) {
      if (!isCollision(error)) throw error;
      collisions.push(collision(viewer, undoing, error));
    }
  };
  const [only] = records;
  if (records.length === 1 && only !== undefined && hunks === undefined) {
    const paths = only.files.map(({ at }) => at).filter(at => path === undefined || isWithin(at, path));
    for (const at of new Set(paths.slice(0, mostFiles)))
      await attempt(async () => {
        const options = { change: only.id, path: workspace.recorded(at), dryRun: true };
        return (await undo(workspace, options)).restored;
      });
  } else {
    for (const file of await netTexts(workspace, records, maxComparedBytes)) {
      if (path !== undefined && !isAt(file, path)) continue;
      const own = file.hunks.map((_, i) => file.first + i);
      const chosen = hunks === undefined ? own : own.filter(number => hunks.includes(number));
      if (file.opaque && hunks === undefined) restored.push(opaque(file));
      else if (chosen.length > 0)
        await attempt(async () => {
          const taken = await without(workspace, file, chosen);
          return hunks === undefined ? taken.map(one => ({ ...one, ...movedBack(file) })) : taken;
        });
    }
  }
  return { done: false, changes: [], files: await described(viewer, restored), collisions };
}

type Net = Awaited<ReturnType<typeof netTexts>>[number];

async function without(workspace: Workspace, file: Net, numbers: readonly number[]): Promise<Restored[]> {
  // Numbers count over the files that are given: this one comes first here.
  const alone = { ...file, first: 1 };
  const { files } = await withoutHunks(
    workspace,
    [alone],
    numbers.map(number => number - file.first + 1),
  );
  return files.map(({ at, before, after }) => ({
    at,
    did: after === undefined ? "removed" : before === undefined ? "restored" : "changed back",
    ...(before && { before: workspace.shown(at, before) }),
    ...(after && { after: workspace.shown(at, after) }),
  }));
}

function opaque(file: Net): Restored {
  return { at: file.at, did: "restored", ...movedBack(file) };
}

function movedBack({ at, from }: Net): Pick<Restored, "at" | "did" | "from"> | undefined {
  return from === undefined ? undefined : { at: from, did: "moved back", from: at };
}

const collisions = [
  "stale",
  "exists",
  "not_found",
  "not_kept",
  "others_work",
  "not_empty",
  "not_a_directory",
  "not_a_file",
  "is_a_link",
];

function isCollision(error: unknown): error is Fault {
  return error instanceof Fault && collisions.includes(error.code);
}

function collision(viewer: Viewer, { later, path = "" }: Undoing, fault: Fault): Collision {
  const data = fault.data as { path?: string };
  const at = data.path ?? path;
  const lines = Fault.is(fault, "stale") && viewer.workspace.isShownWhole(at) ? fault.data.current : [];
  return {
    path: at,
    name: nameOf(viewer, at),
    why: Fault.is(fault, "stale") ? "Later edits changed the same lines." : say(plainWording, fault),
    ...(lines.length > 0 && {
      current: lines.slice(0, 200).map(({ line, text }) => ({ line, text: text.slice(0, 2000) })),
    }),
    later: later(at),
  };
}

async function described(viewer: Viewer, restored: readonly Restored[]): Promise<RestoredFile[]> {
  const files: RestoredFile[] = [];
  for (const { at, did, before, after } of restored.slice(0, mostFiles)) {
    if (viewer.workspace.isHidden(at)) continue;
    const head = { path: at, name: nameOf(viewer, at), did };
    const sizes = [before, after].filter(one => one !== undefined);
    if (sizes.some(bytes => bytes.length > maxComparedBytes || isNoText(bytes))) {
      const about = sizes.map(({ length }) => humanSize(length)).join(" to ");
      files.push({ ...head, hunks: [], about });
      continue;
    }
    const [old, made] = [await body(at, before), await body(at, after)];
    files.push({ ...head, hunks: old === made ? [] : (await hunksOf(at, old, made, previewLines)).hunks });
  }
  return files;
}

async function body(at: string, bytes: Buffer | undefined): Promise<string> {
  return bytes === undefined ? "" : (await decode(at, bytes, { legacy: true })).body;
}
