// Commits of other processes that the archive does not have yet: processes record them shortly after they answer
// (journal-pair.ts). A caller that asks about history waits for that; the commits of dead processes are recorded
// here.
import { join } from "node:path";
import { clock } from "../../clock.ts";
import { namesIn } from "./if-there.ts";
import { holdsCommits } from "./journal.ts";
import { beaconsOf, isDead, type StateDirectory } from "./state.ts";
import type { Store } from "./store.ts";

const pollMs = 5;
const patienceMs = 2000; // an upper bound, for a hanging process or a slow disk

/** When all that other processes have done by now is recorded. */
export async function othersRecorded({ state, recover }: Store): Promise<void> {
  let waiting = journalsOfOthers(state).flatMap(journal => standing(journal) ?? []);
  if (waiting.some(({ folder }) => isDead(join(folder, "owner"), beaconsOf(state.path)))) recover();
  for (const until = clock() + patienceMs; clock() < until; ) {
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

function journalsOfOthers(state: StateDirectory): JournalFile[] {
  const processes = join(state.path, "processes");
  return namesIn(processes)
    .map(name => join(processes, name))
    .filter(folder => folder !== state.own)
    .flatMap(folder =>
      namesIn(folder)
        .filter(name => name.startsWith("journal-"))
        .map(name => ({ folder, path: join(folder, name) })),
    );
}

/** A journal that holds commits, with its generation; undefined if it holds none, or is gone with its process. */
function standing(journal: JournalFile): (JournalFile & { generation: number }) | undefined {
  try {
    const generation = holdsCommits(journal.path);
    return generation === undefined ? undefined : { ...journal, generation };
  } catch {
    return undefined;
  }
}
