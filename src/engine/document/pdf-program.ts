// The thread that reads a PDF and ends.
import { parentPort, workerData } from "node:worker_threads";
import { extractText, getDocumentProxy } from "unpdf";

try {
  const document = await getDocumentProxy(new Uint8Array(workerData as Uint8Array));
  const { text } = await extractText(document, { mergePages: false });
  parentPort?.postMessage(text);
} catch {
  parentPort?.postMessage(undefined);
}
