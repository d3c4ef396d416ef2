// The text of a PDF by page, read in a thread of its own: such files come from anywhere, and some take for ever.
import { Worker } from "node:worker_threads";
import { contentHash } from "../text/version.ts";

const maxMs = 30_000;
const mostKept = 4;

/** The latest ones: a long document is read in several pages. */
const kept = new Map<string, Promise<readonly string[] | undefined>>();

/** The text of each page, "" for one without; undefined if it cannot be read. */
export function pdfPages(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  const key = contentHash(bytes);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const reading = read(bytes);
  kept.set(key, reading);
  const [oldest] = kept.keys();
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
  return reading;
}

async function read(bytes: Uint8Array): Promise<readonly string[] | undefined> {
  const { program } = await import("#pdf");
  const worker = new Worker(program, {
    workerData: bytes,
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
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
    void worker.terminate();
  }
}
