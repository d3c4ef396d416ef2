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
  /** What the entries after it touch. */
  readonly #touched = new Set<string>();
  #seen: Revision;

  constructor(store: WorkspaceStore, id: WorkspaceId, copy: LocalCopy, state: TreeState, revision: Revision) {
    this.#store = store;
    this.#id = id;
    this.#copy = copy;
    this.#state = state;
    this.#seen = revision;
  }

  /**
   * Fetches these files, each the first that exists of its paths. False if one of them has to wait for everything, or
   * none is named.
   */
  async have(filling: Filling, files: readonly (readonly string[])[]): Promise<boolean> {
    await this.#look();
    for (const paths of files) {
      const at = paths.map(path => this.#fileAt(path)).find(found => found !== undefined);
      if (at === undefined || this.#isTouched(at) || !(await filling.first(at))) return false;
    }
    return files.length > 0;
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

  /** The file that a caller names; undefined if there is none. */
  #fileAt(path: string): string | undefined {
    try {
      const { absolute } = this.#copy.workspace.at(path);
      const at = absolute.slice(this.#copy.root.length + 1);
      return this.#state.get(at)?.kind === "file" ? at : undefined;
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  #isTouched(at: string): boolean {
    for (let end = at.length; end > 0; end = at.lastIndexOf("/", end - 1))
      if (this.#touched.has(at.slice(0, end))) return true;
    return false;
  }
}
