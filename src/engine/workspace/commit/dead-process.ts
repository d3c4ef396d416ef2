// The remains of a dead process: its folder with its journals, and the state of each of its commits.
import { join } from "node:path";
import { type FoundDirectory, HeldDirectories } from "../disk/held-directories.ts";
import { namesIn } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { isTemporaryName } from "../disk/temporary.ts";
import { DiskAway, type OpenDirectories } from "./granted-directories.ts";
import { Journal, readJournal } from "./journal.ts";
import {
  entriesOf,
  isSound,
  type JournalEntry,
  type JournalledCommit,
  journalledCommits,
} from "./journalled-commit.ts";
import { lockKey, lockName } from "./lock.ts";
import { keepMs, type StateDirectory } from "./state.ts";
import { Unflushed } from "./unflushed.ts";

export interface DeadProcess {
  readonly folder: string;
  readonly commits: readonly JournalledCommit[];
  /** Commits that an earlier recovery has settled. */
  readonly past: readonly JournalledCommit[];
  readonly unflushed: Unflushed;
  readonly settled: JournalledCommit[];
  /** Commits in roots that this process was not granted, or on disks that are away. */
  readonly others: JournalledCommit[];
  /** The latter, each with a directory that shows when its disk is back. */
  readonly away: Map<JournalledCommit, FoundDirectory>;
  /** Of the others, those that change nothing any more in the directories that are here. */
  readonly over: Set<JournalledCommit>;
  readonly failed: JournalledCommit[];
}

/** How long commits wait for a process that has been granted their directories. */
const keepOthersMs = 30 * 24 * 3_600_000;
const lastGeneration = 2 ** 32 - 1;

/** The commits in a folder. An entry with a path where a single name belongs was not written by polyfs. */
export function estateIn(folder: string, key: Buffer): DeadProcess {
  const journals = namesIn(folder)
    .filter(name => name.startsWith("journal-"))
    .map(name => readJournal(join(folder, name), key))
    .sort((a, b) => (a[0]?.generation ?? 0) - (b[0]?.generation ?? 0));
  const all = journalledCommits(journals.flat()).filter(({ intent }) => isSound(intent));
  const commits = all.filter(({ state }) => state !== "settled");
  const past = all.filter(({ state }) => state === "settled");
  return {
    folder,
    commits,
    past,
    unflushed: new Unflushed(),
    settled: [],
    others: [],
    away: new Map(),
    over: new Set(),
    failed: [],
  };
}

/**
 * Removes the folder if everything in it is done; otherwise leaves it to a later attempt, or to another process. With
 * `keep`, its commits are still needed to judge those of other folders.
 */
export function leave(
  { folder, commits, others, away, over }: DeadProcess,
  done: readonly JournalledCommit[],
  state: StateDirectory,
  open: OpenDirectories,
  keep: boolean,
): void {
  const left = commits.filter(journalled => !done.includes(journalled));
  if ((left.length === 0 && !keep) || state.ageOf(folder) > (others.length > 0 ? keepOthersMs : keepMs)) {
    state.bury(folder);
    return;
  }
  const locked = (isNoted(folder, done, state.key) ? left : commits).filter(one => !over.has(one));
  state.giveBack(folder, new Set(locked.flatMap(journalled => locksNow(journalled, open))));
  if (left.length === others.length && !keep && away.size === 0) state.pass(folder);
}

/**
 * Notes that commits are settled. They must not be settled again after their files have changed, so these stay locked
 * if the disk has no room for the marks.
 */
function isNoted(folder: string, commits: readonly JournalledCommit[], key: Buffer): boolean {
  try {
    noteSettled(folder, commits, key);
    return true;
  } catch {
    return false;
  }
}

function noteSettled(folder: string, commits: readonly JournalledCommit[], key: Buffer): void {
  if (commits.length === 0) return;
  const marks = new Journal(join(folder, `journal-settled-${commits[0]?.intent.id}`), lastGeneration, key);
  try {
    for (const { intent } of commits) marks.append({ is: "settled", id: intent.id });
    marks.flushNow();
  } finally {
    marks.close();
  }
}

/**
 * Notes in which places commits are complete that have to wait for others. What is there is not repeated again: a program
 * may have given a file its old content since.
 */
export function noteRestored(folder: string, commits: readonly JournalledCommit[], key: Buffer): void {
  for (const { intent, restored = new Set<number>() } of commits) {
    const file = join(folder, `journal-restored-${intent.id}-${restored.size}`);
    if (restored.size === 0 || sys.lstat(file) !== undefined) continue;
    const marks = new Journal(file, lastGeneration, key);
    try {
      marks.append({ is: "restored", id: intent.id, places: [...restored] });
      marks.flushNow();
    } finally {
      marks.close();
    }
  }
}

/**
 * The names of the locks of a commit: its disk may have been mounted again, or a directory made again. None on a disk
 * that is away: when it is back, what was left there is recovered before the next look, and until then its number may be
 * that of another disk.
 */
function locksNow({ intent }: JournalledCommit, open: OpenDirectories): string[] {
  const away = new Set<string>();
  using places = HeldDirectories.reopen(intent.places, record => {
    try {
      return open({ intent })(record);
    } catch (error) {
      if (error instanceof DiskAway) away.add(record.at);
      return undefined; // as the commit held it: another process can open it, or a later one
    }
  });
  return locksOf({ ...intent, places: places.records }, away);
}

function locksOf({ places, steps }: JournalEntry, away: ReadonlySet<string>): string[] {
  return steps.flatMap(entriesOf).flatMap(({ place, name }) => {
    let [at, first] = [places[place], name];
    while (at !== undefined && !("at" in at)) [at, first] = [places[at.within], at.name];
    if (at === undefined || away.has(at.at) || isTemporaryName(first)) return [];
    return [lockName(lockKey(at.device, at.inode, first))];
  });
}
