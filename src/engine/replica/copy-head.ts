// The place in the log that a copy is at, and the tree there.
import type { Revision } from "../store/store.ts";
import type { ChangeLog } from "../workspace/archive/log.ts";
import type { Operation } from "../workspace/commit/publish.ts";
import type { EntryPlace } from "./replica-note.ts";
import { TreeState } from "./tree-state.ts";

export class CopyHead {
  readonly state = new TreeState();
  /** The log is read, and files are not touched. */
  isReplaying = false;
  readonly #changes: Pick<ChangeLog, "noteId">;
  readonly #listeners: ((operations: readonly Operation[]) => void)[] = [];
  #revision: Revision = 0;
  #id: string | undefined;

  constructor(changes: Pick<ChangeLog, "noteId">) {
    this.#changes = changes;
  }

  get revision(): Revision {
    return this.#revision;
  }

  /** Of the entry at that revision. The store may have lost it, and have got others since. */
  get id(): string | undefined {
    return this.#id;
  }

  get place(): EntryPlace {
    return { revision: this.#revision, id: this.#id };
  }

  /** The next entry is done here. */
  advance(operations: readonly Operation[], id: string): void {
    this.#changes.noteId(id);
    this.state.applyAll(operations);
    this.#revision++;
    this.#id = id;
    for (const listener of this.#listeners) listener(operations);
  }

  onAdvance(listener: (operations: readonly Operation[]) => void): void {
    this.#listeners.push(listener);
  }
}
