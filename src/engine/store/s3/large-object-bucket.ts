// Large objects of a database, in a bucket. Each has a name of its own, so nothing here depends on conditional writes.
import type { LargeObjects } from "../large-objects.ts";
import { S3Bucket } from "./bucket.ts";

const batch = 500;

export class LargeObjectBucket implements LargeObjects {
  readonly #bucket: S3Bucket;

  private constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  /** Asks once, so that wrong keys fail at the start. Faults: `store_unavailable`. */
  static async open(address: string, environment?: NodeJS.ProcessEnv): Promise<LargeObjectBucket> {
    const bucket = S3Bucket.at(address, environment);
    await bucket.now();
    return new LargeObjectBucket(bucket);
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#bucket.put(`l/${name}`, bytes);
  }

  get(name: string): Promise<Uint8Array | undefined> {
    return this.#bucket.get(`l/${name}`);
  }

  remove(name: string): Promise<void> {
    return this.#bucket.remove(`l/${name}`);
  }

  async *olderThan(ms: number): AsyncGenerator<readonly string[]> {
    const now = await this.#bucket.now();
    let names: string[] = [];
    for await (const { key, modified } of this.#bucket.list("l/")) {
      if (now - modified >= ms) names.push(key.slice(2));
      if (names.length < batch) continue;
      yield names;
      names = [];
    }
    if (names.length > 0) yield names;
  }
}
