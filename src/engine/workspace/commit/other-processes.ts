// The other processes that use the same state directory. When one dies in the middle of a commit, this one brings the
// commit to its end before it reads anything. Asking each time whether each of them lives would cost every read; so a
// connection to each of them tells (beacon.ts), and the time of their directory tells when another one has come.
import { dirname, join } from "node:path";
import { clock } from "../../clock.ts";
import { conceal } from "../concealed.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../directory-stamp.ts";
import { isThisProcess } from "./identity.ts";
import { namesIn } from "./if-there.ts";
import { watchBeacon } from "./liveness-socket.ts";
import { isFirstOfBoot } from "./restored-names.ts";
import { beaconsOf, identityAt, isDead } from "./state.ts";
import { sys } from "./syscalls.ts";

/** More than these are asked about each time instead. */
const mostWatched = 64;
/**
 * How long a look counts, for many reads may arrive at once. If a process starts and dies in the middle of a commit
 * within this time, reads see what they would see if it were still at it.
 */
const freshMs = 4;
const pauseMs = 1000; // after a recovery that failed: it must not slow down every read

export class OtherProcesses {
  readonly #processes: string;
  readonly #beacons: string;
  readonly #recover: () => void;
  /** The processes that need no check: a connection will report their end, or they are not this one's to recover. */
  readonly #known = new Set<string>();
  #watched = 0;
  #isFirstLook = true;
  #mark: DirectoryStamp | undefined;
  #hasUnwatched = false;
  #freshUntil = 0;
  #pausedUntil = 0;

  /** `recover` brings to an end what dead processes left. */
  constructor(state: string, recover: () => void) {
    this.#processes = join(state, "processes");
    this.#beacons = beaconsOf(state);
    this.#recover = recover;
  }

  /** Recovers what has to be, by now. Reading needs no state: where it cannot be had, the first commit says so. */
  look(): void {
    const began = clock();
    if (began < this.#freshUntil || began < this.#pausedUntil) return;
    try {
      const stat = sys.lstat(this.#processes);
      if (stat === undefined) return;
      if (!this.#hasUnwatched && this.#mark !== undefined && isSame(stat, this.#mark)) {
        this.#freshUntil = began + freshMs;
        return;
      }
      const now = Date.now();
      this.#meet();
      this.#mark = isSettled(stat, now) ? markOf(stat) : undefined;
    } catch {
      this.#pausedUntil = clock() + pauseMs;
    }
  }

  /** After this process has been granted more than before. */
  reconsider(): void {
    this.#known.clear();
    this.#mark = undefined;
    this.#freshUntil = 0;
  }

  #meet(): void {
    conceal(dirname(this.#processes));
    const ids = namesIn(this.#processes);
    for (const id of this.#known) if (!ids.includes(id)) this.#known.delete(id);
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
    const { beacon } = identity;
    if (beacon !== undefined && this.#watched < mostWatched) {
      if (watchBeacon(this.#beacons, beacon, () => this.#gone(id))) {
        this.#known.add(id);
        this.#watched++;
        return;
      }
    }
    this.#hasUnwatched = true;
  }

  /** The process that a connection led to has ended, or is about to. */
  #gone(id: string): void {
    this.#watched--;
    this.#known.delete(id);
    this.#mark = undefined;
    this.#freshUntil = 0;
    this.look();
  }

  #isDead(id: string): boolean {
    return isDead(this.#owner(id), this.#beacons);
  }

  #owner(id: string): string {
    return join(this.#processes, id, "owner");
  }
}
