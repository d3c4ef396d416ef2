// The latest contents that were read by a process that may write nothing, in memory and within a bound: enough to
// tell what has changed in a file since it was read.
import { contentHash } from "../text/version.ts";

const maxBytes = 16 * 1024 * 1024;
const contents = new Map<string, Uint8Array>();
let total = 0;

/** Keeps what the file at `at` holds; the oldest go first. */
export function keepRecent(at: string, bytes: Uint8Array): void {
  const key = `${contentHash(bytes).slice(0, 12)} ${at}`;
  if (bytes.length > maxBytes || contents.has(key)) return;
  contents.set(key, bytes);
  total += bytes.length;
  for (const [oldest, { length }] of contents) {
    if (total <= maxBytes) return;
    contents.delete(oldest);
    total -= length;
  }
}

/** What the file at `at` held, by the first 12 digits of its hash. */
export function recentAt(at: string, beginning: string): Buffer | undefined {
  const bytes = contents.get(`${beginning} ${at}`);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
