// The sieve's worker thread. It never keeps the process alive, and costs memory, so it is ended when nobody has had
// work for it for a while.
import { Worker } from "node:worker_threads";
import { type Files, type Job, type Memory, type Names, sifter } from "./sift.ts";

const idleMs = 5000;
const usedBytes = 64;
const slotCount = 2 ** 16;

export const memoryBytes = 12 * 1024 * 1024;

/** How the shared memory is divided. */
export function divided(memory: SharedArrayBuffer): Memory {
  return {
    used: new Int32Array(memory, 0, usedBytes / 4),
    slots: new Int32Array(memory, usedBytes, slotCount),
    words: new Uint32Array(memory, usedBytes + 4 * slotCount),
  };
}

const source = `
const { parentPort, workerData } = require("node:worker_threads");
const { sift, learn } = (${sifter})(require("node:fs"), workerData);
let files;
parentPort.on("message", ({ base, lists, job, device }) => {
  if (lists && job) files = lists;
  if (job) while (sift(files, job));
  parentPort.postMessage(job !== undefined || lists.every(list => learn(base, list, device)));
});`;

export class Thread {
  readonly #worker: Worker;
  readonly #waiting: ((answer: boolean) => void)[] = [];
  readonly #idle: NodeJS.Timeout;
  /** What the thread was asked about last, and need not be told again. */
  #lists: readonly Names[] | undefined;
  isOver = false;

  constructor(memory: SharedArrayBuffer) {
    this.#worker = new Worker(source, {
      eval: true,
      workerData: divided(memory),
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 },
      stdin: false,
    });
    this.#worker.unref();
    this.#worker.on("message", (answer: boolean) => this.#waiting.shift()?.(answer));
    this.#worker.on("error", () => this.end());
    this.#worker.on("exit", () => this.end());
    this.#idle = setTimeout(() => {
      if (this.#waiting.length === 0) this.end();
      else this.#idle.refresh();
    }, idleMs).unref();
  }

  /** Helps with a job, until there is nothing left of it. False where the thread ended before. */
  sift(lists: readonly Names[], job: Job): Promise<boolean> {
    const isNew = lists !== this.#lists;
    this.#lists = lists;
    return this.#ask(isNew ? { lists, job } : { job });
  }

  /** Reads files. False where there is no room for all that they hold, or the thread ended before. */
  learn({ base, lists }: Files, device: number): Promise<boolean> {
    return this.#ask({ base, lists, device });
  }

  #ask(message: object): Promise<boolean> {
    if (this.isOver) return Promise.resolve(false);
    this.#idle.refresh();
    this.#worker.postMessage(message);
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.#idle);
    for (const resolve of this.#waiting.splice(0)) resolve(false);
    void this.#worker.terminate();
  }
}
