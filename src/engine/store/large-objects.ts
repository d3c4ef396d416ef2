// Where a database puts objects that are too large for it: bytes under names that it makes up.
export interface LargeObjects {
  put(name: string, bytes: Uint8Array): Promise<void>;
  get(name: string): Promise<Uint8Array | undefined>;
  /** Nothing there is fine. */
  remove(name: string): Promise<void>;
  /** The names of what was put longer ago than this, in batches. */
  olderThan(ms: number): AsyncIterable<readonly string[]>;
}
