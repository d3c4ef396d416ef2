// The record of a commit before it is in the archive, as plain data that the journal can hold: after a crash,
// recovery can still record it.

import type { Kind } from "../../fault.ts";
import type { EntryRef } from "../disk/held-directories.ts";
import type { By, ChangeEffect, Identity } from "./log.ts";
import type { Snapshot } from "./snapshot.ts";

/** Bytes of the journal. */
export interface ByteRange {
  readonly at: number;
  readonly length: number;
}

/** Content at a directory entry, or whose bytes the journal holds, or both. */
export interface PendingContent {
  readonly kind: Kind;
  readonly spot?: EntryRef;
  readonly blob?: ByteRange;
  readonly mode?: number;
  readonly target?: string;
  readonly size?: number;
  readonly modified?: number;
  /** Hash of what the commit wrote there: the file may have changed since. */
  readonly hash?: string;
  /** What the archive took of it before the commit put it in place. */
  readonly taken?: Taken;
}

/** Content in the archive; `kept` is false if something was left out. */
export interface Taken {
  readonly snapshot: Snapshot;
  readonly kept: boolean;
}

export interface PendingFile {
  readonly at: string;
  readonly effect: ChangeEffect;
  readonly kind: Kind;
  readonly from?: string;
  /** The previous content; for a move with new content, that of the source. */
  readonly before?: PendingContent;
  /** The new content. Left out for what only moved. */
  readonly after?: PendingContent;
  /** Content that a move or a copy replaced. */
  readonly replaced?: PendingContent;
  /** The file or directory that was moved, if it was not copied. */
  readonly moved?: Identity;
  /** The new content could not be kept. */
  readonly unkept?: true;
}

export interface PendingRecord {
  readonly time: number;
  readonly by: By;
  readonly files: readonly PendingFile[];
  readonly parents: readonly string[];
}

/** Bytes that a commit may leave to be recorded later. */
export const mostWaiting = 16 * 1024 * 1024;
/** Files likewise: a caller that asks about history records them without a pause. */
const mostFilesWaiting = 500;

/**
 * Whether recording can wait: all content is in the journal, in memory, or where old content is kept. Waiting costs
 * memory and disk space, so the amount is bounded.
 */
export function canWait(record: PendingRecord, lasting: number | undefined): boolean {
  if (record.files.length > mostFilesWaiting || !isKept(record)) return false;
  const all = record.files.every(({ before, replaced, after }) =>
    [before, replaced, after].every(one => stays(one, lasting)),
  );
  return all && bytesIn(record) <= mostWaiting;
}

/** Whether new content exists only in the tree. The archive copies it before the commit moves it into place. */
export function isInTreeAlone(
  after: PendingContent | undefined,
): after is PendingContent & { spot: EntryRef } {
  return after?.spot !== undefined && after.hash === undefined;
}

/**
 * The record with the new content that the archive took, by the index of its file. Content in the tree that it did
 * not take is left out: when the commit is recorded, a later change may be in it, and undo would take that for this
 * commit's own.
 */
export function withTaken(record: PendingRecord, taken: Readonly<Record<number, Taken>>): PendingRecord {
  if (!record.files.some(({ after }) => isInTreeAlone(after))) return record;
  const files = record.files.map(({ after, ...file }, i): PendingFile => {
    if (after === undefined) return file;
    if (!isInTreeAlone(after)) return { ...file, after };
    const found = taken[i];
    return found === undefined ? { ...file, unkept: true } : { ...file, after: { ...after, taken: found } };
  });
  return { ...record, files };
}

/** Whether all new content is kept, or still can be. */
export function isKept({ files }: PendingRecord): boolean {
  return files.every(({ unkept }) => !unkept);
}

function stays(one: PendingContent | undefined, lasting: number | undefined): boolean {
  return one?.spot === undefined || one.hash !== undefined || one.spot.place === lasting;
}

/** Whether the journal holds all content that the commit replaced: then it can go before the archive is flushed. */
export function isHeld({ files }: PendingRecord): boolean {
  return files.every(({ before, replaced }) =>
    [before, replaced].every(
      one => one?.spot === undefined || one.blob !== undefined || one.kind === "symlink",
    ),
  );
}

/** How many bytes of content there are to record. */
export function bytesIn({ files }: PendingRecord): number {
  const sizes = files.flatMap(({ before, replaced, after }) => [before, replaced, after]);
  return sizes.reduce((sum, one) => sum + (one?.size ?? 0), 0);
}
