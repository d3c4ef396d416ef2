// The client side of the parsing thread: started with the first request, restarted if it hangs. Its failures are not
// errors: without an answer, a text counts as having no known language.
import { Worker } from "node:worker_threads";
import type { ParseAnswer, ParseRequest } from "./messages.ts";

/** The thread limits its own time; this is for a grammar that never returns. */
const hangMs = 10_000;
/** A hanging thread uses a processor. One that has used less than this is merely kept waiting by other processes. */
const hangProcessorMs = 4000;
const mostWaits = 6;
/** Grammars that hang or end the thread again and again are left alone. */
const mostFailures = 3;

type ParsedText = ParseAnswer["parsed"];
interface PendingParse {
  readonly grammar: ParseRequest["grammar"];
  readonly done: (parsed: ParsedText) => void;
  readonly timer: NodeJS.Timeout;
}

let worker: Worker | undefined;
let starting: Promise<Worker | undefined> | undefined;
let latest = 0;
const waiting = new Map<number, PendingParse>();
const failures = new Map<ParseRequest["grammar"], number>();
/** Grammars that the running thread has answered questions about. */
const loaded = new Set<ParseRequest["grammar"]>();

/** Whether a question about this grammar is answered without loading anything. */
export function isLoaded(grammar: ParseRequest["grammar"]): boolean {
  return loaded.has(grammar);
}

/** The thread's answer; undefined if it failed. */
export async function ask(request: Omit<ParseRequest, "id">): Promise<ParsedText> {
  if ((failures.get(request.grammar) ?? 0) >= mostFailures) return undefined;
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
    waiting.set(id, { grammar: request.grammar, done: resolve, timer });
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
  if (parsed !== undefined) loaded.add(one.grammar);
  one.done(parsed);
}

/** Ends a thread; the hanging request, or all pending ones if it ended by itself, count as failed. */
function end(thread: Worker, hanging?: number): void {
  if (worker !== thread) return;
  worker = undefined;
  starting = undefined;
  loaded.clear();
  for (const [id, { grammar }] of waiting) {
    if (hanging === undefined || hanging === id) failures.set(grammar, (failures.get(grammar) ?? 0) + 1);
  }
  for (const id of [...waiting.keys()]) finish(id, undefined);
  void thread.terminate();
}
