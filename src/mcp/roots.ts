// The client's roots: the directories that its user has open. Asked for once it is initialized, and again
// whenever it says that they changed.
import { isRecord } from "./jsonrpc.ts";
import type { Log } from "./log.ts";
import type { Outgoing } from "./outgoing.ts";

export interface ClientRoot {
  /** A `file:` URI, as the client wrote it. */
  readonly uri: string;
  readonly name?: string;
}

export type RootsListener = (roots: readonly ClientRoot[]) => void | Promise<void>;

const timeoutMs = 10_000;

export class ClientRoots {
  readonly #outgoing: Outgoing;
  readonly #listener: RootsListener | undefined;
  readonly #log: Log;
  /** Whether the client has said that it can be asked. */
  supported = false;
  /** Resolves when the latest answer has been applied; undefined if no request is open. */
  known: Promise<void> | undefined;

  constructor(outgoing: Outgoing, listener: RootsListener | undefined, log: Log) {
    this.#outgoing = outgoing;
    this.#listener = listener;
    this.#log = log;
  }

  ask(): void {
    const listener = this.#listener;
    if (!this.supported || listener === undefined) return;
    // One at a time, so that the latest list wins.
    const known = (this.known ?? Promise.resolve())
      .then(() => this.#outgoing.request("roots/list", undefined, timeoutMs))
      .then(result => listener(readRoots(result)))
      .catch(error => this.#log.warn("the client's roots could not be used", error))
      .finally(() => {
        if (this.known === known) this.known = undefined;
      });
    this.known = known;
  }
}

function readRoots(result: unknown): readonly ClientRoot[] {
  const roots: unknown = isRecord(result) ? result.roots : undefined;
  if (!Array.isArray(roots)) throw new Error("the answer to roots/list has no list");
  return roots.filter(isRoot);
}

function isRoot(root: unknown): root is ClientRoot {
  return isRecord(root) && typeof root.uri === "string";
}
