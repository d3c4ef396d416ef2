// The objects of a workspace: from this machine's archive where it has them, from the store otherwise.
import { Fault } from "../fault.ts";
import type { Hash, WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { hashesOf } from "./entry-parts.ts";

const fetchesAtOnce = 8;
/** Objects that are fetched only to know whether the log names them. */
const mostAsked = 100;

export class WorkspaceContents {
  readonly #store: WorkspaceStore;
  readonly #id: WorkspaceId;
  readonly #archive: { get(hash: Hash): Uint8Array | undefined };

  constructor(store: WorkspaceStore, id: WorkspaceId, archive: { get(hash: Hash): Uint8Array | undefined }) {
    this.#store = store;
    this.#id = id;
    this.#archive = archive;
  }

  /** Faults: `store_unavailable`. */
  async get(hash: Hash): Promise<Uint8Array> {
    const own = this.#archive.get(hash);
    if (own !== undefined) return own;
    const bytes = await this.#store.get(this.#id, hash);
    if (bytes === undefined)
      throw new Fault("store_unavailable", { reason: "damaged", detail: `object ${hash} is missing` });
    if (contentHash(bytes) !== hash)
      throw new Fault("store_unavailable", { reason: "damaged", detail: `object ${hash} has other content` });
    return bytes;
  }

  /** Which of these the log does not name. With many, an object of another workspace counts as named. */
  async unknown(hashes: readonly Hash[]): Promise<Set<Hash>> {
    const unknown = new Set(hashes);
    if (unknown.size === 0) return unknown;
    const there = await this.#store.has([...unknown]);
    for (const hash of there)
      if (there.size > mostAsked || (await this.#store.get(this.#id, hash)) !== undefined)
        unknown.delete(hash);
    return unknown;
  }

  /** Fetches what operations need, several at once, and returns how to get it. */
  async fetched(operations: readonly Operation[]): Promise<(hash: Hash) => Promise<Uint8Array>> {
    const found = new Map<Hash, Uint8Array>();
    const queue = hashesOf(operations).values();
    const work = async () => {
      for (const hash of queue) found.set(hash, await this.get(hash));
    };
    await Promise.all(Array.from({ length: fetchesAtOnce }, work));
    return async hash => found.get(hash) ?? (await this.get(hash));
  }
}
