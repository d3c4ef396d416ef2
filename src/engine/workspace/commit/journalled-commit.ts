// Commits as the journal holds them. An intent lists everything that is about to happen; later records with the same
// id say how far it got:
//   nothing   not committed: remove what was staged
//   "commit"  committed: complete it
//   "abort"   failed: roll it back
//   "done"    only old content is left to remove, and files to flush
//   "settled" a process that recovered it has finished
// A recovery that had to wait for some of its directories says in which others it has finished ("restored").
import { isAbsolute } from "node:path";
import type { TemporaryNames } from "../archive/log.ts";
import { type PendingRecord, type Taken, withTaken } from "../archive/pending-record.ts";
import {
  type DirectoriesOfUsers,
  type DirectoryRecord,
  type EntryRef,
  HeldDirectories,
  isSingleName,
  openRecorded,
} from "../disk/held-directories.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import type { JournalRecord } from "./journal.ts";
import type { Step } from "./step.ts";
import type { StepContext } from "./step-context.ts";

export interface JournalEntry {
  readonly is: "intent";
  readonly id: string;
  readonly boot: string;
  readonly places: readonly DirectoryRecord[];
  readonly steps: readonly Step[];
  readonly temps: readonly EntryRef[];
  readonly trash: readonly EntryRef[];
  /** For the archive: what will have been done. */
  readonly account: PendingRecord;
  /** Changes that are made with this one, oldest first: the steps put the result of all of them in place. */
  readonly earlier?: readonly JournalledChange[];
  /** Earlier commits of the same process that were fully flushed before this one began. */
  readonly flushed?: readonly string[];
}

/** The directories of a commit of this process. */
export function reopened({ intent, held }: JournalledCommit): HeldDirectories {
  return HeldDirectories.reopen(intent.places, record => held?.open(record) ?? openRecorded(record, true));
}

/** A change for the archive. */
export interface JournalledChange {
  readonly id: string;
  readonly account: PendingRecord;
}

/** All changes of a commit, oldest first. */
export function changesOf({ id, account, earlier = [] }: JournalEntry): JournalledChange[] {
  return [...earlier, { id, account }];
}

export type CommitMark =
  | {
      readonly is: "commit";
      readonly id: string;
      readonly inodes: readonly number[];
      /** New content that the archive has, by the index of its file in the account. */
      readonly taken?: Readonly<Record<number, Taken>>;
    }
  | { readonly is: "abort"; readonly id: string }
  | { readonly is: "done"; readonly id: string }
  | { readonly is: "settled"; readonly id: string }
  | { readonly is: "restored"; readonly id: string; readonly places: readonly number[] };

/** A commit as a journal describes it. */
export interface JournalledCommit {
  intent: JournalEntry;
  readonly blob: Buffer;
  inodes: readonly number[];
  state: "staged" | "commit" | "abort" | "done" | "settled";
  /** Whether all that it put in place is on the disk: a later commit may have moved or removed it since. */
  flushed?: boolean;
  /** The places in which nothing is left to be repeated after a power cut. */
  readonly restored?: Set<number>;
  /** The directories that it has made, in the process that made them. */
  readonly made?: StepContext["made"];
  /** Its directories, while it waits in the process that made it. */
  readonly held?: DirectoriesOfUsers;
  /** New contents that are too large for the journal, by hash, while they are in memory. */
  readonly contents?: ReadonlyMap<string, Uint8Array>;
}

export function journalledCommits(records: readonly JournalRecord[]): JournalledCommit[] {
  const commits = new Map<string, JournalledCommit>();
  for (const { body, blob } of records) {
    const entry = body as JournalEntry | CommitMark | { is: "start" };
    if (entry.is === "intent")
      commits.set(entry.id, { intent: entry, blob, inodes: [], state: "staged", restored: new Set() });
    if (entry.is === "start" || entry.is === "intent") continue;
    const journalled = commits.get(entry.id);
    if (journalled === undefined) continue;
    if (entry.is === "restored") {
      for (const place of entry.places) journalled.restored?.add(place);
      continue;
    }
    if (entry.is === "commit") {
      const { intent } = journalled;
      journalled.inodes = entry.inodes;
      journalled.intent = { ...intent, account: withTaken(intent.account, entry.taken ?? {}) };
    }
    // A completed abort needs no recovery: only its temporary files may be left.
    if (entry.is === "done" && journalled.state === "abort") journalled.state = "staged";
    else journalled.state = entry.is;
  }
  for (const { intent } of [...commits.values()]) {
    for (const id of intent.flushed ?? []) {
      const journalled = commits.get(id);
      if (journalled !== undefined) journalled.flushed = true;
    }
  }
  return [...commits.values()];
}

/**
 * Whether every entry of an intent is a single name in one of its directories, and everything that it removes is
 * temporary.
 */
export function isSound(intent: JournalEntry): boolean {
  const { places, steps, temps, trash } = intent;
  try {
    const isEntry = ({ place, name }: EntryRef) => places[place] !== undefined && isSingleName(name);
    const changes = changesOf(intent);
    const recorded = changes.flatMap(({ account }) =>
      account.files.flatMap(({ before, after, replaced }) => [before, after, replaced]),
    );
    return (
      changes.every(({ id }) => /^[0-9a-z]+$/.test(id)) &&
      places.every((place, i) =>
        "at" in place ? isAbsolute(place.at) : place.within < i && isSingleName(place.name),
      ) &&
      steps.flatMap(entriesOf).every(isEntry) &&
      [...temps, ...trash].every(entry => isEntry(entry) && isTemporaryName(entry.name)) &&
      recorded.every(kept => kept?.spot === undefined || isEntry(kept.spot))
    );
  } catch {
    return false;
  }
}

/** The temporary names of a commit in the directories of users. Those aside are removed with the state directory's. */
export function temporaryNamesOf({ places, temps, trash }: JournalEntry): TemporaryNames[] {
  const found = new Map<number, string[]>();
  for (const { place, name } of [...temps, ...trash]) {
    const names = found.get(place);
    if (names === undefined) found.set(place, [name]);
    else names.push(name);
  }
  return [...found].flatMap(([place, names]) => {
    const record = places[place];
    if (record === undefined || !("at" in record) || record.aside) return [];
    const { top: _, ...at } = record;
    return [{ at, names }];
  });
}

/** Every name that a step works on. */
export function entriesOf(step: Step): EntryRef[] {
  if (step.do === "dismantle") return [step.at, step.staged, step.copy, step.begun];
  if (step.do !== "move") return [step.at];
  const { from, to, replaces } = step;
  if (replaces === undefined) return [from, to];
  return [from, to, { place: replaces.asidePlace ?? to.place, name: replaces.aside }];
}
