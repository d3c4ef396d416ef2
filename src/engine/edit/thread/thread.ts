// The text thread as the rest of the process sees it: started for the first large text, and ended when it has had
// nothing to do for a while, which gives its memory back. Other calls are answered while it computes.
import { Worker } from "node:worker_threads";
import { Fault } from "../../fault.ts";
import { nextTurn } from "../../turn.ts";
import type { TextJobAnswer, TextJobName, TextJobPiece, TextJobRequest, TextJobs } from "./jobs.ts";

/** Characters of all texts of a job, beyond which it goes to the thread. */
const large = 256 * 1024;
/** A job that needs more ends the thread. */
const maxMemoryMb = 2048;
const idleMs = 10_000;
/** How much of an argument is copied at once: characters of a text, or elements. */
const pieceCharacters = 4 * 1024 * 1024;
const pieceElements = 10_000;

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
  const id = ++latest;
  const made = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }));
  made.catch(() => {}); // the thread may end while the arguments are sent
  thread.ref();
  const rest: unknown[] = [];
  for (const [argument, one] of given.entries()) {
    const pieces = piecesOf(one);
    for (const piece of pieces) {
      thread.postMessage({ id, argument, piece } satisfies TextJobPiece);
      await nextTurn();
    }
    rest.push(pieces.length > 0 ? undefined : one);
  }
  thread.postMessage({ id, job, given: rest } satisfies TextJobRequest);
  return await made;
}

/** A large text or list in pieces; nothing for what is sent as a whole. */
function piecesOf(one: unknown): (string | readonly unknown[])[] {
  const isText = typeof one === "string";
  const size = isText ? pieceCharacters : pieceElements;
  if (!(isText || Array.isArray(one)) || one.length <= size) return [];
  const pieces: (string | readonly unknown[])[] = [];
  for (let at = 0; at < one.length; at += size) pieces.push(one.slice(at, at + size));
  return pieces;
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
