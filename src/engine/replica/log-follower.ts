// Applies what others have appended to the copy. Everything here happens in turn.
import type { LogEntry, Revision } from "../store/store.ts";
import { replicated } from "../workspace/archive/log.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { RelatedPaths } from "../workspace/within.ts";
import { bodyOf } from "./entry-body.ts";
import { entryParts, pathsOf } from "./entry-parts.ts";
import type { EntrySender } from "./entry-sender.ts";
import { isDisagreement } from "./local-copy.ts";
import { endsEarly, inSequence } from "./read-log.ts";
import type { ReplicaContext } from "./replica-context.ts";
import { lostChanges } from "./store-faults.ts";
import { TreeState } from "./tree-state.ts";

const batch = 200;
/** Changes that were sent and may come back with the log. */
const mostBases = 16;

type Get = (hash: string) => Promise<Uint8Array>;

export class LogFollower {
  /** The copy was found not to be what the log says, and is not repaired yet. */
  isBroken = false;
  readonly #context: ReplicaContext;
  readonly #sender: EntrySender;
  /** What sent changes were computed from, by change and path, until they are done here. */
  readonly #bases = new Map<string, Publication["bases"]>();

  constructor(context: ReplicaContext, sender: EntrySender) {
    this.#context = context;
    this.#sender = sender;
  }

  /** A change that was sent but not made here comes back with the log. Then its own base tells what it changed. */
  note({ id, bases }: Publication): void {
    this.#bases.set(id, bases);
    const [oldest] = this.#bases.keys();
    if (this.#bases.size > mostBases && oldest !== undefined) this.#bases.delete(oldest);
  }

  /**
   * What was changed in a file gave way. Compared with what changes sent later were computed from, it would seem to have
   * been removed here: so they are compared with the log.
   */
  #forgetBases(at: string): void {
    for (const [id, bases] of this.#bases)
      if (bases?.has(at)) this.#bases.set(id, new Map([...bases].filter(([path]) => path !== at)));
  }

  /** What was sent is done here. */
  done({ id, operations }: Publication): void {
    this.#context.head.advance(operations, id);
    this.#bases.delete(id);
  }

  /** Applies what is missing. */
  async pull(): Promise<void> {
    if (this.isBroken) await this.repair();
    const { store, id, head } = this.#context;
    for (;;) {
      const known = Math.max(0, head.revision - 1);
      const entries = inSequence(id, await store.entries(id, known, batch), known);
      if (head.revision > 0 && entries.length > 0) this.assertSame(entries[0], head.id);
      for (const entry of entries) if (entry.revision > head.revision) await this.#take(entry);
      if (entries.length < batch) return;
    }
  }

  /** The same after an append was refused as stale. If nothing is missing, the head is not that of the log. */
  async pullMissed(): Promise<void> {
    const { store, id, head } = this.#context;
    const before = head.revision;
    await this.pull();
    if (head.revision > before) return;
    const there = (await store.info(id))?.revision ?? before;
    await this.pull();
    this.assertReached(there, before);
  }

  /** Faults: `store_unavailable` where the log has another entry in the place of one that is here. */
  assertSame(entry: Pick<LogEntry, "id"> | undefined, id: string | undefined): void {
    if (entry?.id === id) return;
    const fault = lostChanges();
    this.#context.isDown(fault); // reads say so, too
    throw fault;
  }

  /** Faults: `store_unavailable` where the store's head is not where its log has led. */
  assertReached(there: Revision, known: Revision): void {
    const { id, head } = this.#context;
    if (there < known) throw lostChanges();
    if (!(head.revision >= there)) throw endsEarly(id, head.revision, there);
  }

  async #take(entry: LogEntry): Promise<void> {
    const { copy, head, unsent, waiting, commands, contents } = this.#context;
    const { by, operations } = bodyOf(entry);
    copy.workspace.archive.changes.noteId(entry.id);
    // Sent, and done here: merged into what programs have written since, it would overlap with itself.
    if (entry.id === unsent.first?.id || this.#sender.found(entry.id)) {
      if (entry.id === unsent.first?.id) unsent.sent(); // sending it again would append it again
      if (waiting.has(entry.id)) waiting.noteUsed(entry.id, operations);
      commands.notePublished(entry.id, by);
      return head.advance(operations, entry.id);
    }
    this.#notePulled(operations);
    const get = await contents.fetched(operations);
    const isAhead = !unsent.isEmpty || unsent.mixed;
    unsent.mixed = isAhead;
    try {
      const bases = this.#bases.get(entry.id);
      const overlapped = (at: string) => {
        this.#forgetBases(at);
        this.#tellOverlap(at, entry, entry.id);
      };
      // A command that waits for the store has ended: it cannot be told.
      const how = { overlapped, bases, holdsAnswered: isAhead || waiting.count > 0 };
      await copy.apply(entry.id, by, operations, head.state, get, how);
      head.advance(operations, entry.id);
    } catch (error) {
      if (!isDisagreement(error)) throw error;
      if (isAhead) return await this.#takeOver(entry, get);
      await this.#overrule(entry, get, error.code);
    }
  }

  /**
   * The copy is not what the log says it is. The log decides, also about what commands have done in the paths of the
   * entry. While some run, or have work here that is not in the store yet, the rest is theirs. The paths are made what
   * they were before the entry, so that it is in the history as everywhere. What gives way is named.
   */
  async #overrule(entry: LogEntry, get: Get, code: string): Promise<void> {
    const { copy, head, unsent, commands } = this.#context;
    const { by, operations } = bodyOf(entry);
    const isScoped = commands.count > 0 || unsent.isExpected;
    const compared = isScoped ? "its paths" : "the whole copy";
    this.#context.warn(`revision ${entry.revision} does not apply (${code}); comparing ${compared}`);
    const paths = new RelatedPaths();
    for (const at of pathsOf(operations)) paths.add(at);
    const isTouched = ({ at }: Operation) => !isScoped || paths.has(at);
    const ours = (await copy.files.unpublished(head.state)).filter(isTouched);
    await this.repairWith((await copy.files.unapplied(head.state)).filter(isTouched));
    try {
      await copy.apply(entry.id, by, operations, head.state, get);
      head.advance(operations, entry.id);
    } catch (error) {
      if (!isDisagreement(error)) throw error;
      this.isBroken = true; // until it is repaired, its difference from the log is not a change that was made here
      head.advance(operations, entry.id);
      await this.repairWith((await copy.files.unapplied(head.state)).filter(isTouched));
    }
    for (const one of ours) if (!head.state.has(one)) this.#tellOverlap(one.at, entry);
  }

  /** The same over changes that are not sent yet: each operation as far as it can be done. */
  async #takeOver(entry: LogEntry, get: Get): Promise<void> {
    const { copy, head } = this.#context;
    const { by, operations } = bodyOf(entry);
    for (const operation of operations) {
      const id = this.#context.newId();
      try {
        const overlapped = (at: string) => this.#tellOverlap(at, entry, id);
        const how = { overlapped, holdsAnswered: true };
        await copy.apply(id, by, [operation], head.state, get, how);
      } catch (error) {
        if (!isDisagreement(error)) throw error;
      }
    }
    head.advance(operations, entry.id);
  }

  /** `change`: the one here that replaced what gives way. Its undo restores that. */
  #tellOverlap(at: string, { revision }: LogEntry, change?: string): void {
    this.#context.commands.tellOverlap(at);
    const restored = change && `; undo ${change} with the path ${at} on this server restores what was here`;
    this.#context.warn(
      `${at} was changed here and by revision ${revision} in the same place: that revision stays, the change made here is in the history${restored ?? ""}`,
    );
  }

  #notePulled(operations: readonly Operation[]): void {
    const { commands, root } = this.#context;
    if (commands.count > 0) commands.notePulled(pathsOf(operations).map(at => under(root, at)));
  }

  /** Makes the copy what the log says, whatever it is now. */
  async repair(): Promise<void> {
    const { copy, head, commands } = this.#context;
    const operations = await copy.files.unapplied(head.state);
    for (const { at } of operations) commands.tellOverlap(at);
    await this.repairWith(operations);
  }

  async repairWith(operations: readonly Operation[]): Promise<void> {
    this.#notePulled(operations);
    for (const { at } of operations) this.#forgetBases(at);
    for (const part of entryParts(operations)) await this.fetch(part.operations);
    this.isBroken = false;
  }

  async fetch(operations: readonly Operation[]): Promise<void> {
    if (operations.length === 0) return;
    const { copy, contents } = this.#context;
    const get = await contents.fetched(operations);
    const by = { action: replicated, client: "" };
    await copy.apply(this.#context.newId(), by, operations, new TreeState(), get);
  }
}
