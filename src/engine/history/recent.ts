// The latest contents that a read-only process has read, in memory and bounded: enough to tell what changed in a file
// since it was read.

const maxBytes = 16 * 1024 * 1024;
const contents = new Map<string, Uint8Array>();
let total = 0;

/** Keeps the content of the file at `at`; evicts the oldest first. */
export function keepRecent(at: string, bytes: Uint8Array, hash: string): void {
  const key = `${hash.slice(0, 12)} ${at}`;
  if (bytes.length > maxBytes || contents.has(key)) return;
  contents.set(key, bytes);
  total += bytes.length;
  for (const [oldest, { length }] of contents) {
    if (total <= maxBytes) return;
    contents.delete(oldest);
    total -= length;
  }
}

/** A past content of the file at `at`, by the first 12 digits of its hash. */
export function recentAt(at: string, beginning: string): Buffer | undefined {
  const bytes = contents.get(`${beginning} ${at}`);
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
