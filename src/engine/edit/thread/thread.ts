// The text thread as the rest of the process sees it: started for the first large text, and ended when it has had
// nothing to do for a while, which gives its memory back. Other calls are answered while it computes.
import { Worker } from "node:worker_threads";
import { Fault } from "../../fault.ts";
import type { TextJobAnswer, TextJobName, TextJobRequest, TextJobs } from "./jobs.ts";

/** Characters of all texts of a job, beyond which it goes to the thread. */
const large = 256 * 1024;
/** A job that needs more ends the thread. */
const maxMemoryMb = 2048;
const idleMs = 10_000;

type TextJobArguments<J extends TextJobName> = Parameters<TextJobs[J]>;
type TextJobResult<J extends TextJobName> = ReturnType<TextJobs[J]>;

interface WaitingTextJob {
  readonly resolve: (made: unknown) => void;
  readonly reject: (error: unknown) => void;
}

let worker: Worker | undefined;
let starting: Promise<Worker> | undefined;
let idle: NodeJS.Timeout | undefined;
let latest = 0;
const waiting = new Map<number, WaitingTextJob>();

/** Does a job: here where the texts have together so few characters that it takes no time, else in the thread. */
export async function textJob<J extends TextJobName>(
  job: J,
  characters: number,
  ...given: TextJobArguments<J>
): Promise<TextJobResult<J>> {
  if (characters > large) return (await inThread(job, given)) as TextJobResult<J>;
  const { jobs } = await import("./jobs.ts");
  return (jobs[job] as (...given: readonly unknown[]) => unknown)(...given) as TextJobResult<J>;
}

async function inThread(job: TextJobName, given: readonly unknown[]): Promise<unknown> {
  clearTimeout(idle);
  starting ??= start();
  const thread = worker ?? (await starting);
  return await new Promise<unknown>((resolve, reject) => {
    const id = ++latest;
    waiting.set(id, { resolve, reject });
    thread.ref();
    thread.postMessage({ id, job, given } satisfies TextJobRequest);
  });
}

async function start(): Promise<Worker> {
  const { program } = await import("#text");
  const thread = new Worker(program, {
    stdin: false,
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb },
  });
  thread.on("message", (answer: TextJobAnswer) => finish(answer));
  thread.on("error", error => end(thread, error.message));
  thread.on("exit", () => end(thread, "the text thread ended"));
  thread.unref();
  worker = thread;
  return thread;
}

function finish(answer: TextJobAnswer): void {
  const one = waiting.get(answer.id);
  waiting.delete(answer.id);
  if (waiting.size === 0) {
    const thread = worker;
    thread?.unref();
    clearTimeout(idle);
    idle = setTimeout(() => thread && end(thread, "idle"), idleMs).unref();
  }
  if ("made" in answer) one?.resolve(answer.made);
  else one?.reject(new Fault("internal", { message: answer.error }));
}

function end(thread: Worker, message: string): void {
  if (worker !== thread) return;
  worker = undefined;
  starting = undefined;
  for (const { reject } of waiting.values()) reject(new Fault("internal", { message }));
  waiting.clear();
  void thread.terminate();
}
