// Fetches the files of a new replica. A file that a caller asks for is fetched first, unless an entry that is not
// applied yet touches it.
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { entryParts } from "./entry-parts.ts";
import type { LocalCopy } from "./local-copy.ts";
import type { TreeState } from "./tree-state.ts";

export interface FillingOptions {
  readonly copy: LocalCopy;
  readonly state: TreeState;
  /** Gets the contents that operations need, and does them. */
  apply(operations: readonly Operation[]): Promise<void>;
  readonly info?: ((message: string) => void) | undefined;
}

const retryMs = 500;

export class Filling {
  readonly #options: FillingOptions;
  /** Files that are not there yet. */
  readonly #pending = new Set<string>();
  /** When everything is there. Rejects where the directory cannot be written. */
  readonly done: Promise<void>;
  /** Why it does not go on at the moment. */
  stuck: Fault<"store_unavailable"> | undefined;
  #stopped = false;

  constructor(operations: readonly Operation[], options: FillingOptions) {
    this.#options = options;
    this.done = this.#fill(operations);
    this.done.catch(() => {});
  }

  /** Leaves the rest for the next start. */
  stop(): void {
    this.#stopped = true;
  }

  /** Fetches a file now. False where it has to wait for everything. */
  async first(at: string): Promise<boolean> {
    const file = this.#options.state.get(at);
    if (file?.kind !== "file") return false;
    if (!this.#pending.has(at)) return true;
    const { hash, size, mode } = file;
    await this.#options.apply([...this.#missingAbove(at), { do: "write", at, hash, size, mode }]);
    this.#pending.delete(at);
    return true;
  }

  #missingAbove(at: string): Operation[] {
    const names = at.split("/").slice(0, -1);
    return names.flatMap((_, i): Operation[] => {
      const path = names.slice(0, i + 1).join("/");
      const node = this.#options.state.get(path);
      const isMissing = node?.kind === "directory" && !this.#options.copy.isDirectory(path);
      return isMissing ? [{ do: "mkdir", at: path, mode: node.mode }] : [];
    });
  }

  async #fill(first: readonly Operation[]): Promise<void> {
    const { copy, state, info } = this.#options;
    const began = clock();
    for (let operations = first; operations.length > 0 && !this.#stopped; ) {
      for (const one of operations) if (one.do === "write") this.#pending.add(one.at);
      operations = (await this.#apply(operations)) ? [] : await copy.unapplied(state);
    }
    const sizes = first.flatMap(one => (one.do === "write" ? [one.size] : []));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    info?.(`fetched ${sizes.length} files, ${bytes} bytes, in ${Math.round(clock() - began)} ms`);
  }

  /** False where it has to be compared again, because a file that was fetched first came in between. */
  async #apply(operations: readonly Operation[]): Promise<boolean> {
    for (const part of entryParts(operations)) {
      for (let attempt = 1; !this.#stopped; attempt++) {
        const missing = part.operations.filter(one => this.#isMissing(one));
        try {
          await this.#options.apply(missing);
          for (const { at } of missing) this.#pending.delete(at);
          this.stuck = undefined;
          break;
        } catch (error) {
          if (!(error instanceof Fault)) throw error;
          if (Fault.is(error, "store_unavailable")) {
            this.stuck = error;
            await setTimeout(retryMs, undefined, { ref: false });
          } else if (attempt > 1) return false;
        }
      }
    }
    return true;
  }

  #isMissing(operation: Operation): boolean {
    if (operation.do === "mkdir") return !this.#options.copy.isDirectory(operation.at);
    return operation.do !== "write" || this.#pending.has(operation.at);
  }
}
