// What the parts of a replica share.
import { Fault } from "../fault.ts";
import type { WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { isUnanswered, isWithoutRoom } from "../workspace/errno.ts";
import { CommandsHere } from "./commands-here.ts";
import { WorkspaceContents } from "./contents.ts";
import { CopyHead } from "./copy-head.ts";
import { Growth } from "./growth.ts";
import type { LocalCopy } from "./local-copy.ts";
import type { ReplicaNote } from "./replica-note.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import { refusesChanges } from "./store-faults.ts";
import { StoreReach } from "./store-reach.ts";
import { Turns } from "./turns.ts";
import { UnsentChanges } from "./unsent-changes.ts";
import { WaitingChanges } from "./waiting-changes.ts";

/** How often a change is tried again because others were faster. */
export const attempts = 50;
/** After a command's changes could not be published because of this machine. */
const againMs = 1000;

/** Whether the store cannot be reached, has no room, or takes no changes: none at all, not only this one. */
export function isOfStore(error: unknown): boolean {
  return isWithoutRoom(error) || isUnanswered(error) || refusesChanges(error);
}

export class ReplicaContext {
  readonly store: WorkspaceStore;
  readonly id: WorkspaceId;
  readonly copy: LocalCopy;
  readonly options: ReplicaOptions;
  readonly contents: WorkspaceContents;
  readonly head: CopyHead;
  readonly reach: StoreReach;
  readonly unsent: UnsentChanges;
  readonly turns = new Turns();
  readonly commands = new CommandsHere();
  readonly waiting = new WaitingChanges();
  readonly growth = new Growth();
  /** Asks the store, and applies what is missing. */
  readonly ask: () => Promise<void>;
  isClosed = false;
  #again: NodeJS.Timeout | undefined;

  constructor(
    [store, id, copy, note, options]: readonly [
      WorkspaceStore,
      WorkspaceId,
      LocalCopy,
      ReplicaNote,
      ReplicaOptions,
    ],
    ask: () => Promise<void>,
  ) {
    this.store = store;
    this.id = id;
    this.copy = copy;
    this.options = options;
    this.ask = ask;
    const { objects, changes } = copy.workspace.archive;
    this.contents = new WorkspaceContents(store, id, objects);
    this.head = new CopyHead(changes);
    this.reach = new StoreReach(ask, options.warn);
    this.unsent = new UnsentChanges(note);
    this.head.onAdvance(operations => this.waiting.advance(operations, this.root));
  }

  get root(): string {
    return this.copy.root;
  }

  newId(): string {
    return this.copy.workspace.archive.changes.newId();
  }

  warn(message: string): void {
    this.options.warn?.(message);
  }

  isDown(error: unknown): void {
    if (this.isClosed || !Fault.is(error, "store_unavailable")) return;
    if (refusesChanges(error)) this.reach.refuses(error);
    else this.reach.isDown(error);
  }

  /** Retries after a full or failing disk, here or under the store, which sends no notification when it recovers. */
  tryAgainSoon(): void {
    this.#again ??= globalThis
      .setTimeout(() => {
        this.#again = undefined;
        if (!this.isClosed) this.ask().catch(() => {});
      }, againMs)
      .unref();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.#again);
    this.reach.stop();
  }
}
