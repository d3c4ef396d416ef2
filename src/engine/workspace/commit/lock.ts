// Locks on names. Within the process, callers queue in order of arrival; between processes a lock file in the state
// directory decides, and between processes with different state directories the user lock does (user-lock.ts). Locks
// are taken in one fixed order, so there is no deadlock. The key folds case and Unicode form: a lock too many is
// harmless, one too few is not.
import { AsyncResource } from "node:async_hooks";
import { hash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Fault } from "../../fault.ts";
import { foldName } from "../../text/fold-name.ts";
import { unlinkIfThere } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { errnoOf, faultOf, isShortage, stateDirectory } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display } from "../handle.ts";
import { Patience } from "./patience.ts";
import { isOpenElsewhere } from "./retry-busy-file.ts";
import type { StateDirectory } from "./state.ts";
import { takeUserLock } from "./user-lock.ts";

/** An edit that waits for one name. The holder of the lock may make it (shared-commit.ts). */
export interface WaitingEdit {
  /** Computes it from the content that the edits before it make. False: it needs its own turn. */
  compute(bytes: Buffer): Promise<boolean>;
  /** Set once it is made. */
  readonly outcome: unknown;
}

interface Waiter {
  readonly wake: () => void;
  /** Rejects the waiter if its call was cancelled. */
  readonly leave: () => void;
  readonly edit: WaitingEdit | undefined;
  /** Computes the edit in the asynchronous context of its own call. */
  readonly compute: ((bytes: Buffer) => Promise<boolean>) | undefined;
  /** Whether the holder of the lock is making this edit: until that ends, it must not leave the queue. */
  joined: boolean;
}

/** Callers in this process that wait for a name, in order. The holder is not among them. */
const queues = new Map<string, Waiter[]>();

/** Files of locks that were given back but could not be removed. */
const leftover = new Set<string>();

export function lockKey(device: number, inode: number, name: string): string {
  return `${device}:${inode}:${foldName(display(name))}`;
}

/** The name of the lock file. */
export function lockName(key: string): string {
  return hash("sha256", key).slice(0, 40);
}

/** What to lock: the key, and the path as the caller wrote it, for faults. */
export type Keys = ReadonlyMap<string, string>;

export class Locks implements Disposable {
  readonly #held: string[] = [];
  readonly #files: string[] = [];
  readonly keys: ReadonlySet<string>;
  /** Whether another caller or process had one of them. */
  waited = false;

  private constructor(keys: Keys) {
    this.keys = new Set(keys.keys());
  }

  /**
   * Waits for all of them. `recover` is called when the holder of a lock is dead. The holder may make `edit` as well,
   * if there is one key: then no lock is taken, and the edit has its outcome.
   */
  static async take(
    state: StateDirectory,
    keys: Keys,
    recover: () => void,
    signal?: AbortSignal,
    edit?: WaitingEdit,
  ): Promise<Locks> {
    const locks = new Locks(keys);
    const slice = new TimeSlice();
    try {
      for (const [key, given] of [...keys].sort(([a], [b]) => (a < b ? -1 : 1))) {
        // The first is taken or waited for at once: callers queue in the order in which they came.
        if (locks.#held.length > 0 && slice.isOver) {
          locks.waited = true;
          await slice.turn();
        }
        if (!takeNow(key)) {
          locks.waited = true;
          await turn(key, signal, keys.size === 1 ? edit : undefined);
          if (edit?.outcome !== undefined) return locks;
        }
        locks.#held.push(key);
        const name = lockName(key);
        await locks.#takeFile(state, name, given, recover, signal);
        await locks.#takeUserLock(name, given, signal);
      }
      return locks;
    } catch (error) {
      locks[Symbol.dispose]();
      throw error;
    }
  }

  async #takeFile(
    state: StateDirectory,
    name: string,
    given: string,
    recover: () => void,
    signal?: AbortSignal,
  ): Promise<void> {
    const file = state.lockPath(name);
    const patience = new Patience();
    for (let round = 0; ; round++) {
      try {
        sys.link(state.owner, file);
        this.#files.push(file);
        return;
      } catch (error) {
        if (errnoOf(error) === "ENOENT" && round === 0) {
          state.make(); // another process has removed it
          continue;
        }
        // On Windows, a lock that is removed while another process reads it keeps its name.
        if (errnoOf(error) !== "EEXIST" && !isOpenElsewhere(error)) throw faultOf(error, stateDirectory);
      }
      // The queue above admits one at a time: a file of our own was left by a release that failed.
      const holder = sys.lstat(file);
      if (holder?.ino === state.ownerInode) {
        leftover.delete(file);
        this.#files.push(file);
        return;
      }
      if (round % 8 === 0 && (await state.isAbandoned(file))) {
        recover();
        // While another process recovers, which may take a while, the lock keeps others from the file.
        if (await state.isAbandoned(file)) state.removeForsaken(file);
      }
      if (patience.isOver(holder)) throw new Fault("locked", { path: given });
      this.waited = true;
      await pause(Math.min(1 + round / 4, 10) * (0.5 + Math.random()), undefined, { signal });
    }
  }

  async #takeUserLock(name: string, given: string, signal?: AbortSignal): Promise<void> {
    const patience = new Patience();
    for (let round = 0; ; round++) {
      let lock: Awaited<ReturnType<typeof takeUserLock>>;
      try {
        lock = await takeUserLock(name);
      } catch (error) {
        if (isShortage(error)) throw faultOf(error, given);
        return; // no place for a user lock: the lock of the state directory still holds
      }
      if (lock.file !== undefined) {
        leftover.delete(lock.file);
        this.#files.push(lock.file);
        return;
      }
      if (patience.isOver(lock.holder)) throw new Fault("locked", { path: given });
      this.waited = true;
      await pause(Math.min(1 + round / 4, 10) * (0.5 + Math.random()), undefined, { signal });
    }
  }

  /** Removes the lock files in pieces: of thousands, disposing would take long. */
  async release(): Promise<void> {
    const slice = new TimeSlice();
    for (let file = this.#files.pop(); file !== undefined; file = this.#files.pop()) {
      removeLock(file);
      if (slice.isOver) await slice.turn();
    }
  }

  /** Releases in reverse order: a process that gets the first lock finds the user lock free. */
  [Symbol.dispose](): void {
    for (const file of [...leftover, ...this.#files.splice(0).reverse()]) removeLock(file);
    for (const key of this.#held.splice(0)) release(key);
  }
}

function removeLock(file: string): void {
  try {
    unlinkIfThere(file);
    leftover.delete(file);
  } catch {
    leftover.add(file);
  }
}

function takeNow(key: string): boolean {
  if (queues.has(key)) return false;
  queues.set(key, []);
  return true;
}

function turn(key: string, signal?: AbortSignal, edit?: WaitingEdit): Promise<void> {
  return new Promise((resolve, reject) => {
    const queue = queues.get(key);
    const leave = () => {
      if (waiter.joined || signal?.aborted !== true) return;
      queue?.splice(queue.indexOf(waiter), 1);
      reject(signal.reason);
    };
    const wake = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    const compute = edit && AsyncResource.bind((bytes: Buffer) => edit.compute(bytes));
    const waiter: Waiter = { wake, leave, edit, compute, joined: false };
    signal?.throwIfAborted();
    signal?.addEventListener("abort", leave);
    queue?.push(waiter);
  });
}

function release(key: string): void {
  const next = queues.get(key)?.shift();
  if (next === undefined) queues.delete(key);
  else next.wake();
}

/** The edits at the head of a queue that the holder of the lock makes together with its own. */
export class JoinedEdits {
  readonly #queue: Waiter[];
  #count = 0;

  constructor(key: string) {
    this.#queue = queues.get(key) ?? [];
  }

  /** The next edit in the queue; undefined if there is none, or if something else comes first. */
  get next(): WaitingEdit | undefined {
    return this.#queue[this.#count]?.edit;
  }

  /** Computes the next edit. Returns whether it joined: then it has to be released or ended. */
  async join(edit: WaitingEdit, bytes: Buffer): Promise<boolean> {
    const waiter = this.#queue[this.#count];
    if (waiter?.compute === undefined || waiter.edit !== edit) return false;
    waiter.joined = true;
    if (await waiter.compute(bytes)) {
      this.#count++;
      return true;
    }
    waiter.joined = false;
    waiter.leave();
    return false;
  }

  /** The last one was not made after all. */
  releaseLast(): void {
    const waiter = this.#queue[--this.#count];
    if (waiter === undefined) return;
    waiter.joined = false;
    waiter.leave();
  }

  /** They were not made, and keep their places in the queue. */
  release(): void {
    while (this.#count > 0) this.releaseLast();
  }

  /** Their outcomes are known. */
  end(): void {
    for (const waiter of this.#queue.splice(0, this.#count)) waiter.wake();
    this.#count = 0;
  }
}
