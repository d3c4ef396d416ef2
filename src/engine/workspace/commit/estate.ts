// What a dead process left: its folder with its journals, and what became of each of its commits.
import { join } from "node:path";
import { namesIn } from "./if-there.ts";
import { Journal, readJournal } from "./journal.ts";
import { lockKey, lockName } from "./lock.ts";
import { type Intent, isSound, spotsOf, type Tale, talesOf } from "./record.ts";
import { keepMs, type StateDirectory } from "./state.ts";
import { Unflushed } from "./unflushed.ts";

export interface Estate {
  readonly folder: string;
  readonly tales: readonly Tale[];
  readonly unflushed: Unflushed;
  readonly settled: Tale[];
  /** Commits in roots that this process was not granted. */
  readonly others: Tale[];
  readonly failed: Tale[];
}

/** How long commits wait for a process that has been granted their directories. */
const keepOthersMs = 30 * 24 * 3_600_000;
const lastGeneration = 2 ** 32 - 1;

/** The commits in a folder. What names anything but single names was not written by polyfs. */
export function estateIn(folder: string, key: Buffer): Estate {
  const journals = namesIn(folder)
    .filter(name => name.startsWith("journal-"))
    .map(name => readJournal(join(folder, name), key))
    .sort((a, b) => (a[0]?.generation ?? 0) - (b[0]?.generation ?? 0));
  const tales = talesOf(journals.flat()).filter(({ intent }) => isSound(intent));
  return { folder, tales, unflushed: new Unflushed(), settled: [], others: [], failed: [] };
}

/** Removes the folder where everything in it is done; else leaves the rest to a later try, or to another process. */
export function leave({ folder, tales, others }: Estate, done: readonly Tale[], state: StateDirectory): void {
  const left = tales.filter(tale => !done.includes(tale));
  if (left.length === 0 || state.ageOf(folder) > (others.length > 0 ? keepOthersMs : keepMs)) {
    state.bury(folder);
    return;
  }
  noteSettled(folder, done, state.key);
  state.giveBack(folder, new Set(left.flatMap(({ intent }) => locksOf(intent))));
  if (left.length === others.length) state.pass(folder);
}

/** What was settled is not to be settled again: somebody may have changed it by then. */
function noteSettled(folder: string, tales: readonly Tale[], key: Buffer): void {
  if (tales.length === 0) return;
  const marks = new Journal(join(folder, `journal-settled-${tales[0]?.intent.id}`), lastGeneration, key);
  try {
    for (const { intent } of tales) marks.append({ is: "settled", id: intent.id });
    marks.flushNow();
  } finally {
    marks.close();
  }
}

/** The names of the locks that a commit held. */
function locksOf({ places, steps }: Intent): string[] {
  return steps.flatMap(spotsOf).flatMap(({ place, name }) => {
    let [at, first] = [places[place], name];
    while (at !== undefined && !("at" in at)) [at, first] = [places[at.within], at.name];
    return at === undefined ? [] : [lockName(lockKey(at.device, at.inode, first))];
  });
}
