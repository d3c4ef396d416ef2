// What a command changes in the roots: found by comparing them before and after, and recorded as a change that can be
// undone. Commits of polyfs servers in between are left out (others-changes.ts). The cost is bounded; if the roots hold
// too many entries, the changes are reported as far as known and not recorded. Single contents that are not kept are
// left out of the record.
import { Fault } from "../fault.ts";
import type { Archive } from "../workspace/archive/archive.ts";
import { jsonSteps } from "../workspace/archive/json-steps.ts";
import type { By, ChangeRecord, PathLooks, RecordedFile } from "../workspace/archive/log.ts";
import type { OwnPaths } from "../workspace/commit/publication.ts";
import {
  compareTrees,
  type SkippedDirectory,
  type TreeChange,
} from "../workspace/footprint/compare-trees.ts";
import type { RunningCommand } from "../workspace/footprint/running-commands.ts";
import { gently } from "../workspace/footprint/time-slice.ts";
import {
  type Keeper,
  skippedDirectories,
  snapshotTree,
  type TreeEntry,
} from "../workspace/footprint/tree-snapshot.ts";
import { isWithinAny, pathsAbove, type RelatedPaths } from "../workspace/within.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { recordable } from "./footprint-files.ts";
import { type Look, lookAt } from "./look.ts";
import { looksOf, withoutOthers } from "./others-changes.ts";
import { idAt, type Place, placeOf } from "./place.ts";

const maxEntries = 20_000;
const maxBytes = 64 * 1024 * 1024;
const maxFileBytes = 4 * 1024 * 1024;

/** A file that changed just now may change again without another time, as clocks of file systems tick slowly. */
const settledMs = 50;

export interface Footprint {
  /** In the order of paths, directories first. */
  readonly changes: readonly TreeChange[];
  /** False if the roots hold too much to look at all of it. */
  readonly complete: boolean;
  /** What the archive can record; absent if nothing changed, or nothing of it can be undone. */
  readonly files?: readonly RecordedFile[];
  /** Changes that are reported and not recorded: in directories that are not entered, and what is not kept. */
  readonly leftOut: readonly string[];
  /** Directories that are not entered, and may hold unreported changes. */
  readonly unseen: readonly SkippedDirectory[];
  /** Files that the command and others changed alternately: their changes are not recorded. */
  readonly shared: readonly string[];
  /** Whether another command ran at the same time: its changes cannot be distinguished. */
  readonly uncertain: boolean;
  /** Whether that was a command of another connection. */
  readonly others: boolean;
  /** When the command began: milliseconds since 1970. */
  readonly began: number;
  /** If another command ran: when this one looked at what it changed, for that one. */
  readonly looks?: readonly PathLooks[];
  /** Where it belongs in the history, and an id from when it had ended. */
  readonly place: Place;
  readonly id: string;
}

export interface RecordedFootprint {
  readonly record: ChangeRecord;
  /** False if the record could not be flushed: a power cut may lose it. */
  readonly isDurable: boolean;
}

/**
 * Records a footprint as a change; undefined if nothing could be undone. No journal holds the effects of a command,
 * so the record and its contents are flushed before the answer.
 */
export async function record(
  workspace: Workspace,
  footprint: Footprint,
  author: By,
): Promise<RecordedFootprint | undefined> {
  // Other machines know the change under the same id. The command has run: what cannot be published is recorded all
  // the same, and the answer says what others lack (replicated-call.ts).
  const { files, uncertain, others, began, looks, place } = footprint;
  const by: By = { ...author, ...(others && { others }) };
  const { archive, replication } = workspace;
  // A shared log keeps its own order.
  const { changes } = archive;
  const id = replication === undefined ? idAt(place, footprint.id, began, changes) : changes.newId();
  const change = { id, own: footprint.complete ? ownPaths(footprint) : undefined };
  const { maxBytes } = workspace;
  const published = await replication?.publishChanges(by, maxBytes, change).catch((error: unknown) => {
    if (!(error instanceof Fault)) throw error;
    return undefined;
  });
  if (files === undefined) return undefined;
  const made: ChangeRecord = {
    id: published ?? id,
    time: Date.now(),
    ...by,
    files,
    parents: [],
    kept: true,
    began,
    ...(uncertain && { uncertain }),
    ...(looks && { looks }),
  };
  archive.changes.add(made, await gently(jsonSteps(made)));
  workspace.announceRecord(made.id);
  const isDurable = await archive.flush().then(
    () => true,
    () => false, // a disk that fails; the next checkpoint tries again
  );
  return { record: made, isDurable };
}

/** What else there is may be the work of a command that still runs, and is published with that. */
function ownPaths({ changes, shared }: Footprint): OwnPaths {
  const changed = new Set([...changes.map(({ path }) => path), ...shared]);
  const above = new Set([...changed].flatMap(path => [...pathsAbove(path)]));
  return path => above.has(path) || isWithinAny(path, changed);
}

interface End {
  /** From when the command had ended. */
  readonly id: string;
  readonly second: Look;
}

/** A look at the roots before a command runs in them. To be disposed of when the command has ended. */
export class Before implements Disposable {
  readonly #workspace: Workspace;
  readonly #first: Look;
  readonly #running: RunningCommand;
  #end: End | undefined;

  private constructor(workspace: Workspace, first: Look, running: RunningCommand) {
    this.#running = running;
    this.#workspace = workspace;
    this.#first = first;
  }

  static async look(workspace: Workspace, signal?: AbortSignal): Promise<Before> {
    const running = workspace.announceCommand();
    try {
      return new Before(workspace, await look(workspace, signal), running);
    } catch (error) {
      running[Symbol.dispose]();
      throw error;
    }
  }

  /** Looks again, when the command has ended. */
  async end(): Promise<End> {
    // Before the look: what is changed after it sorts after the command.
    const id = this.#workspace.archive.changes.newId();
    this.#end = { id, second: await look(this.#workspace) };
    return this.#end;
  }

  /** The changes between both looks. Must be recorded before this object is disposed of: other commands wait for that. */
  async compare(): Promise<Footprint> {
    const first = this.#first;
    const { id, second } = this.#end ?? (await this.end());
    // Until this one is recorded, as other commands must see it.
    await this.#running.recordAlone();
    const own = withoutOthers(this.#workspace, first, second);
    const { changes, complete, skipped } = await compareTrees(own.before, own.after);
    const unseen = skipped.filter(({ path, state }) => state !== "same" && !path.endsWith("/.polyfs"));
    const company = changes.length > 0 ? this.#running.company : "none";
    const [uncertain, others] = [company !== "none", company === "others"];
    const told = {
      ...{ changes, complete, unseen, shared: own.shared, leftOut: [], uncertain, others },
      place: placeOf(changes, own.others),
      id,
      began: first.time,
    };
    if (changes.length === 0 || !complete) return told;
    const { files, leftOut } = await recordable(changes, this.#workspace.archive.objects);
    if (files.length === 0) return { ...told, leftOut };
    return {
      ...told,
      leftOut,
      files,
      ...(uncertain && { looks: looksOf(changes, own, first, second) }),
    };
  }

  [Symbol.dispose](): void {
    this.#running[Symbol.dispose]();
  }
}

function look(workspace: Workspace, signal?: AbortSignal): Promise<Look> {
  const keeper = keeperOf(workspace.archive);
  const roots = workspace.roots.filter(({ access }) => access === "read-write");
  const absent = workspace.ownDirectories();
  const options = { maxEntries, skip: skippedDirectories, absent, keeper, ...(signal && { signal }) };
  return lookAt(workspace, (only?: RelatedPaths) =>
    snapshotTree(roots, only === undefined ? options : { ...options, only }),
  );
}

/** Stores contents in the archive, except those already there. */
function keeperOf({ objects, keptFiles }: Archive): Keeper {
  return {
    maxBytes,
    async keep(_, entry, open) {
      const key = stateOf(entry);
      const kept = keptFiles.hash(key);
      if (kept !== undefined) return kept;
      if (entry.size > maxFileBytes) return undefined;
      using file = open();
      const hash = objects.put(await file.bytes(maxFileBytes));
      if (Number(entry.changed / 1_000_000n) < Date.now() - settledMs) keptFiles.add(key, hash);
      return hash;
    },
  };
}

function stateOf({ device, inode, changed, size }: TreeEntry): string {
  return `${device}:${inode}:${changed}:${size}`;
}
