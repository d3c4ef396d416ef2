// What all workspaces of a process share for writing: one state directory with its locks and journals. It is
// opened by the first commit, or at the start where a dead process has left something to recover.
import { atExit } from "../../at-exit.ts";
import { Archive } from "../archive/archive.ts";
import { conceal } from "../concealed.ts";
import { stateDirectory, system } from "../errno.ts";
import { isVolatile } from "../system/file-system.ts";
import { Departures } from "./departures.ts";
import { DurableNames } from "./durable-directory.ts";
import type { GrantedRoots } from "./granted-directories.ts";
import { JournalPair } from "./journal-pair.ts";
import { OtherProcesses } from "./other-processes.ts";
import { recover } from "./recover.ts";
import { StateDirectory } from "./state.ts";
import { statePath } from "./state-path.ts";

export interface Store {
  readonly state: StateDirectory;
  readonly journals: JournalPair;
  readonly archive: Archive;
  readonly departures: Departures;
  readonly durableNames: DurableNames;
  /** Whether it is in memory: then journals do not outlive the machine, and files are flushed before the answer. */
  readonly volatile: boolean;
  /** Brings to an end what dead processes left in the roots that this one was granted. */
  recover(): void;
}

const stores = new Map<string, Store>();

/** What this process was granted, and the others that use the same state directory, by its path. */
interface Grants {
  /** By workspace. */
  readonly roots: Set<GrantedRoots>;
  readonly company: OtherProcesses;
}

const grants = new Map<string, Grants>();

/** The store in `wanted`, or in the user's own place. What dead processes left is recovered first. */
export function openStore(wanted?: string): Store {
  const path = statePath(wanted);
  const known = stores.get(path);
  if (known !== undefined) return known;
  const state = new StateDirectory(wanted);
  const store = system(stateDirectory, () => {
    try {
      const settle = () => {
        const { roots = [], company } = grants.get(path) ?? {};
        const awaited = recover(state, [...roots]);
        company?.expect(awaited);
      };
      settle();
      const archive = new Archive(state.path);
      const volatile = isVolatile(state.path);
      const journals = new JournalPair(state, archive);
      const departures = new Departures(state);
      const durableNames = new DurableNames();
      return { state, journals, archive, departures, durableNames, volatile, recover: settle };
    } catch (error) {
      state.close();
      throw error;
    }
  });
  if (stores.size === 0) atExit(closeAll);
  stores.set(statePath(wanted), store); // another place, where the first could not be made
  return store;
}

/** The same, if this process has opened it. */
export function openedStore(wanted?: string): Store | undefined {
  return stores.get(statePath(wanted));
}

const clearing = new Set<string>();
/** After the first calls of a client. */
const clearSoonMs = 2000;
const clearAgainMs = 3_600_000;

/** Removes history that is too old or too much: soon after the start, and then every hour. */
function clearInBackground(path: string): void {
  if (clearing.has(path)) return;
  clearing.add(path);
  const clear = () => void (stores.get(path)?.archive ?? new Archive(path)).clearLater();
  setTimeout(clear, clearSoonMs).unref();
  setInterval(clear, clearAgainMs).unref();
}

/** How this process handles commits of other processes. */
export interface Attendance {
  /** From now on, and until it is withdrawn, recovery may act in these roots of a workspace. */
  grant(roots: GrantedRoots): void;
  withdraw(roots: GrantedRoots): void;
  /**
   * Recovers what dead processes left, if any did. To be called before something is read: half a commit must not be
   * seen. Costs one look at a directory while no process comes or goes.
   */
  attend(): void;
}

export function attendanceAt(wanted: string | undefined): Attendance {
  const { roots: granted, company } = grantsOf(wanted);
  conceal(statePath(wanted));
  return {
    grant(roots) {
      granted.add(roots);
      if (roots.some(({ access }) => access === "read-write")) clearInBackground(statePath(wanted));
      stores.get(statePath(wanted))?.state.reconsider();
      company.reconsider();
    },
    withdraw(roots) {
      granted.delete(roots);
    },
    attend() {
      // A read-only root is left to processes that may write to it.
      for (const roots of granted)
        if (roots.some(({ access }) => access === "read-write")) return company.look();
    },
  };
}

function grantsOf(wanted: string | undefined): Grants {
  const path = statePath(wanted);
  const known = grants.get(path);
  if (known !== undefined) return known;
  const recoverNow = () => {
    const store = stores.get(path);
    if (store === undefined) openStore(wanted);
    else store.recover();
  };
  const made = { roots: new Set<GrantedRoots>(), company: new OtherProcesses(path, recoverNow) };
  grants.set(path, made);
  return made;
}

function closeAll(): void {
  for (const { state, journals } of stores.values()) {
    try {
      if (journals.closeNow()) state.close();
    } catch {
      // The next process finds the journal and recovers.
    }
  }
}
