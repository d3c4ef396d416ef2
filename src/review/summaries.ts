// Changes and tasks in short, as lists show them, and the filters of those lists.

import { clock } from "../engine/clock.ts";
import { Fault } from "../engine/fault.ts";
import { type NetFile, netOf } from "../engine/history/net.ts";
import { folded, pathGlobs } from "../engine/policy/path-globs.ts";
import { isNoText } from "../engine/text/detect.ts";
import { diffCounts } from "../engine/text/diff.ts";
import { type ChangeRecord, isListEnd, type RecordedFile } from "../engine/workspace/archive/log.ts";
import type { Snapshot } from "../engine/workspace/archive/snapshot.ts";
import { atOnce } from "../engine/workspace/footprint/time-slice.ts";
import type { Agent, ChangeSummary, FileSummary, TaskSummary } from "./api.ts";
import type { ChangeEntry } from "./change-entry.ts";
import type { ChangeIndex } from "./change-index.ts";
import type { KeptMarks } from "./kept-marks.ts";
import { holdsPath, nameOf, originOf, reaches, type Viewer, visibleFiles } from "./viewer.ts";

const mostFiles = 20;
const mostChanges = 500;
const maxCountedBytes = 256 * 1024;

export interface Filter {
  readonly before?: string | undefined;
  readonly agent?: string | undefined;
  readonly tool?: string | undefined;
  readonly path?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly task?: string | undefined;
  /** Tasks that need no looking at. It may grow meanwhile. */
  readonly except?: ReadonlySet<string>;
}

export interface ReviewedPast {
  readonly index: ChangeIndex;
  readonly kept: KeptMarks;
  /** How many notes there are about a change. */
  notesOn(change: string): number;
  record(id: string): ChangeRecord | undefined;
}

/** The changes that a viewer may see and a filter lets through, newest first. */
export function* matching({ index }: ReviewedPast, viewer: Viewer, filter: Filter): Generator<ChangeEntry> {
  const isWanted = pathFilter(viewer, filter.path);
  for (const entry of index.newest(filter.before)) {
    if (filter.since !== undefined && isListEnd(entry.id, filter.since)) break;
    if (filter.since !== undefined && entry.time < filter.since) continue;
    if (filter.until !== undefined && entry.time > filter.until) continue;
    if (filter.agent !== undefined && entry.client !== filter.agent) continue;
    if (filter.tool !== undefined && entry.tool !== filter.tool) continue;
    if (filter.task !== undefined && index.taskOf(entry.id) !== filter.task) continue;
    if (filter.except?.has(index.taskOf(entry.id))) continue;
    if (!isSeen(viewer, entry) || !entry.paths.some(isWanted)) continue;
    yield entry;
  }
}

/** Whether a viewer may know about a change: all of it is in reach, and not all of it is hidden. */
export function isSeen(viewer: Viewer, entry: ChangeEntry): boolean {
  let known = seen.get(viewer);
  if (known === undefined || known.until < clock()) {
    known = { until: clock() + seenMs, entries: new WeakSet() };
    seen.set(viewer, known);
  }
  if (known.entries.has(entry)) return true;
  const { paths } = entry;
  const isIt = reaches(viewer, paths) && paths.some(path => !viewer.workspace.isHidden(path));
  if (isIt) known.entries.add(entry);
  return isIt;
}

/** A page that loads asks about every change several times. Only a yes is kept, and not for long: rules may change, and
 *  directories come into reach when a server starts. */
const seenMs = 3_000;
const seen = new WeakMap<Viewer, { until: number; entries: WeakSet<ChangeEntry> }>();

function pathFilter(viewer: Viewer, wanted: string | undefined): (path: string) => boolean {
  if (wanted === undefined || wanted === "") return () => true;
  if (!/[*?]/.test(wanted)) {
    const part = wanted.toLowerCase();
    return path => nameOf(viewer, path).toLowerCase().includes(part) || path.toLowerCase().includes(part);
  }
  const globs = pathGlobs([wanted]);
  return path => {
    const name = folded(nameOf(viewer, path));
    const whole = folded(path);
    return globs.match({ names: name.split("/"), relative: () => [name], absolute: () => [whole] });
  };
}

export function changeSummary(past: ReviewedPast, viewer: Viewer, record: ChangeRecord): ChangeSummary {
  const { index, kept } = past;
  const { id, time, action, undoes } = record;
  const files = visibleFiles(viewer, record);
  const keptPaths = kept.pathsOf(id).filter(path => holdsPath(viewer, record, path));
  return {
    id,
    time,
    tool: action,
    agent: agentOf(record),
    task: index.taskOf(id),
    files: files.slice(0, mostFiles).map(file => fileSummary(viewer, file)),
    fileCount: files.length,
    state: index.stateOf(id),
    ...(undoes !== undefined && { undoes }),
    undoable: record.kept,
    kept: kept.isKept(id),
    ...(keptPaths.length > 0 && { keptPaths }),
    notes: past.notesOn(id),
  };
}

function agentOf({
  client,
  connection,
}: Pick<ChangeEntry, "client"> & { connection?: string | undefined }): Agent {
  return { client, ...(connection !== undefined && { connection }) };
}

const effects: Readonly<Record<RecordedFile["effect"], FileSummary["effect"]>> = {
  created: "created",
  modified: "changed",
  removed: "removed",
  moved: "moved",
  copied: "copied",
  none: "mode",
};

function fileSummary(viewer: Viewer, file: RecordedFile): FileSummary {
  const { at, from, effect, kind, before, after } = file;
  const isMode =
    effect === "modified" && before?.kind === "file" && after?.kind === "file" && before.hash === after.hash;
  const isEntry = kind === "directory" || kind === "symlink" || kind === "file";
  return {
    path: at,
    name: nameOf(viewer, at),
    effect: isMode && before.hash !== undefined ? "mode" : effects[effect],
    kind: isEntry ? kind : "other",
    ...originOf(viewer, from),
    ...(effect !== "copied" && countsOf(viewer, at, before, after)),
  };
}

function countsOf(
  { workspace }: Viewer,
  at: string,
  before: Snapshot | undefined,
  after: Snapshot | undefined,
): { added?: number; removed?: number } {
  if ((before ?? after) === undefined) return {};
  const text = (snapshot: Snapshot | undefined): string | undefined => {
    if (snapshot === undefined) return "";
    if (snapshot.kind !== "file" || snapshot.hash === undefined || snapshot.size > maxCountedBytes)
      return undefined;
    const bytes = workspace.archive.objects.get(snapshot.hash);
    return bytes === undefined || isNoText(bytes) ? undefined : workspace.shown(at, bytes).toString("latin1");
  };
  try {
    const [old, made] = [text(before), text(after)];
    return old === undefined || made === undefined ? {} : diffCounts(old, made);
  } catch (error) {
    if (error instanceof Fault) return {};
    throw error;
  }
}

interface KnownNet {
  /** The changes that it is made of. */
  readonly of: string;
  readonly files: readonly NetFile[];
}

/** A list asks for each of its tasks again whenever something happens, and reading hundreds of records takes time. */
const nets = new WeakMap<ChangeIndex, Map<string, KnownNet>>();
const mostNets = 300;

/** The net result of the changes of a task. `ids` are oldest first. */
function netOfTask(
  past: ReviewedPast,
  { workspace, who = "" }: Viewer,
  task: string,
  ids: readonly string[],
): readonly NetFile[] {
  const known = nets.get(past.index) ?? new Map<string, KnownNet>();
  nets.set(past.index, known);
  const of = ids.join(" ");
  const key = `${who} ${task}`; // what is hidden from a viewer decides about it
  const found = known.get(key);
  if (found?.of === of) return found.files;
  const records = ids.map(id => past.record(id)).filter(record => record !== undefined);
  const files = atOnce(netOf(records.toReversed(), workspace));
  known.delete(key);
  known.set(key, { of, files });
  for (const oldest of known.keys()) {
    if (known.size <= mostNets) break;
    known.delete(oldest);
  }
  return files;
}

/** `ids` are the changes of a task that the viewer may see, oldest first. */
export function taskSummary(
  past: ReviewedPast,
  viewer: Viewer,
  task: string,
  ids: readonly string[],
): TaskSummary {
  const { index, kept } = past;
  const entries = ids.map(id => index.get(id)).filter(entry => entry !== undefined);
  const [first] = entries;
  const standing = ids.filter(id => index.stateOf(id) !== "undone");
  const net = netOfTask(past, viewer, task, standing.slice(-mostChanges)).filter(
    ({ at }) => !viewer.workspace.isHidden(at),
  );
  return {
    id: task,
    agent: agentOf(first ?? { client: "" }),
    from: first?.time ?? 0,
    to: entries.at(-1)?.time ?? 0,
    changes: ids.slice(-mostChanges).toReversed(),
    changeCount: ids.length,
    files: net.slice(0, mostFiles).map(({ at, from, before, after }) => {
      const kind = after?.kind ?? before?.kind ?? "file";
      return {
        path: at,
        name: nameOf(viewer, at),
        effect:
          from !== undefined
            ? "moved"
            : before === undefined
              ? "created"
              : after === undefined
                ? "removed"
                : "changed",
        kind: kind === "special" ? "other" : kind,
        ...originOf(viewer, from),
        ...((from === undefined || before !== after) && countsOf(viewer, at, before, after)),
      };
    }),
    fileCount: net.length,
    standing: standing.length,
    kept: standing.length > 0 && standing.every(id => kept.isKept(id)),
    notes: ids.reduce((sum, id) => sum + past.notesOn(id), 0),
  };
}
