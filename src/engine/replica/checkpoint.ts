// What takes the place of the first entries of a log when it is pruned: an entry that makes their tree out of nothing.
// Copied to another store it is an ordinary first entry.
import type { Entry, LogEntry, Revision } from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import { bodyOf, type EntryBody } from "./entry-body.ts";
import { hashesOf } from "./entry-parts.ts";
import { comparable, operationsBetween } from "./tree-difference.ts";
import { TreeState } from "./tree-state.ts";

interface CheckpointBody extends EntryBody {
  /** Marks of the last entries that it replaces, the newest last: a replica that is behind finds its own among them. */
  readonly replaced: string;
}

/** A replica further behind than this starts again. */
const mostMarks = 1000;
const markLength = 6;

function markOf(id: string): string {
  return contentHash(Buffer.from(id)).slice(0, markLength);
}

/** The marks of what was pruned, with those of further entries. */
export function marksWith(before: string, ids: readonly string[]): string {
  return (before + ids.map(markOf).join("")).slice(-mostMarks * markLength);
}

export function marksIn(body: EntryBody): string {
  const { replaced } = body as Partial<CheckpointBody>;
  return typeof replaced === "string" ? replaced : "";
}

/** Whether the entry at a revision, as a replica has it, is one of those that a checkpoint replaces. */
export function isAmongPruned(body: EntryBody, last: Revision, revision: Revision, id: string): boolean {
  const marks = marksIn(body);
  const end = marks.length - (last - revision) * markLength;
  return end >= markLength && marks.slice(end - markLength, end) === markOf(id);
}

/** `last`: the entry that led to the tree. `mostBytes`: what was counted of all that is replaced. */
export function checkpointOf(last: LogEntry, tree: TreeState, replaced: string, mostBytes: number): Entry {
  const operations = operationsBetween(comparable(new TreeState()), comparable(tree));
  const { by, time } = bodyOf(last);
  const body: CheckpointBody = { format: 1, time, by, operations, complete: true, replaced };
  const text = JSON.stringify(body);
  const sizes = new Map([...tree.files()].map(([, { hash, size }]) => [hash, size]));
  const contents = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  const bytes = Math.min(mostBytes, contents + text.length);
  return { id: last.id, body: text, objects: [...hashesOf(operations)], bytes };
}
