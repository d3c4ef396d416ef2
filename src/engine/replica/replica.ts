// A workspace of the shared store, served from a directory of this machine. The directory is a copy: the log decides.
//
//   write    staged and compared here, appended to the log, then done here. Refused as stale: what came in between is
//            applied, and the write is computed again on that, as if it had come later. An answered change is in the
//            store, and a crash at any moment leaves the copy behind the log, never beside it.
//            With `durability: "local"` it is done here first and appended behind the answer (unsent-changes.ts).
//   read     asks for the revision first, and applies what is missing.
//   command  runs in the copy; what it changed is found afterwards and appended as one entry.
//
// While the store cannot be reached, reads go on from the copy and writes are refused.

import { hostname } from "node:os";
import type { Fault } from "../fault.ts";
import type { Revision, WorkspaceId, WorkspaceStore } from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import type { By } from "../workspace/archive/log.ts";
import type { OwnChange, Replication } from "../workspace/commit/publication.ts";
import type { Publish } from "../workspace/commit/publish.ts";
import { AnsweredChanges } from "./answered-changes.ts";
import { CommandChanges } from "./command-changes.ts";
import { CopyDifference } from "./copy-difference.ts";
import { EntrySender } from "./entry-sender.ts";
import { Freshness } from "./freshness.ts";
import type { LocalCopy } from "./local-copy.ts";
import { LogFollower } from "./log-follower.ts";
import { ReplicaContext } from "./replica-context.ts";
import type { ReplicaNote } from "./replica-note.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import { ReplicaStart } from "./replica-start.ts";
import { errorText } from "./store-faults.ts";
import { ThroughWrites } from "./through-writes.ts";
import type { TreeState } from "./tree-state.ts";

export class Replica implements Replication, AsyncDisposable {
  readonly start: ReplicaStart;
  readonly #context: ReplicaContext;
  readonly #sender: EntrySender;
  readonly #through: ThroughWrites;
  readonly #answered: AnsweredChanges;
  readonly #commands: CommandChanges;
  readonly #freshness: Freshness;
  #unsubscribe = () => {};
  #onClose = () => {};

  constructor(
    store: WorkspaceStore,
    id: WorkspaceId,
    copy: LocalCopy,
    note: ReplicaNote,
    options: ReplicaOptions = {},
  ) {
    const ask = () => this.#freshness.ask();
    const context = new ReplicaContext([store, id, copy, note, options], ask);
    const sender = new EntrySender(context, () => this.#goOn());
    const follower = new LogFollower(context, sender);
    const difference = new CopyDifference(context, sender, follower);
    this.#context = context;
    this.#sender = sender;
    const parts = { context, sender, follower, difference };
    this.#through = new ThroughWrites(parts);
    this.#answered = new AnsweredChanges(parts);
    this.#commands = new CommandChanges(context, difference, this.#answered);
    this.start = new ReplicaStart(parts);
    this.#freshness = new Freshness(context, follower, this.start, () => this.#goOn());
    context.head.onAdvance(() => {
      if (!context.head.isReplaying) context.unsent.reached(context.head.place);
    });
  }

  /**
   * Follows the hints of the store from now on. Only once the log has been read as far as the directory is: reading the
   * log before that would apply the same entries, and count them twice.
   */
  follow(): void {
    this.#unsubscribe = this.#context.store.changed((workspace, revision) => {
      // An entry that this process appends is not news: its append reports it.
      const known = this.#context.head.revision + (this.#sender.isAppending ? 1 : 0);
      if (workspace === this.id && revision > known) this.#freshness.ask().catch(() => {});
    });
  }

  get id(): WorkspaceId {
    return this.#context.id;
  }

  get state(): TreeState {
    return this.#context.head.state;
  }

  get root(): string {
    return this.#context.copy.root;
  }

  /** Of the machine and the directory: a machine may have several. */
  get replica(): string {
    return `${hostname()}-${contentHash(Buffer.from(this.root)).slice(0, 4)}`;
  }

  get revision(): Revision {
    return this.#context.head.revision;
  }

  get publishedBytes(): number {
    return this.#sender.publishedBytes;
  }

  get storedBytes(): number {
    return this.#context.growth.now;
  }

  get bytesPerHour(): number {
    return this.#context.growth.perHour;
  }

  get staleMs(): number | undefined {
    return this.#context.reach.staleMs;
  }

  get staleCause(): Fault | undefined {
    return this.#context.reach.cause;
  }

  get waitingCommands(): number {
    return this.#context.waiting.count;
  }

  async write<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T> {
    const { options, turns } = this.#context;
    if (options.durability === "local") return await this.#answered.write(attempt, maxBytes);
    return await turns.take(() => this.#through.write(attempt, maxBytes));
  }

  /** Resolves when everything that was answered is in the store. Faults: `store_unavailable`. Not in turn. */
  sent(): Promise<void> {
    return this.#answered.sent();
  }

  publishChanges(by: By, maxBytes?: number, change?: OwnChange): Promise<string | undefined> {
    return this.#commands.publish(by, maxBytes, change);
  }

  commandRuns(
    by: By,
    overlapped: (at: string) => void,
    onlyHere: (id: string) => void = () => {},
  ): () => void {
    return this.#context.commands.add(by, overlapped, onlyHere);
  }

  /** An object of this workspace: from this machine's archive, or from the store. */
  content(hash: string): Promise<Uint8Array> {
    return this.#context.contents.get(hash);
  }

  refresh(effect: "reads" | "writes", files?: readonly (readonly string[])[]): Promise<void> {
    return this.#freshness.refresh(effect, files);
  }

  /** Publishes what has waited for the store. */
  #goOn(): void {
    if (!this.#commands.goOn()) this.#answered.goOn();
  }

  /** Calls `action` when everything has ended. */
  onClose(action: () => void): void {
    this.#onClose = action;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#context.isClosed) return;
    this.#unsubscribe();
    try {
      await this.sent();
      if (!this.#context.unsent.mixed) this.#context.unsent.forget();
    } catch (error) {
      this.#context.warn(
        `answered changes are not in the store (${errorText(error)}); the next start with this directory sends them`,
      );
    }
    this.#context.close();
    this.start.filling?.stop();
    await this.#context.turns.take(async () => {});
    this.#onClose();
    this.#onClose = () => {};
  }
}
