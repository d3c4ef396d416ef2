// Appends entries to the log: what is to be done here afterwards, and what the directory holds already.
import { Fault } from "../fault.ts";
import type { Appended, AppendOptions, Entry, Revision } from "../store/store.ts";
import type { By } from "../workspace/archive/log.ts";
import { Behind } from "../workspace/commit/publication.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { entryOf } from "./entry-body.ts";
import { publicationOf } from "./publication-of.ts";
import type { ReplicaContext } from "./replica-context.ts";
import { appendFault, isPassing, withoutAnswer } from "./store-faults.ts";
import { Turns } from "./turns.ts";

export interface PublishedHere {
  /** The content that the workspace begins with: whether this is the end of it. */
  readonly complete?: boolean | undefined;
  readonly maxBytes?: number | undefined;
  /** Of the first entry. */
  readonly id?: string | undefined;
}

/** An entry that was sent. It can be in the log only as the one after that revision. */
interface SentEntry {
  readonly publication: Publication;
  readonly complete: boolean | undefined;
  readonly onto: Revision;
}

export class EntrySender {
  publishedBytes = 0;
  /** Until what was appended is done here too. */
  isAppending = false;
  readonly #context: ReplicaContext;
  /** The store has answered: what waits for it can be sent. */
  readonly #goOn: () => void;
  /** What the directory holds already and was sent without an answer: it may be in the log, or arrive later. */
  readonly #unanswered = new Map<string, SentEntry>();
  /** Entries of an import, and those that show that it goes on. */
  readonly #imported = new Turns();

  constructor(context: ReplicaContext, goOn: () => void) {
    this.#context = context;
    this.#goOn = goOn;
    context.head.onAdvance(() => {
      for (const [id, { onto }] of this.#unanswered)
        if (onto < context.head.revision) this.#unanswered.delete(id);
      this.isAppending = false;
    });
  }

  /** Publishes what is done here afterwards. Rejects with `Behind` where others were faster. */
  async publish(
    publication: Publication,
    complete?: boolean,
    ownLimit = Infinity,
    onto = this.#context.head.revision,
  ): Promise<void> {
    const { head, growth, options } = this.#context;
    const maxBytes = Math.min(ownLimit, options.maxBytes ?? Infinity);
    const entry = entryOf(publication, complete);
    const objects = complete === undefined ? [...publication.contents] : []; // an import has put them before
    const limit = maxBytes === Infinity ? undefined : maxBytes;
    const after = onto === head.revision ? head.id : undefined;
    const { result } = await this.#append(onto, entry, { objects, maxBytes: limit, after });
    if (result === "appended") {
      this.publishedBytes += entry.bytes;
      return growth.note(growth.now + entry.bytes);
    }
    if (result === "stale") throw new Behind();
    throw appendFault(result, maxBytes, growth.now);
  }

  async #append(onto: Revision, entry: Entry, options: AppendOptions): Promise<Appended> {
    const { store, id, reach } = this.#context;
    this.isAppending = true;
    try {
      const appended = await store.append(id, onto, entry, options);
      this.isAppending = appended.result === "appended";
      reach.answers();
      this.#goOn();
      return appended;
    } catch (error) {
      this.isAppending = false;
      this.#context.isDown(error);
      throw error instanceof Fault && isPassing(error) ? withoutAnswer(error) : error;
    }
  }

  /** Publishes what the directory holds already. The id of the change. */
  async publishHere(
    operations: readonly Operation[],
    by: By,
    { complete, maxBytes, id = this.#context.newId() }: PublishedHere,
  ): Promise<string> {
    const publication = publicationOf(this.#context.copy, id, by, operations);
    if (complete === undefined) await this.#publishAs(publication, complete, maxBytes);
    else {
      await this.#context.store.put([...publication.contents]);
      await this.#imported.take(() => this.#publishAs(publication, complete, maxBytes));
    }
    return id;
  }

  /** Shows those who wait for an import that it goes on, however long reading or sending its files takes. */
  async showImport(by: By): Promise<void> {
    const nothing = { id: this.#context.newId(), by, operations: [], contents: new Map() };
    await this.#imported.take(() => this.#publishAs(nothing, false));
  }

  async #publishAs(publication: Publication, complete?: boolean, maxBytes?: number): Promise<void> {
    const { head } = this.#context;
    const sent = { publication, complete, onto: head.revision };
    await this.publish(publication, complete, maxBytes).catch(error => {
      if (Fault.is(error, "store_unavailable")) this.#unanswered.set(publication.id, sent);
      throw error;
    });
    // A look at the log may have found it already.
    if (head.revision === sent.onto) head.advance(publication.operations, publication.id);
  }

  /**
   * Sends an entry that got no answer again, as it was. The first one may still arrive, and the store takes a second one
   * with its id for the same: with other content, that would be lost.
   */
  async sendAgain(id: string, maxBytes?: number): Promise<string | undefined> {
    const { head, waiting, commands } = this.#context;
    const sent = this.#unanswered.get(id);
    if (sent?.onto !== head.revision) return undefined;
    const { publication, complete } = sent;
    await this.#publishAs(publication, complete, maxBytes);
    if (waiting.has(id)) waiting.noteUsed(id, publication.operations);
    commands.notePublished(id, publication.by);
    return id;
  }

  /**
   * The same for those whose ids were never returned, before there is another one: as long as the store takes nothing, each
   * attempt would otherwise be one more. Rejects with `Behind` where others were faster. Resolves to whether there are any.
   */
  async sendUnanswered(): Promise<boolean> {
    const ids = [...this.#unanswered.keys()];
    for (const id of ids) {
      if (this.#context.waiting.has(id)) continue;
      try {
        await this.sendAgain(id);
      } catch (error) {
        if (!Fault.is(error, "history_full")) throw error;
        this.#unanswered.delete(id);
      }
    }
    return ids.length > 0;
  }

  /** Whether an entry of the log is one that got no answer. */
  found(id: string): boolean {
    return this.#unanswered.delete(id);
  }
}
