// The other processes that use the same state directory. When one dies in the middle of a commit, this one completes
// the commit before it reads anything. To check before every read whether each of them is alive would be slow. Instead,
// a connection to each of them reports its end (liveness-socket.ts), and the modification time of the directory shows
// when another one has started.
import { dirname, join } from "node:path";
import { clock } from "../../clock.ts";
import { conceal } from "../concealed.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../directory-stamp.ts";
import { openRecorded } from "../disk/held-directories.ts";
import { namesIn } from "../disk/if-there.ts";
import { isThisProcess } from "../disk/process-identity.ts";
import { sys } from "../disk/syscalls.ts";
import { unlessFailing } from "../errno.ts";
import { watchSocket } from "./liveness-socket.ts";
import type { AwaitedDirectory } from "./recover.ts";
import { isFirstOfBoot } from "./restored-names.ts";
import { identityAt, isDead, socketsOf } from "./state.ts";

/** Processes beyond this number are checked on every read instead. */
const mostWatched = 64;
/**
 * How long one check is valid, because many reads may arrive together. If a process starts and dies in the middle of a
 * commit within this time, reads see what they would see if it were still running.
 */
const freshMs = 4;
/** How soon a disk is looked at again that is back, and does not hold what was left, seen from this process's roots. */
const lookAgainMs = 60_000;
const pauseMs = 1000; // after a recovery or a connection that failed: it must not slow down every read

export class OtherProcesses {
  readonly #processes: string;
  readonly #sockets: string;
  readonly #recover: () => void;
  /** The processes that need no check: a connection will report their end, or they are not this one's to recover. */
  readonly #known = new Set<string>();
  /**
   * When a process may be connected to again whose connection ended soon. One that has no descriptor left accepts a
   * connection and closes it, over and over. Until then every read checks it.
   */
  readonly #retryAt = new Map<string, number>();
  #awaited: readonly AwaitedDirectory[] = [];
  /** The directories that were back, each with when it may be looked at again. */
  readonly #back = new Map<string, number>();
  #watched = 0;
  #isFirstLook = true;
  #mark: DirectoryStamp | undefined;
  #hasUnwatched = false;
  #freshUntil = 0;
  #pausedUntil = 0;

  /** `recover` completes or rolls back the commits of dead processes. */
  constructor(state: string, recover: () => void) {
    this.#processes = join(state, "processes");
    this.#sockets = socketsOf(state);
    this.#recover = recover;
  }

  /** Recovers what dead processes left. A state directory that cannot be opened is reported by the first commit. */
  look(): void {
    const began = clock();
    if (began < this.#freshUntil || began < this.#pausedUntil) return;
    try {
      if (this.#awaited.some(one => this.#isBack(one, began))) this.reconsider();
      const stat = sys.lstat(this.#processes);
      const isKnown = stat === undefined || (this.#mark !== undefined && isSame(stat, this.#mark));
      if (isKnown && !this.#hasUnwatched) {
        this.#freshUntil = began + freshMs;
        return;
      }
      if (stat === undefined) return;
      const now = Date.now();
      this.#meet();
      this.#mark = isSettled(stat, now) ? markOf(stat) : undefined;
      if (!this.#hasUnwatched) this.#freshUntil = began + freshMs;
    } catch {
      this.#pausedUntil = clock() + pauseMs;
    }
  }

  /** Directories on disks that are away: when one is back, there is more to recover. */
  expect(awaited: readonly AwaitedDirectory[]): void {
    this.#awaited = [...new Map(awaited.map(one => [nameOf(one), one])).values()];
  }

  /** After this process has been granted more than before, or a disk is back. */
  reconsider(): void {
    this.#awaited = [];
    this.#known.clear();
    this.#mark = undefined;
    this.#freshUntil = 0;
  }

  /** A root that a disk is mounted over still is what it was: then recovery does not find what is back at its path. */
  #isBack(awaited: AwaitedDirectory, now: number): boolean {
    const { record, sameBoot } = awaited;
    const name = nameOf(awaited);
    if (now < (this.#back.get(name) ?? 0)) return false;
    const directory = unlessFailing(() => openRecorded(record, sameBoot));
    directory?.close();
    if (directory === undefined) return false;
    this.#back.set(name, now + lookAgainMs);
    return true;
  }

  #meet(): void {
    conceal(dirname(this.#processes));
    const ids = namesIn(this.#processes);
    for (const id of this.#known) if (!ids.includes(id)) this.#known.delete(id);
    for (const id of this.#retryAt.keys()) if (!ids.includes(id)) this.#retryAt.delete(id);
    const strangers = ids.filter(id => !this.#known.has(id));
    const isFirst = this.#isFirstLook && isFirstOfBoot(dirname(this.#processes));
    this.#isFirstLook = false;
    if (isFirst || strangers.some(id => this.#isDead(id))) this.#recover();
    this.#hasUnwatched = false;
    for (const id of strangers) {
      if (this.#isDead(id))
        this.#known.add(id); // it was left to others
      else this.#watch(id);
    }
  }

  #watch(id: string): void {
    const identity = identityAt(this.#owner(id));
    if (identity === undefined) return;
    if (identity === "busy") {
      this.#hasUnwatched = true;
      return;
    }
    if (isThisProcess(identity)) {
      this.#known.add(id);
      return;
    }
    const { socket } = identity;
    const since = clock();
    const mayConnect = since >= (this.#retryAt.get(id) ?? 0);
    if (socket !== undefined && mayConnect && this.#watched < mostWatched) {
      if (watchSocket(this.#sockets, socket, () => this.#gone(id, since))) {
        this.#known.add(id);
        this.#watched++;
        return;
      }
    }
    this.#hasUnwatched = true;
  }

  /** The process that a connection led to has ended, or is about to, or has no descriptor for it. */
  #gone(id: string, since: number): void {
    this.#watched--;
    if (clock() - since < pauseMs) this.#retryAt.set(id, clock() + pauseMs);
    this.#known.delete(id);
    this.#mark = undefined;
    this.#freshUntil = 0;
    this.look();
  }

  #isDead(id: string): boolean {
    return isDead(this.#owner(id), this.#sockets);
  }

  #owner(id: string): string {
    return join(this.#processes, id, "owner");
  }
}

/** Many commits may wait for one directory. */
function nameOf({ record, sameBoot }: AwaitedDirectory): string {
  return `${record.device}:${record.inode}:${sameBoot}:${record.at}`;
}
