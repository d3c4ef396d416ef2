// Fetches the files of a new replica. A file that a caller asks for is fetched first, unless an entry that is not
// applied yet touches it.
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import { faultOf } from "../workspace/errno.ts";
import { entryParts } from "./entry-parts.ts";
import { isDisagreement, type LocalCopy } from "./local-copy.ts";
import { errorText } from "./store-faults.ts";
import type { TreeState } from "./tree-state.ts";

export interface FillingOptions {
  readonly copy: LocalCopy;
  readonly state: TreeState;
  /** Gets the contents that operations need, and does them. */
  apply(operations: readonly Operation[]): Promise<void>;
  readonly info?: ((message: string) => void) | undefined;
  readonly warn?: ((message: string) => void) | undefined;
}

const retryMs = 500;

export class Filling {
  readonly #options: FillingOptions;
  /** Files that are not there yet. */
  readonly #pending = new Set<string>();
  /** When everything is there. Rejects where the directory cannot be written. */
  readonly done: Promise<void>;
  /** Why it does not go on at the moment. */
  stuck: Fault | undefined;
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

  /** Fetches a file now. False if it has to wait for everything. */
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
      const isMissing = node?.kind === "directory" && !this.#options.copy.files.isDirectory(path);
      return isMissing ? [{ do: "mkdir", at: path, mode: node.mode }] : [];
    });
  }

  async #fill(first: readonly Operation[]): Promise<void> {
    const { copy, state, info } = this.#options;
    const began = clock();
    let operations = first;
    for (let round = 1; operations.length > 0 && !this.#stopped; round++) {
      for (const one of operations) if (one.do === "write") this.#pending.add(one.at);
      const refused = await this.#apply(operations);
      if (refused === undefined) break;
      if (round > 1) await this.#waitFor(refused);
      operations = (await this.#patiently(() => copy.files.unapplied(state))) ?? [];
    }
    this.stuck = undefined;
    const sizes = first.flatMap(one => (one.do === "write" ? [one.size] : []));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    info?.(`fetched ${sizes.length} files, ${bytes} bytes, in ${Math.round(clock() - began)} ms`);
  }

  /** A fault if it must be compared again, perhaps because another file was fetched first. */
  async #apply(operations: readonly Operation[]): Promise<Fault | undefined> {
    for (const part of entryParts(operations)) {
      for (let attempt = 1; !this.#stopped; attempt++) {
        try {
          await this.#patiently(async () => {
            const missing = part.operations.filter(one => this.#isMissing(one));
            await this.#options.apply(missing);
            for (const { at } of missing) this.#pending.delete(at);
          });
          this.stuck = undefined;
          break;
        } catch (error) {
          if (!isDisagreement(error)) throw error;
          if (attempt > 1) return error;
        }
      }
    }
    return undefined;
  }

  /** Until the store and the disk answer. Undefined if it was stopped before. */
  async #patiently<T>(action: () => Promise<T>): Promise<T | undefined> {
    while (!this.#stopped) {
      try {
        return await action();
      } catch (error) {
        const fault = faultOf(error, this.#options.copy.root);
        if (!(fault instanceof Fault) || isDisagreement(fault)) throw fault;
        await this.#waitFor(fault);
      }
    }
    return undefined;
  }

  async #waitFor(fault: Fault): Promise<void> {
    if (this.stuck?.code !== fault.code)
      this.#options.warn?.(
        `files cannot be fetched (${fault.code}: ${errorText(fault)}); polyfs tries again`,
      );
    this.stuck = fault;
    await setTimeout(retryMs, undefined, { ref: false });
  }

  #isMissing(operation: Operation): boolean {
    if (operation.do === "mkdir") return !this.#options.copy.files.isDirectory(operation.at);
    return operation.do !== "write" || this.#pending.has(operation.at);
  }
}
