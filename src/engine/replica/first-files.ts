// Which files of a replica can be read before it has all: those that no entry touches that is not applied yet.
import { Fault } from "../fault.ts";
import type { Revision, WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { bodyOf } from "./entry-body.ts";
import type { Filling } from "./filling.ts";
import type { LocalCopy } from "./local-copy.ts";
import type { TreeState } from "./tree-state.ts";

const batch = 200;

export class FirstFiles {
  readonly #store: WorkspaceStore;
  readonly #id: WorkspaceId;
  readonly #copy: LocalCopy;
  /** The tree that is being fetched. */
  readonly #state: TreeState;
  /** What the entries behind it touch. */
  readonly #touched = new Set<string>();
  #seen: Revision;

  constructor(store: WorkspaceStore, id: WorkspaceId, copy: LocalCopy, state: TreeState, revision: Revision) {
    this.#store = store;
    this.#id = id;
    this.#copy = copy;
    this.#state = state;
    this.#seen = revision;
  }

  /** Fetches these files. False where one of them has to wait for everything, or none is named. */
  async have(filling: Filling, paths: readonly string[]): Promise<boolean> {
    await this.#look();
    for (const given of paths) {
      const at = this.#fileAt(given);
      if (at === undefined || this.#isTouched(at) || !(await filling.first(at))) return false;
    }
    return paths.length > 0;
  }

  async #look(): Promise<void> {
    for (;;) {
      const entries = await this.#store.entries(this.#id, this.#seen, batch);
      for (const { operations } of entries.map(bodyOf))
        for (const one of operations) {
          this.#touched.add(one.at);
          if ("from" in one) this.#touched.add(one.from);
        }
      this.#seen += entries.length;
      if (entries.length < batch) return;
    }
  }

  /** The file that a caller names, with lines or a symbol behind it or not. */
  #fileAt(given: string): string | undefined {
    for (const path of [given, given.replace(/:[-\d,]+$|#.*$/s, "")]) {
      try {
        const { absolute } = this.#copy.workspace.at(path);
        const at = absolute.slice(this.#copy.root.length + 1);
        if (this.#state.get(at)?.kind === "file") return at;
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
      }
    }
    return undefined;
  }

  #isTouched(at: string): boolean {
    for (let end = at.length; end > 0; end = at.lastIndexOf("/", end - 1))
      if (this.#touched.has(at.slice(0, end))) return true;
    return false;
  }
}
