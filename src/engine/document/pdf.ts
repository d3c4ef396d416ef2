// The text of a PDF by page, read in a thread of its own: such files come from anywhere, and some are made to take for
// ever or to fill the memory. Time, heap and buffers of the thread are bounded, and so is the number of threads.
import { Worker } from "node:worker_threads";
import { contentHash } from "../text/version.ts";

const maxMs = 30_000;
const maxHeapMb = 512;
const maxBufferBytes = 256 * 1024 * 1024;
/** How many are read at once: a slow one does not stop the others, and together they take bounded memory. */
const mostThreads = 2;
const mostKept = 4;

/** The latest ones: a long document is read in several pages. */
const kept = new Map<string, Promise<readonly string[] | undefined>>();

let reading = 0;
const waiting: (() => void)[] = [];

/** The text of each page, "" for one without; undefined if it cannot be read. */
export function pdfPages(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  const key = contentHash(bytes);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const pages = inTurn(bytes);
  kept.set(key, pages);
  const [oldest] = kept.keys();
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  return pages;
}

async function inTurn(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  if (reading >= mostThreads) await new Promise<void>(resolve => waiting.push(resolve));
  else reading++;
  try {
    return await read(bytes);
  } finally {
    const next = waiting.shift();
    if (next === undefined) reading--;
    else next();
  }
}

async function read(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  const { program } = await import("#pdf");
  const worker = new Worker(program, {
    workerData: { bytes, mostBytes: maxBufferBytes },
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  });
  try {
    return await new Promise<readonly string[] | undefined>(resolve => {
      const timer = setTimeout(() => resolve(undefined), maxMs);
      worker.on("message", (pages: readonly string[] | undefined) => {
        clearTimeout(timer);
        resolve(pages);
      });
      worker.on("error", () => resolve(undefined));
      worker.on("exit", () => resolve(undefined));
    });
  } finally {
    await worker.terminate();
  }
}
