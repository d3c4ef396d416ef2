// The client side of the parsing thread: started with the first request, restarted if it hangs. Its failures are not
// errors: without an answer, a text counts as having no known language.
import { Worker } from "node:worker_threads";
import { contentHash } from "../../text/version.ts";
import type { ParseAnswer, ParseRequest } from "./messages.ts";

/** The thread limits its own time; this is for a grammar that never returns. */
const hangMs = 10_000;
/** A hanging thread uses a processor. One that has used less than this is merely kept waiting by other processes. */
const hangProcessorMs = 4000;
const mostWaits = 6;
/** How long a text that hung or ended the thread is skipped, and its grammar after several such texts. */
const restMs = 60_000;
const mostFailures = 3;
const mostFailedTexts = 1000;

type ParsedText = ParseAnswer["parsed"];
type ParseQuestion = Omit<ParseRequest, "id">;
interface PendingParse {
  readonly request: ParseQuestion;
  readonly done: (parsed: ParsedText) => void;
  readonly timer: NodeJS.Timeout;
}

let worker: Worker | undefined;
let starting: Promise<Worker | undefined> | undefined;
let latest = 0;
const waiting = new Map<number, PendingParse>();
/** When each text failed last. */
const failedTexts = new Map<string, number>();
/** The latest failures of each grammar. */
const failures = new Map<ParseRequest["grammar"], number[]>();
/** Grammars that the running thread has answered questions about. */
const loaded = new Set<ParseRequest["grammar"]>();

/** Whether a question about this grammar is answered without loading anything. */
export function isLoaded(grammar: ParseRequest["grammar"]): boolean {
  return loaded.has(grammar);
}

/** The thread's answer; undefined if it failed. */
export async function ask(request: ParseQuestion): Promise<ParsedText> {
  if (isResting(request)) return undefined;
  starting ??= start();
  const thread = worker ?? (await starting);
  if (thread === undefined) return undefined;
  return await new Promise<ParsedText>(resolve => {
    const id = ++latest;
    const used = process.cpuUsage();
    let waits = 0;
    const timer = setTimeout(() => {
      const { user, system } = process.cpuUsage(used);
      if ((user + system) / 1000 < hangProcessorMs && ++waits < mostWaits) timer.refresh();
      else end(thread, id);
    }, hangMs);
    waiting.set(id, { request, done: resolve, timer });
    thread.ref();
    thread.postMessage({ id, ...request } satisfies ParseRequest);
  });
}

async function start(): Promise<Worker | undefined> {
  try {
    const { program } = await import("#syntax");
    const thread = new Worker(program, { stdin: false, resourceLimits: { maxOldGenerationSizeMb: 512 } });
    thread.on("message", ({ id, parsed }: ParseAnswer) => finish(id, parsed));
    thread.on("error", () => end(thread));
    thread.on("exit", () => end(thread));
    thread.unref();
    worker = thread;
    return thread;
  } catch {
    return undefined;
  }
}

function finish(id: number, parsed: ParsedText): void {
  const one = waiting.get(id);
  waiting.delete(id);
  if (waiting.size === 0) worker?.unref();
  if (one === undefined) return;
  clearTimeout(one.timer);
  if (parsed !== undefined) loaded.add(one.request.grammar);
  one.done(parsed);
}

/**
 * Ends a thread. Only the hanging request fails, or the oldest one if the thread ended by itself. The others are sent
 * to a new thread.
 */
function end(thread: Worker, hanging?: number): void {
  if (worker !== thread) return;
  worker = undefined;
  starting = undefined;
  loaded.clear();
  const pending = [...waiting];
  const failed = hanging ?? pending[0]?.[0];
  for (const [id, { request, done, timer }] of pending) {
    clearTimeout(timer);
    waiting.delete(id);
    if (id !== failed) {
      void ask(request).then(done);
      continue;
    }
    noteFailure(request);
    done(undefined);
  }
  void thread.terminate();
}

function noteFailure({ grammar, text }: ParseQuestion): void {
  const now = performance.now();
  if (failedTexts.size >= mostFailedTexts) failedTexts.clear();
  failedTexts.set(keyOf(grammar, text), now);
  failures.set(grammar, [...(failures.get(grammar) ?? []), now].slice(-mostFailures));
}

function isResting({ grammar, text }: ParseQuestion): boolean {
  const since = performance.now() - restMs;
  const recent = (failures.get(grammar) ?? []).filter(time => time > since);
  if (recent.length >= mostFailures) return true;
  if (recent.length === 0) return false;
  const failed = failedTexts.get(keyOf(grammar, text));
  return failed !== undefined && failed > since;
}

function keyOf(grammar: ParseRequest["grammar"], text: string): string {
  return `${grammar} ${contentHash(Buffer.from(text))}`;
}
