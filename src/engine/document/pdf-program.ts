// The thread that reads a PDF and ends.
import { parentPort, workerData } from "node:worker_threads";
import { boundBuffers } from "./buffer-bound.ts";

interface PdfTask {
  readonly bytes: Uint8Array;
  /** The most bytes of buffers, besides these. */
  readonly mostBytes: number;
}

try {
  const { bytes, mostBytes } = workerData as PdfTask;
  const bound = boundBuffers(bytes.length * 2 + mostBytes);
  const { extractText, getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const { text } = await extractText(document, { mergePages: false });
  // A page whose stream was not unpacked looks like one without text.
  parentPort?.postMessage(bound.wasReached() ? undefined : text);
} catch {
  parentPort?.postMessage(undefined);
}
