// Commits of other processes that only their journals hold. Processes record and flush them shortly after they answer
// (journal-pair.ts). A caller that asks about history waits for that, and so does a commit that moves or removes what
// another process has just written. The commits of dead processes are recovered here.
import { join } from "node:path";
import { clock } from "../../clock.ts";
import { namesIn } from "../disk/if-there.ts";
import { ifThere, stateDirectory, system } from "../errno.ts";
import { isWithin } from "../root.ts";
import { holdsCommits, readJournal } from "./journal.ts";
import { type JournalledCommit, journalledCommits } from "./journalled-commit.ts";
import { pathsOf } from "./power-cut.ts";
import { isDead, type StateDirectory, socketsOf } from "./state.ts";
import type { Store } from "./store.ts";

const pollMs = 5;
const patienceMs = 2000; // an upper bound, for a hanging process or a slow disk
const flushPatienceMs = 10_000; // the same, where not waiting risks content

/** Resolves when all that other processes have done so far is recorded. */
export function othersRecorded(store: Store): Promise<void> {
  return restarted(
    journalsOfOthers(store.state).flatMap(journal => standing(journal) ?? []),
    store,
    patienceMs,
  );
}

/**
 * Resolves when everything that other processes have done at these paths and below is flushed, and their journals have
 * forgotten it. Before that, moving or removing it is not safe: after a power cut the content could be lost at its new
 * place, and recovery would write it again at the old one.
 */
export async function othersFlushed(store: Store, paths: readonly string[]): Promise<void> {
  const { state } = store;
  const concerned = journalsOfOthers(state).flatMap(journal => {
    const found = standing(journal);
    return found !== undefined && reaches(commitsIn(found.path, state.key), paths) ? [found] : [];
  });
  await restarted(concerned, store, flushPatienceMs);
}

/**
 * Resolves when no other process is about to put changes in place at these paths or below. A commit that has not got that
 * far yet looks once more at what was announced.
 */
export async function othersOver({ state }: Store, paths: readonly string[]): Promise<void> {
  let waiting = journalsOfOthers(state);
  for (const until = clock() + flushPatienceMs; clock() < until; ) {
    waiting = waiting.filter(({ folder, path }) => {
      if (standing({ folder, path }) === undefined) return false;
      const begun = commitsIn(path, state.key).filter(one => one.state === "commit" || one.state === "abort");
      return reaches(begun, paths) && !isDead(join(folder, "owner"), socketsOf(state.path));
    });
    if (waiting.length === 0) return;
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
}

/** The journal may be gone with its process. */
function commitsIn(journal: string, key: Buffer): JournalledCommit[] {
  return journalledCommits(system(stateDirectory, () => ifThere(() => readJournal(journal, key))) ?? []);
}

function reaches(commits: readonly JournalledCommit[], paths: readonly string[]): boolean {
  return commits.some(({ intent }) =>
    pathsOf(intent.steps, intent.places).some(at => paths.some(path => isWithin(at, path))),
  );
}

async function restarted(
  journals: readonly StandingJournal[],
  { state, recover }: Store,
  longestMs: number,
): Promise<void> {
  // What recovery leaves of a dead process is in a root that this process was not granted, or on a failing disk:
  // waiting does not help there.
  let waiting = journals.filter(({ folder }) => !isDead(join(folder, "owner"), socketsOf(state.path)));
  if (waiting.length < journals.length) recover();
  for (const until = clock() + longestMs; clock() < until; ) {
    waiting = waiting.filter(({ folder, path, generation }) => {
      const now = standing({ folder, path });
      return now?.generation === generation;
    });
    if (waiting.length === 0) return;
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
}

interface JournalFile {
  /** Of its process. */
  readonly folder: string;
  readonly path: string;
}

interface StandingJournal extends JournalFile {
  readonly generation: number;
}

function journalsOfOthers(state: StateDirectory): JournalFile[] {
  return state.others().flatMap(folder =>
    system(stateDirectory, () => namesIn(folder))
      .filter(name => name.startsWith("journal-"))
      .map(name => ({ folder, path: join(folder, name) })),
  );
}

/** A journal that holds commits, with its generation; undefined if it holds none, or is gone with its process. */
function standing(journal: JournalFile): StandingJournal | undefined {
  const generation = system(stateDirectory, () => ifThere(() => holdsCommits(journal.path)));
  return generation === undefined ? undefined : { ...journal, generation };
}
