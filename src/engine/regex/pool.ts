// Worker threads that run regular expressions, each under a deadline. JavaScript's engine backtracks, and some
// patterns never finish: such a thread is terminated and replaced, while the rest of the process continues.
import { Worker } from "node:worker_threads";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { type Matches, type RegexAnswer, type RegexJob, runInWorker } from "./worker.ts";

export interface Deadline {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

const source = `(${runInWorker})(require("node:worker_threads").parentPort);`;
const size = 2;
const idle: Worker[] = [];
const waiting: (() => void)[] = [];
const starting = new Map<Worker, Promise<void>>();
let started = 0;

/**
 * Runs a job and yields answers as they arrive. Throws `invalid_pattern`, `timeout` or `cancelled`; earlier answers
 * stay valid.
 */
export async function runJob(
  job: RegexJob,
  deadline: Deadline,
  onAnswer: (answer: Matches) => void,
): Promise<void> {
  if (deadline.signal?.aborted) throw new Fault("cancelled", {});
  if (job.texts.length === 0) return;
  const late = () => new Fault("timeout", { ms: deadline.ms, what: job.pattern });
  const asked = clock();
  const worker = await obtain(asked + deadline.ms, late, deadline.signal);
  const obtained = clock();
  await ready(worker);
  // On a busy machine a thread takes longer to start than most patterns to match: that time is not the pattern's.
  const until = asked + deadline.ms + clock() - obtained;
  const done = await new Promise<Fault | undefined>(resolve => {
    let left = job.texts.length;
    const finish = (fault?: Fault) => {
      clearTimeout(timer);
      deadline.signal?.removeEventListener("abort", onAbort);
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      resolve(fault);
    };
    const onMessage = (answer: RegexAnswer) => {
      if ("error" in answer) {
        finish(
          new Fault("invalid_pattern", {
            pattern: job.pattern,
            kind: "regex",
            problem: { is: "message", message: answer.error },
          }),
        );
        return;
      }
      onAnswer(answer);
      left -= 1;
      if (left === 0) finish();
    };
    const onAbort = () => finish(new Fault("cancelled", {}));
    const onError = (error: Error) =>
      finish(new Fault("internal", { message: error.message }, { cause: error }));
    const onExit = () => finish(new Fault("internal", { message: "a regular expression thread ended" }));
    const timer = setTimeout(() => finish(late()), until - clock());
    deadline.signal?.addEventListener("abort", onAbort, { once: true });
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    worker.ref();
    worker.postMessage(job);
  });
  release(worker, done === undefined || done.code === "invalid_pattern");
  if (done !== undefined) throw done;
}

function start(): Worker {
  started += 1;
  const worker = new Worker(source, {
    eval: true,
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
    stdin: false,
  });
  starting.set(
    worker,
    new Promise(resolve => {
      const started = () => {
        starting.delete(worker);
        resolve();
      };
      worker.once("online", started).once("error", started).once("exit", started);
    }),
  );
  worker.unref();
  return worker;
}

/** When a thread has started, or has failed to: then its job fails. */
async function ready(worker: Worker): Promise<void> {
  worker.ref();
  await starting.get(worker);
}

/** Waiting for a thread is part of the time that a job has. */
async function obtain(until: number, late: () => Fault, signal?: AbortSignal): Promise<Worker> {
  for (;;) {
    const worker = idle.pop() ?? (started < size ? start() : undefined);
    if (worker !== undefined) return worker;
    await new Promise<void>((resolve, reject) => {
      const leave = (fault?: Fault) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        const at = waiting.indexOf(wake);
        if (at >= 0) waiting.splice(at, 1);
        if (fault === undefined) resolve();
        else reject(fault);
      };
      const wake = () => leave();
      const onAbort = () => leave(new Fault("cancelled", {}));
      const timer = setTimeout(() => leave(late()), until - clock());
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.push(wake);
    });
  }
}

function release(worker: Worker, healthy: boolean): void {
  worker.unref();
  if (healthy) idle.push(worker);
  else {
    started -= 1;
    worker.on("error", () => {});
    void worker.terminate();
    idle.push(start());
  }
  waiting.shift()?.();
}
