// How long to wait for a lock file of another process. Processes that write one file take turns, but in no order: on a
// slow disk, one of them may have to wait until the others have nothing left to do. So the timeout applies
// to a holder that makes no progress. It restarts whenever the lock changes hands or its holder takes or releases a lock.
import { clock } from "../../clock.ts";
import type { sys } from "../disk/syscalls.ts";

/** The lock file: a hard link of the holder's own file. */
export type Holder = ReturnType<typeof sys.lstat>;

const idleMs = 15_000;
const longestMs = 90_000;

export class Patience {
  readonly #idleMs: number;
  readonly #last: number;
  #end: number;
  #seen: Holder;

  constructor(idle = idleMs, longest = longestMs) {
    this.#idleMs = idle;
    this.#end = clock() + idle;
    this.#last = clock() + longest;
  }

  /** Whether to give up. */
  isOver(holder: Holder): boolean {
    const now = clock();
    if (isBusy(this.#seen, holder)) this.#end = now + this.#idleMs;
    this.#seen = holder;
    return now > this.#end || now > this.#last;
  }
}

/** A link that comes or goes changes only one of the times of the file; a heartbeat changes both. */
function isBusy(before: Holder, now: Holder): boolean {
  if (before?.ino !== now?.ino) return true;
  return before?.ctimeMs !== now?.ctimeMs && before?.mtimeMs === now?.mtimeMs;
}
