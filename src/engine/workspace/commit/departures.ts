// The order of records is the order in which changes took effect. For one path, its lock ensures that. For paths of
// which one holds the other, this file does: undo goes back in that order, and must find what each change left.
//
// A commit that moves or removes a directory announces that, waits until the changes in it that have begun are over,
// and gets its id only then. A change begins with an intent in its journal; if it then finds an announcement for a
// directory above it, it is not made, and starts over once that directory has left. Each side shows itself before it
// looks, so at least one sees the other. An announcement outlives neither its commit nor, as others see it, its process.
import { constants } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { clock } from "../../clock.ts";
import { Fault } from "../../fault.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../directory-stamp.ts";
import { contentAt, namesIn, unlinkIfThere } from "../disk/if-there.ts";
import { sys, writeAll } from "../disk/syscalls.ts";
import { stateDirectory, system, unlessFailing } from "../errno.ts";
import { inSlices } from "../footprint/time-slice.ts";
import { isWithinAny } from "../within.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import { pathOf } from "./power-cut.ts";
import type { ResolvedChanges } from "./resolved-changes.ts";
import { isDead, makeDirectory, type StateDirectory, socketsOf } from "./state.ts";

const pollMs = 3;
const longestMs = 60_000;
/** Whether the process of an announcement is dead is looked up if it is older than this. */
const oldMs = 1000;

/** A directory above a change is leaving. */
export class Departing extends ConcurrentChange {
  /** Resolves when it has left. Faults: `locked`. */
  readonly over: (signal?: AbortSignal) => Promise<void>;

  constructor(path: string, over: Departing["over"]) {
    super(path);
    this.over = over;
  }
}

type Paths = readonly string[];

export class Departures {
  readonly #state: StateDirectory;
  readonly #folder: string;
  /** The directories that commits of this process announced. */
  readonly #announced = new Set<Paths>();
  /** The paths of the commits of this process that have begun. */
  readonly #begun = new Set<Paths>();
  #count = 0;
  /** The folder of announcements when it held none. It is made for the first one: usually one look is enough. */
  #empty: DirectoryStamp | undefined;
  /** When it was found to hold none, and has not changed since. */
  #emptySince: number | undefined;
  #lastAnnounced = Number.NEGATIVE_INFINITY;

  constructor(state: StateDirectory) {
    this.#state = state;
    this.#folder = join(state.path, "departures");
  }

  /** Announces that the directories at these paths leave. */
  announce(paths: Paths): Disposable {
    this.#announced.add(paths);
    this.#lastAnnounced = clock();
    const file = this.#write(paths);
    return {
      [Symbol.dispose]: () => {
        this.#announced.delete(paths);
        this.#lastAnnounced = clock();
        if (file !== undefined) unlessFailing(() => unlinkIfThere(file));
      },
    };
  }

  /** Resolves when the changes of this process at these paths and below that have begun are over. */
  async ownOver(paths: Paths, signal?: AbortSignal): Promise<void> {
    const concerned = [...this.#begun].filter(begun => areWithin(begun, paths));
    for (const until = clock() + longestMs; clock() < until; await pause(pollMs, undefined, { signal }))
      if (!concerned.some(begun => this.#begun.has(begun))) return;
  }

  /** Counts a commit as begun. Called before its id is made. */
  begin(paths: Paths): Disposable {
    this.#begun.add(paths);
    return { [Symbol.dispose]: () => void this.#begun.delete(paths) };
  }

  /**
   * Throws `Departing` if a directory above one of the paths is leaving, other than those of the commit itself. To be
   * called with the intent in the journal; a commit that announces something also calls it before that, so that two of
   * them that are in each other's way do not both start over again and again.
   */
  refuseInside(paths: Paths, own: Paths, given: string): void {
    if (!this.#isLeaving(paths, own)) return;
    throw new Departing(given, async signal => {
      for (const until = clock() + longestMs; clock() < until; ) {
        if (!this.#isLeaving(paths, own)) return;
        await pause(pollMs * (0.5 + Math.random()), undefined, { signal });
      }
      throw new Fault("locked", { path: given });
    });
  }

  /** Whether no directory was announced from a time on until the last look. */
  wasCalmSince(time: number): boolean {
    return this.#emptySince !== undefined && this.#emptySince <= time && this.#lastAnnounced < time;
  }

  #isLeaving(paths: Paths, own: Paths): boolean {
    for (const announced of this.#announced)
      if (announced !== own && areWithin(paths, announced)) return true;
    const byOthers = system(stateDirectory, () => this.#announcedByOthers());
    return byOthers.some(announced => areWithin(paths, announced));
  }

  #announcedByOthers(): Paths[] {
    const stat = sys.lstat(this.#folder);
    if (stat === undefined) {
      this.#emptySince = Number.NEGATIVE_INFINITY; // it is never removed, so there was none
      return [];
    }
    if (this.#empty !== undefined && isSame(stat, this.#empty)) return [];
    const [now, since] = [Date.now(), clock()];
    const names = namesIn(this.#folder);
    this.#empty = names.length === 0 && isSettled(stat, now) ? markOf(stat) : undefined;
    this.#emptySince = this.#empty && since;
    const mine = `${basename(this.#state.own)}.`;
    return names.flatMap(name => {
      const file = join(this.#folder, name);
      if (name.startsWith(mine) || this.#isForsaken(file, name)) return [];
      const text = contentAt(file)?.toString("latin1");
      return text === undefined ? [] : [text.split("\0")];
    });
  }

  /** Removes the announcement of a process that has died. */
  #isForsaken(file: string, name: string): boolean {
    const stat = sys.lstat(file);
    if (stat === undefined || Date.now() - stat.mtimeMs < oldMs) return stat === undefined;
    const { path } = this.#state;
    const owner = join(path, "processes", name.slice(0, name.indexOf(".")), "owner");
    if (sys.lstat(owner) !== undefined && !isDead(owner, socketsOf(path))) return false;
    unlessFailing(() => unlinkIfThere(file));
    return true;
  }

  /** Undefined if there is no room for it: without it, removing things must still be possible. */
  #write(paths: Paths): string | undefined {
    const name = `${basename(this.#state.own)}.${++this.#count}`;
    const draft = join(this.#state.own, `departure-${this.#count}`);
    const file = join(this.#folder, name);
    const { O_WRONLY, O_CREAT, O_TRUNC } = constants;
    return unlessFailing(() => {
      const fd = sys.open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0o600);
      try {
        writeAll(fd, Buffer.from(paths.join("\0"), "latin1"));
      } finally {
        sys.close(fd);
      }
      makeDirectory(this.#folder);
      sys.rename(draft, file);
      return file;
    });
  }
}

/** The directories that changes move or remove, by their paths as journals have them. */
export async function departingIn({ changes, places }: ResolvedChanges): Promise<string[]> {
  const found: string[] = [];
  await inSlices(changes, ({ change, source, target }) => {
    const leaving = change.kind === "move" ? source : change.kind === "remove" ? target : undefined;
    if (leaving === undefined || places.isNew(leaving.entry.place)) return;
    const at = pathOf(leaving.entry, places.records);
    if (at !== undefined && sys.lstat(places.address(leaving.entry))?.isDirectory()) found.push(at);
  });
  return found;
}

/** The paths that changes are made at, in the same form. */
export function changedIn({ targets, places }: ResolvedChanges): string[] {
  return targets.flatMap(({ entry }) => pathOf(entry, places.records) ?? []);
}

function areWithin(paths: Paths, directories: Paths): boolean {
  const known = new Set(directories);
  return paths.some(path => isWithinAny(path, known));
}
