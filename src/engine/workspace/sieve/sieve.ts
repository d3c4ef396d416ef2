// Knowledge about what files hold, so that a search need not open those that cannot hold what is sought. It is
// gathered in the background by a worker thread, a little at a time and never while a search asks, in bounded memory;
// and it is asked in two of them, which share the work in small portions. For a few files no thread is started.
//
// It is never believed about a file that may have changed: inode, size, time of modification and time of change must
// be those that the file had when it was read, and the last of these, which nobody can set, must have been past by
// then (sift.ts). Only file systems of this machine are trusted to keep such times.
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import { raceFree } from "../handle.ts";
import type { Root } from "../root.ts";
import { keepsTimes } from "../system/file-system.ts";
import { type Files, type Job, type Names, type Question, type Sifter, sifter } from "./sift.ts";
import { divided, memoryBytes, Thread } from "./thread.ts";

const portionFiles = 256;
const quietMs = 150;
const threadCount = Math.min(2, availableParallelism());
const freshMs = 5 * 60 * 1000;

/** So many are read and asked about here. */
export const fewFiles = 500;
const filesAtOnce = 8;

/** By device: files are known by their inodes, whoever was granted which directory. */
const sieves = new Map<number, Sieve>();
const mostSieves = 2;

/** The sieve of a root's device; undefined where its file system is not to be trusted, or there is no room. */
export function sieveOf({ device, handle }: Root): Sieve | undefined {
  const known = sieves.get(device);
  if (known !== undefined || sieves.size === mostSieves || !raceFree || !keepsTimes(handle.address))
    return known;
  const sieve = new Sieve(device);
  sieves.set(device, sieve);
  return sieve;
}

export interface Asked extends Omit<Question, "device"> {
  readonly mostUnknown: number;
  readonly mostFound: number;
}

export class Sieve {
  readonly #device: number;
  #memory: SharedArrayBuffer | undefined;
  #since = 0;
  #isFull = false;
  #threads: Thread[] = [];
  #own: Sifter | undefined;
  #queue: Names[] = [];
  #base = "";
  #timer: NodeJS.Timeout | undefined;
  #isFew = false;
  #isLearning = false;
  #asking = 0;

  constructor(device: number) {
    this.#device = device;
  }

  /** Makes ready for a question that is about to come. */
  wake(): void {
    if (this.#memory !== undefined) this.#started(this.#memory, threadCount);
  }

  /** What is known about each file, in the order of the lists (verdict.ts); or why that is of no use. */
  async sift({ base, lists }: Files, asked: Asked): Promise<Uint8Array | "unknown" | "many"> {
    if (this.#memory === undefined) return "unknown";
    const { mostUnknown, mostFound, ...question } = asked;
    const portions = portionsOf(lists);
    const files = portions.at(-1)?.[1] ?? 0;
    const shared = new SharedArrayBuffer(16 + files);
    const job = {
      base,
      portions,
      question: { ...question, device: this.#device },
      mostUnknown,
      mostFound,
      shared,
    };
    if (files <= fewFiles) while (this.#here(this.#memory).sift(lists, job));
    else await this.#siftTogether(this.#memory, lists, job);
    const [, unknown = 0, found = 0, done = 0] = new Int32Array(shared, 0, 4);
    if (found > mostFound) return "many";
    // A thread that ended before its time leaves portions undone.
    return unknown > mostUnknown || done < portions.length - 1 ? "unknown" : new Uint8Array(shared, 16);
  }

  async #siftTogether(memory: SharedArrayBuffer, lists: readonly Names[], job: Job): Promise<void> {
    this.#asking++;
    try {
      const threads = this.#started(memory, threadCount);
      await Promise.all(threads.map(thread => thread.sift(lists, job)));
    } finally {
      this.#asking--;
      this.#schedule();
    }
  }

  /** Reads these files when there is time for it. */
  learn({ base, lists }: Files): void {
    if (this.#isFull && Date.now() - this.#since > freshMs) this.#forget();
    if (this.#isFull || this.#queue.length > 0) return;
    this.#queue = [...lists];
    this.#isFew = lists.reduce((sum, { count }) => sum + count, 0) <= fewFiles;
    this.#base = base;
    this.#schedule();
  }

  #forget(): void {
    for (const thread of this.#threads) thread.end();
    this.#memory = undefined;
    this.#own = undefined;
    this.#isFull = false;
  }

  /** Searches that follow each other closely do not put it off for ever. */
  #schedule(): void {
    if (this.#queue.length === 0) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#goOn();
    }, quietMs).unref();
  }

  async #goOn(): Promise<void> {
    if (this.#isLearning) return;
    this.#isLearning = true;
    try {
      while (this.#queue.length > 0 && this.#asking === 0) {
        if (this.#memory === undefined) {
          this.#memory = new SharedArrayBuffer(memoryBytes);
          divided(this.#memory).used[0] = 8; // a record at 0 would look like none
          this.#since = Date.now();
        }
        const some: Names[] = [];
        for (let files = 0; files < portionFiles && this.#queue.length > 0; files += some.at(-1)?.count ?? 0)
          some.push(...this.#queue.splice(0, 1));
        if (await this.#read(this.#memory, some)) continue;
        this.#queue = [];
        this.#isFull = true;
      }
    } finally {
      this.#isLearning = false;
    }
  }

  /** False where there is no room for what they hold. */
  async #read(memory: SharedArrayBuffer, lists: readonly Names[]): Promise<boolean> {
    const files = { base: this.#base, lists };
    if (!this.#isFew) return (await this.#started(memory, 1)[0]?.learn(files, this.#device)) ?? false;
    for (const list of lists) {
      for (const some of piecesOf(list)) {
        if (!this.#here(memory).learn(this.#base, some, this.#device)) return false;
        await new Promise(resolve => setImmediate(resolve)); // others go first
      }
    }
    return true;
  }

  #here(memory: SharedArrayBuffer): Sifter {
    this.#own ??= sifter(fs, divided(memory));
    return this.#own;
  }

  #started(memory: SharedArrayBuffer, count: number): Thread[] {
    this.#threads = this.#threads.filter(thread => !thread.isOver);
    while (this.#threads.length < count) this.#threads.push(new Thread(memory));
    return this.#threads;
  }
}

function* piecesOf({ path, names }: Names): Generator<Names> {
  const all = names.split("/");
  for (let at = 0; at < all.length; at += filesAtOnce) {
    const some = all.slice(at, at + filesAtOnce);
    yield { path, names: some.join("/"), count: some.length };
  }
}

function portionsOf(lists: readonly Names[]): [number, number][] {
  const portions: [number, number][] = [[0, 0]];
  let files = 0;
  let since = 0;
  for (const [i, { count }] of lists.entries()) {
    files += count;
    if (files - since < portionFiles && i < lists.length - 1) continue;
    portions.push([i + 1, files]);
    since = files;
  }
  return portions;
}
