// What all workspaces of a process share for writing: one state directory with its locks and journals. It is
// opened by the first commit, or at the start where a dead process has left something to recover.
import { join } from "node:path";
import { Archive } from "../archive/archive.ts";
import { system } from "../errno.ts";
import { Ledger } from "./ledger.ts";
import { recover } from "./recover.ts";
import { isDead, StateDirectory, statePath } from "./state.ts";
import { sys } from "./syscalls.ts";

export interface Store {
  readonly state: StateDirectory;
  readonly ledger: Ledger;
  readonly archive: Archive;
}

const stores = new Map<string, Store>();

/** The store in `wanted`, or in the user's own place. What dead processes left is recovered first. */
export function openStore(wanted?: string): Store {
  const path = statePath(wanted);
  const known = stores.get(path);
  if (known !== undefined) return known;
  const state = new StateDirectory(wanted);
  const store = system(path, () => {
    try {
      recover(state);
      const archive = new Archive(state.path);
      return { state, ledger: new Ledger(state, archive), archive };
    } catch (error) {
      state.close();
      throw error;
    }
  });
  if (stores.size === 0) process.once("exit", closeAll);
  stores.set(path, store);
  return store;
}

/** Recovers what dead processes left, if any did. Costs a look into a directory otherwise. */
export function recoverAtStart(wanted?: string): void {
  try {
    const path = statePath(wanted);
    const processes = join(path, "processes");
    if (sys.lstat(processes) === undefined) return;
    if (!sys.names(processes).some(name => isDead(join(processes, name.toString(), "owner")))) return;
    const known = stores.get(path);
    if (known === undefined) openStore(wanted);
    else recover(known.state);
  } catch {
    // Reading needs no state. The first commit says what is wrong with it.
  }
}

function closeAll(): void {
  for (const { state, ledger } of stores.values()) {
    try {
      if (ledger.closeNow()) state.close();
    } catch {
      // The next process finds the journal and recovers.
    }
  }
}
