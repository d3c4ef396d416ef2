// Takes old changes out of the logs of a store. What is left begins with a checkpoint: the tree as it was then.
import { Fault } from "../fault.ts";
import type { Entry, LogEntry, Revision, WorkspaceInfo, WorkspaceStore } from "../store/store.ts";
import { checkpointOf, marksIn, marksWith } from "./checkpoint.ts";
import { bodyOf } from "./entry-body.ts";
import { inSequence, Pruned } from "./read-log.ts";
import { TreeState } from "./tree-state.ts";

export interface Retention {
  /** So many of the last changes of a workspace stay. At least 1. */
  readonly changes: number;
  /** Changes that are younger stay. */
  readonly ms: number;
}

export interface PrunedLogs {
  readonly entries: number;
  /** What is counted less. */
  readonly bytes: number;
  /** Workspaces whose logs cannot be pruned. Without a cause, the list of their files is too large. */
  readonly skipped: readonly { readonly workspace: string; readonly cause?: Fault }[];
}

/** Entries that one step takes out: in a database, writers wait meanwhile. */
const stepEntries = 20_000;
const page = 500;
/** A checkpoint is one entry, which is read as a whole. */
const mostText = 64 * 1024 * 1024;
/** Less is not worth a new checkpoint: this part of what the last one counts. */
const worthwhile = 0.1;

/** Forks are not pruned: their logs say what was merged. Neither is a workspace that is still being imported. */
export async function pruneLogs(
  store: WorkspaceStore,
  retention: Retention,
  { dryRun = false } = {},
): Promise<PrunedLogs> {
  let [entries, bytes] = [0, 0];
  const skipped: { readonly workspace: string; readonly cause?: Fault }[] = [];
  for (const info of await store.list()) {
    if (info.parent !== undefined) continue;
    try {
      for await (const step of stepsOf(store, info, retention)) {
        if (step.checkpoint.body.length > mostText) {
          skipped.push({ workspace: info.name });
          break;
        }
        if (!dryRun && (await store.prune(info.id, step.revision, step.checkpoint)) === "refused") break;
        entries += step.entries;
        bytes += step.bytes;
      }
    } catch (error) {
      if (error instanceof Pruned) continue; // by another process
      const isOfLog =
        Fault.is(error, "store_unavailable") && ["damaged", "schema"].includes(error.data.reason);
      if (!isOfLog) throw error;
      skipped.push({ workspace: info.name, cause: error }); // the others are pruned all the same
    }
  }
  return { entries, bytes, skipped };
}

interface PruningStep {
  readonly revision: Revision;
  readonly checkpoint: Entry;
  readonly entries: number;
  readonly bytes: number;
}

async function* stepsOf(
  store: WorkspaceStore,
  { id, revision: head }: WorkspaceInfo,
  { changes, ms }: Retention,
): AsyncGenerator<PruningStep> {
  const until = Math.min(head - Math.max(1, changes), await store.prunable(id, ms));
  const [first] = await store.entries(id, 0, 1);
  if (first === undefined || first.revision >= until) return;
  const tree = new TreeState();
  let [marks, counted, entries, isComplete] = ["", 0, 0, false];
  let ids: string[] = [];
  for (let revision = 0; revision < until; ) {
    const found = await store.entries(id, revision, Math.min(page, until - revision));
    let last: LogEntry | undefined;
    for (const entry of inSequence(id, found, revision)) {
      if (entry.revision > until) break; // a checkpoint comes with what follows it
      const body = bodyOf(entry);
      tree.applyAll(body.operations);
      isComplete ||= body.complete !== false;
      counted += entry.bytes;
      if (entry.isCheckpoint === true) marks = marksIn(body);
      else {
        ids.push(entry.id);
        entries++;
      }
      last = entry;
    }
    if (last === undefined) return;
    revision = last.revision;
    if (!isComplete || entries === 0 || (revision < until && entries < stepEntries)) continue;
    marks = marksWith(marks, ids);
    const checkpoint = checkpointOf(last, tree, marks, counted);
    const bytes = counted - checkpoint.bytes;
    if (bytes > checkpoint.bytes * worthwhile) {
      yield { revision, checkpoint, entries, bytes };
      [counted, entries] = [checkpoint.bytes, 0];
    }
    ids = [];
  }
}
