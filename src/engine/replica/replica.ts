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
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import type {
  Appended,
  AppendOptions,
  Entry,
  LogEntry,
  Origin,
  Revision,
  WorkspaceId,
  WorkspaceStore,
} from "../store/store.ts";
import { contentHash } from "../text/version.ts";
import { type By, replicated } from "../workspace/archive/log.ts";
import { Behind, type OwnChange, type OwnPaths, type Replication } from "../workspace/commit/publication.ts";
import type { Operation, Publication, Publish } from "../workspace/commit/publish.ts";
import { faultOf, isUnanswered, isWithoutRoom } from "../workspace/errno.ts";
import { under } from "../workspace/root.ts";
import { isWithinAny, RelatedPaths } from "../workspace/within.ts";
import { type CommandHere, CommandsHere, severalAuthors, unknownAuthor } from "./commands-here.ts";
import { WorkspaceContents } from "./contents.ts";
import { bodyOf, entryOf } from "./entry-body.ts";
import { entryParts } from "./entry-parts.ts";
import { Filling } from "./filling.ts";
import { FirstFiles } from "./first-files.ts";
import { foreignPaths } from "./foreign-paths.ts";
import { Growth } from "./growth.ts";
import { isDisagreement, type LocalCopy } from "./local-copy.ts";
import { publicationOf, without } from "./publication-of.ts";
import { endsEarly, entriesUntil, inSequence, readOrigin, treesUntil } from "./read-log.ts";
import type { ReplicaNote } from "./replica-note.ts";
import type { ReplicaOptions } from "./replica-options.ts";
import {
  appendFault,
  errorText,
  historyFull,
  isOutOfReach,
  isPassing,
  lostChanges,
  refusesChanges,
  withoutAnswer,
} from "./store-faults.ts";
import { StoreReach } from "./store-reach.ts";
import { orTooLate } from "./too-late.ts";
import { TreeState } from "./tree-state.ts";
import { SharedQuestion, Turns } from "./turns.ts";
import { UnsentChanges } from "./unsent-changes.ts";

const batch = 200;
const attempts = 50;
/** How long a read waits for a store that does not answer. Afterwards reads do not wait until it is back. */
const patienceMs = 1500;
/** Files in a line of the log. */
const mostNamed = 10;
/** After a command's changes could not be published because of this machine. */
const againMs = 1000;
/** Changes that were sent and may come back with the log. */
const mostBases = 16;

/** What one command did. */
interface PendingChange {
  readonly by: By;
  readonly change: OwnChange;
  readonly maxBytes: number | undefined;
}

/** Whether the store cannot be reached, has no room, or takes no changes: none at all, not only this one. */
function isOfStore(error: unknown): boolean {
  return isWithoutRoom(error) || isUnanswered(error) || refusesChanges(error);
}

interface Published {
  /** The content that the workspace begins with: whether this is all of it. */
  readonly complete?: boolean | undefined;
  readonly maxBytes?: number | undefined;
  readonly own?: OwnPaths | undefined;
  /** Of the first entry. */
  readonly id?: string | undefined;
}

/** An entry that was sent. It can be in the log only as the one after that revision. */
interface SentEntry {
  readonly publication: Publication;
  readonly onto: Revision;
}

export class Replica implements Replication, AsyncDisposable {
  readonly id: WorkspaceId;
  readonly state = new TreeState();
  publishedBytes = 0;
  readonly #growth = new Growth();
  readonly #store: WorkspaceStore;
  readonly #copy: LocalCopy;
  readonly #contents: WorkspaceContents;
  readonly #options: ReplicaOptions;
  readonly #turns = new Turns();
  /** Answered changes are sent one after the other, beside what happens in turn. */
  readonly #sending = new Turns();
  readonly #question = new SharedQuestion(() => this.#catchUp());
  #unsubscribe = () => {};
  readonly #unsent: UnsentChanges;
  #revision: Revision = 0;
  /** The id of the entry at that revision. The store may have lost it, and have got others since. */
  #head: string | undefined;
  /** While files are being fetched. */
  #filling: Filling | undefined;
  #firstFiles: FirstFiles | undefined;
  readonly #reach: StoreReach;
  #closed = false;
  #appending = false;
  /** The copy was found not to be what the log says, and is not repaired yet. */
  #isBroken = false;
  /** The log is read, and files are not touched. */
  #replaying = false;
  /** Changes of commands that could not be published, by id. Each is tried again under its id and for its author. */
  readonly #pending = new Map<string, PendingChange>();
  /** Commands have changed files while the store could not be reached. */
  #unpublished: By | undefined;
  #onClose = () => {};
  /** What sent changes were computed from, by change and path, until they are done here. */
  readonly #bases = new Map<string, Publication["bases"]>();
  /** What the directory holds already and was sent without an answer: it may be in the log, or arrive later. */
  readonly #unanswered = new Map<string, SentEntry>();
  readonly #commands = new CommandsHere();
  /**
   * Ids of commands that are in the log, while there may be more to publish, with the paths of their entries. An id is
   * used once, and what those files hold since then is the work of others.
   */
  readonly #used = new Map<string, Set<string>>();
  #again: NodeJS.Timeout | undefined;
  /** Why answered changes could not be sent. */
  #sendFault: Fault | undefined;

  constructor(
    store: WorkspaceStore,
    id: WorkspaceId,
    copy: LocalCopy,
    note: ReplicaNote,
    options: ReplicaOptions = {},
  ) {
    this.#store = store;
    this.id = id;
    this.#copy = copy;
    this.#contents = new WorkspaceContents(store, id, copy.workspace.archive.objects);
    this.#options = options;
    this.#unsent = new UnsentChanges(note);
    this.#reach = new StoreReach(() => this.#question.answered(), options.warn);
  }

  /**
   * Follows the hints of the store from now on. Only once the log has been read as far as the directory is: reading the
   * log before that would apply the same entries, and count them twice.
   */
  follow(): void {
    this.#unsubscribe = this.#store.changed((workspace, revision) => {
      // An entry that this process appends is not news: its append reports it.
      const known = this.#revision + (this.#appending ? 1 : 0);
      if (workspace === this.id && revision > known) this.#question.answered().catch(() => {});
    });
  }

  get root(): string {
    return this.#copy.root;
  }

  /** Of the machine and the directory: a machine may have several. */
  get replica(): string {
    return `${hostname()}-${contentHash(Buffer.from(this.root)).slice(0, 4)}`;
  }

  get revision(): Revision {
    return this.#revision;
  }

  get storedBytes(): number {
    return this.#growth.now;
  }

  get bytesPerHour(): number {
    return this.#growth.perHour;
  }

  get staleMs(): number | undefined {
    return this.#reach.staleMs;
  }

  get staleCause(): Fault | undefined {
    return this.#reach.cause;
  }

  async write<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T> {
    if (this.#options.durability !== "local")
      return await this.#turns.take(() => this.#writeThrough(attempt, maxBytes));
    if (this.#sendFault !== undefined || this.#unsent.isFull) await this.sent();
    if (maxBytes !== undefined && this.storedBytes >= maxBytes) throw historyFull(maxBytes, this.storedBytes);
    return await this.#turns.take(() => this.#writeHere(attempt));
  }

  async #writeThrough<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T> {
    if (this.#isBroken) await this.#pull();
    await this.#publishPendingNow().catch(error => {
      if (isOfStore(error)) throw error; // which would not take this change either
    });
    for (let round = 1; ; round++) {
      const published: Publication[] = [];
      try {
        const result = await attempt(async publication => {
          // A program has changed a file since the first was sent. What comes out differently is the program's.
          const rest = published.length > 0 ? this.#ofOthers(without(publication, published)) : publication;
          if (rest !== publication && rest.operations.length === 0) return;
          if (published.length === 0) await this.#publishBefore(rest, maxBytes);
          this.#note(rest);
          await this.#publish(rest, undefined, maxBytes, this.#revision + published.length);
          published.push(rest);
          this.#commands.notePublished(rest.id, rest.by);
        });
        for (const { id, operations } of published) {
          this.#advance(operations, id);
          this.#bases.delete(id);
        }
        return result;
      } catch (error) {
        if (published.length > 0) throw await this.#notApplied(published, error);
        if (!(error instanceof Behind)) throw error;
        if (round >= attempts) throw new Fault("changed_meanwhile", { path: this.#copy.root });
      }
      await this.#pullMissed();
      if (round > 2) await setTimeout(Math.random() * Math.min(200, 10 * round)); // a hot log: do not all hurry
    }
  }

  /**
   * What a program has written into the files of a change goes first, as a change of its own: on every machine, undoing
   * the one leaves the other. Where one command runs, it is that command's.
   */
  async #publishBefore({ operations, bases }: Publication, maxBytes?: number): Promise<void> {
    const before = await this.#copy.unpublishedIn(operations, this.state, bases);
    if (before.length === 0) return;
    const author = this.#commands.soleAuthor;
    for (const part of entryParts(before)) {
      const id = await this.#publishHere(part.operations, author, { maxBytes });
      this.#commands.notePublished(id, author);
    }
  }

  #ofOthers(publication: Publication): Publication {
    const id = this.#copy.workspace.archive.changes.newId();
    return { ...publication, id, by: this.#commands.soleAuthor };
  }

  /** Publishes what the directory holds already. The id of the change. */
  async #publishHere(
    operations: readonly Operation[],
    by: By,
    { complete, maxBytes, id = this.#copy.workspace.archive.changes.newId() }: Omit<Published, "own">,
  ): Promise<string> {
    const publication = publicationOf(this.#copy, id, by, operations);
    await this.#publishAs(publication, complete, maxBytes);
    return id;
  }

  async #publishAs(publication: Publication, complete?: boolean, maxBytes?: number): Promise<void> {
    const sent = { publication, onto: this.#revision };
    await this.#publish(publication, complete, maxBytes).catch(error => {
      if (Fault.is(error, "store_unavailable")) this.#unanswered.set(publication.id, sent);
      throw error;
    });
    this.#advance(publication.operations, publication.id);
  }

  /**
   * Sends an entry that got no answer again, as it was. The first one may still arrive, and the store takes a second one
   * with its id for the same: with other content, that would be lost.
   */
  async #sendAgain(id: string, maxBytes?: number): Promise<string | undefined> {
    const sent = this.#unanswered.get(id);
    if (sent?.onto !== this.#revision) return undefined;
    await this.#publishAs(sent.publication, undefined, maxBytes);
    this.#noteUsed(id, sent.publication.operations);
    return id;
  }

  #noteUsed(id: string, operations: readonly Operation[]): void {
    const paths = this.#used.get(id) ?? new Set();
    for (const path of pathsOf(operations)) paths.add(path);
    this.#used.set(id, paths);
  }

  /** A change that was sent but not made here comes back with the log. Then its own base tells what it changed. */
  #note({ id, bases }: Publication): void {
    this.#bases.set(id, bases);
    const [oldest] = this.#bases.keys();
    if (this.#bases.size > mostBases && oldest !== undefined) this.#bases.delete(oldest);
  }

  /**
   * For changes that are in the log, but whose commit failed here. A caller that took the failure for a refusal would
   * make the changes a second time. The changes come with the log: now, or the next time it is read.
   */
  async #notApplied(published: readonly Publication[], cause: unknown): Promise<Fault> {
    await this.#pull().catch(() => void this.#question.answered().catch(() => {}));
    const paths = published.flatMap(({ operations }) => operations.map(({ at }) => at));
    return new Fault("not_applied", { paths: [...new Set(paths)] }, { cause });
  }

  /** Done when it is on this machine. */
  async #writeHere<T>(attempt: (publish: Publish) => Promise<T>): Promise<T> {
    if (this.#isBroken) await this.#pull();
    let made: Publication | undefined;
    const result = await attempt(async publication => {
      this.#unsent.expect({ revision: this.#revision, id: this.#head });
      made = publication;
    });
    if (made !== undefined) {
      this.#unsent.add(made);
      this.#sendSoon();
    }
    return result;
  }

  #sendSoon(): void {
    const before = this.#sendFault && errorText(this.#sendFault);
    this.sent().catch(error => {
      if (!this.#closed && errorText(error) !== before)
        this.#options.warn?.(`changes are not in the store yet: ${errorText(error)}`);
    });
  }

  /** Resolves when everything that was answered is in the store. Faults: `store_unavailable`. Not in turn. */
  sent(): Promise<void> {
    return this.#unsent.isEmpty ? Promise.resolve() : this.#sending.take(() => this.#send());
  }

  async #send(): Promise<void> {
    try {
      for (let round = 1; !this.#closed; ) {
        const next = this.#unsent.first;
        if (next === undefined) break;
        try {
          if (this.#unsent.mixed) await this.#turns.take(() => this.#sendDifference(next.by));
          else await this.#sendNext(next);
        } catch (error) {
          if (!(error instanceof Behind) || round++ >= attempts) throw error;
          await this.#turns.take(() => this.#pullMissed());
        }
      }
      this.#sendFault = undefined;
    } catch (error) {
      if (error instanceof Fault) this.#sendFault = error;
      if (isOutOfReach(error)) this.#isDown(error);
      if (refusesChanges(error)) this.#tryAgainSoon();
      throw error;
    }
  }

  /** Writes go on while the store is asked. */
  async #sendNext(next: Publication): Promise<void> {
    const revision = this.#revision;
    await this.#publish(next);
    await this.#turns.take(async () => {
      // A look at the log may have found it already.
      if (this.#revision === revision) this.#advance(next.operations, next.id);
      if (this.#unsent.first === next) this.#unsent.sent();
    });
  }

  async #sendDifference(by: By): Promise<void> {
    await this.#publishDifference(by);
    this.#unsent.allSent();
  }

  async publishChanges(by: By, maxBytes?: number, change?: OwnChange): Promise<string | undefined> {
    const command = this.#commands.of(by);
    if (command !== undefined && change !== undefined) command.isSeparate = change.own !== undefined;
    const { id, own } = change ?? {};
    try {
      await this.sent();
      const made = await this.#turns.take(async () => {
        await this.#publishPendingNow();
        if (change === undefined && command?.isSeparate) return await this.#publishRest(command, maxBytes);
        const published = await this.#publishChanges(this.#commands.withOthers(by), { maxBytes, own, id });
        if (own === undefined) this.#nothingIsLeft();
        return published;
      });
      const known = id !== undefined && this.#used.delete(id) ? id : (made ?? command?.published);
      if (id !== undefined && known === undefined) this.#commands.tellOnlyHere(id);
      return known;
    } catch (error) {
      // What does not fit is not tried again: the next command publishes it, if there is room then.
      if (!Fault.is(error, "history_full")) this.#publishLater(by, maxBytes, change);
      else if (id !== undefined && !this.#used.delete(id)) this.#commands.tellOnlyHere(id);
      this.#notPublished(error);
      throw error;
    }
  }

  /**
   * The rest is the work of commands that still run, and published with that. But where others have changed a file since,
   * it may as well be this one's: so the answer waits for that, and it is published without an author.
   */
  async #publishRest(command: CommandHere, maxBytes: number | undefined): Promise<string | undefined> {
    const isAlone = () => this.#commands.count === 1;
    const author = isAlone() ? command.by : severalAuthors;
    const made = await this.#publishChanges(author, { maxBytes, own: this.#pulledPaths(command) });
    if (author === severalAuthors && made !== undefined && this.#commands.count === 2)
      for (const one of this.#commands) one.published ??= made;
    if (!isAlone()) return made;
    // It was there before the command, or a background command has made it meanwhile.
    await this.#publishChanges(unknownAuthor, { maxBytes, own: isAlone });
    if (isAlone()) this.#nothingIsLeft();
    return made;
  }

  #notPublished(error: unknown): void {
    if (isOfStore(error)) this.#tryAgainSoon();
    this.#isDown(error);
  }

  get waitingCommands(): number {
    return this.#pending.size;
  }

  #pulledPaths({ pulled }: CommandHere): OwnPaths {
    return path => pulled.has(path);
  }

  #notePulled(operations: readonly Operation[]): void {
    if (this.#commands.count > 0)
      this.#commands.notePulled(pathsOf(operations).map(at => under(this.root, at)));
  }

  #nothingIsLeft(): void {
    this.#unpublished = undefined;
    // Otherwise a change may just be happening here that is sent later.
    if (this.#options.durability !== "local") this.#unsent.forget();
  }

  /** The next start does it if this process ends before. */
  #publishLater(by: By, maxBytes: number | undefined, change: OwnChange | undefined): void {
    try {
      this.#unsent.expect({ revision: this.#revision, id: this.#head });
    } catch (error) {
      this.#options.warn?.(`the next start will not send the changes of commands: ${errorText(error)}`);
    }
    if (change?.id !== undefined) this.#pending.set(change.id, { by, change, maxBytes });
    const earlier = this.#unpublished;
    const isOnly = earlier === undefined || earlier.connection === by.connection;
    this.#unpublished = isOnly ? by : unknownAuthor;
  }

  /** Retries after a full or failing disk, here or under the store, which sends no notification when it recovers. */
  #tryAgainSoon(): void {
    this.#again ??= globalThis
      .setTimeout(() => {
        this.#again = undefined;
        if (!this.#closed) this.#question.answered().catch(() => {});
      }, againMs)
      .unref();
  }

  /**
   * Changes of commands that the store did not take when they ended. They come before any other change: one of the same
   * files would take their lines along, without their author.
   */
  async #publishPendingNow(): Promise<void> {
    for (const [id, { by, change, maxBytes }] of [...this.#pending]) {
      try {
        await this.#publishChanges(this.#commands.withOthers(by), { maxBytes, own: change.own, id });
      } catch (error) {
        // What does not fit is not tried again.
        if (!Fault.is(error, "history_full")) throw error;
      }
      if (!this.#used.has(id)) this.#commands.tellOnlyHere(id);
      this.#pending.delete(id);
      this.#used.delete(id);
    }
  }

  async #publishChanges(by: By, what: Published = {}): Promise<string | undefined> {
    await this.#pull();
    for (let round = 1; ; round++) {
      try {
        return await this.#publishDifference(by, what);
      } catch (error) {
        if (!(error instanceof Behind) || round >= attempts) throw error;
      }
      await this.#pullMissed();
    }
  }

  /** What the directory holds and the log does not. The id of the first entry, if there is one. */
  async #publishDifference(by: By, { own, complete, ...how }: Published = {}): Promise<string | undefined> {
    let id = how.id && (await this.#sendAgain(how.id, how.maxBytes));
    const sent = how.id === undefined ? undefined : this.#used.get(how.id);
    const isOwn = ({ at }: Operation) => !sent?.has(at) && (own === undefined || own(under(this.root, at)));
    const operations = (await this.#copy.unpublished(this.state)).filter(isOwn);
    if (operations.length === 0 && complete === undefined) return id;
    for (const part of entryParts(operations)) {
      const isComplete = complete === undefined ? undefined : part.last;
      const free = how.id !== undefined && !this.#used.has(how.id) ? how.id : undefined;
      const published = await this.#publishHere(part.operations, by, {
        ...how,
        id: free,
        complete: isComplete,
      });
      if (free !== undefined) this.#noteUsed(free, part.operations);
      id ??= published;
    }
    return id;
  }

  /** Publishes a directory as the first content of the workspace. */
  async import(by: By): Promise<void> {
    await this.#turns.take(() => this.#publishChanges(by, { complete: true }));
  }

  /**
   * Sends what a process that died has answered and not sent. The log is read up to where that began. What is gone
   * although nothing here removed it is not sent, and comes back; so is what was put back although nothing here did.
   */
  async recover(origin: Origin | undefined): Promise<void> {
    this.#unsent.mixed = true;
    const found = await this.#copy.unpublished(this.state);
    const foreign = await foreignPaths(
      found,
      found.filter(one => this.#copy.isGone(one)),
      this.root,
      this.#copy.workspace.archive.changes,
      () => treesUntil(this.#store, this.id, origin, this.#revision),
    );
    const own: OwnPaths = path => !isWithinAny(path, foreign.paths);
    try {
      await this.#turns.take(() => this.#publishChanges({ action: "recover", client: "" }, { own }));
    } catch (error) {
      if (!Fault.is(error, "history_full")) throw error;
      // They stay here, and the next command or start publishes them, if there is room then.
      return this.#options.warn?.(`answered changes are not in the store (${errorText(error)})`);
    }
    this.#unsent.allSent();
    this.#unsent.forget();
    if (foreign.paths.size === 0) return;
    const tell = (paths: readonly string[], what: string) =>
      paths.length > 0 &&
      this.#options.warn?.(
        `${paths.length} paths ${what}: ${someOf(paths)}. They are fetched from the store`,
      );
    tell(foreign.gone, "are gone from this directory, and no change here removed them");
    tell(foreign.earlier, "of this directory hold what they held earlier, and no change here put that back");
    await this.fill();
  }

  /** What the directory holds is not sent: it is set aside. */
  forgetUnsent(): void {
    this.#unsent.forget();
  }

  async #publish(
    publication: Publication,
    complete?: boolean,
    ownLimit = Infinity,
    onto = this.#revision,
  ): Promise<void> {
    const maxBytes = Math.min(ownLimit, this.#options.maxBytes ?? Infinity);
    const entry = entryOf(publication, complete);
    const objects = [...publication.contents];
    const limit = maxBytes === Infinity ? undefined : maxBytes;
    const after = onto === this.#revision ? this.#head : undefined;
    const { result } = await this.#append(onto, entry, { objects, maxBytes: limit, after });
    if (result === "appended") {
      this.publishedBytes += entry.bytes;
      return this.#growth.note(this.storedBytes + entry.bytes);
    }
    if (result === "stale") throw new Behind();
    throw appendFault(result, maxBytes, this.storedBytes);
  }

  async #append(onto: Revision, entry: Entry, options: AppendOptions): Promise<Appended> {
    this.#appending = true;
    try {
      const appended = await this.#store.append(this.id, onto, entry, options);
      this.#appending = appended.result === "appended"; // until it is done here too
      this.#reach.answers();
      this.#goOn();
      return appended;
    } catch (error) {
      this.#appending = false;
      this.#isDown(error);
      throw error instanceof Fault && isPassing(error) ? withoutAnswer(error) : error;
    }
  }

  #advance(operations: readonly Operation[], id: string): void {
    this.#copy.workspace.archive.changes.noteId(id);
    this.state.applyAll(operations);
    this.#revision++;
    this.#head = id;
    for (const [id, { onto }] of this.#unanswered) if (onto < this.#revision) this.#unanswered.delete(id);
    this.#appending = false;
    if (!this.#replaying) this.#unsent.reached({ revision: this.#revision, id });
  }

  /** Applies what others have appended. In turn. */
  async #pull(): Promise<void> {
    if (this.#isBroken) await this.repair();
    for (;;) {
      const known = Math.max(0, this.#revision - 1);
      const entries = inSequence(this.id, await this.#store.entries(this.id, known, batch), known);
      if (this.#revision > 0 && entries.length > 0) this.#assertSame(entries[0], this.#head);
      for (const entry of entries) if (entry.revision > this.#revision) await this.#take(entry);
      if (entries.length < batch) return;
    }
  }

  /** The same after an append was refused as stale. If nothing is missing, the head is not that of the log. In turn. */
  async #pullMissed(): Promise<void> {
    const before = this.#revision;
    await this.#pull();
    if (this.#revision > before) return;
    const head = (await this.#store.info(this.id))?.revision ?? before;
    await this.#pull();
    this.#assertReached(head, before);
  }

  /** Faults: `store_unavailable` where the log has another entry in the place of one that is here. */
  #assertSame(entry: LogEntry | undefined, id: string | undefined): void {
    if (entry?.id === id) return;
    const fault = lostChanges();
    this.#isDown(fault); // reads say so, too
    throw fault;
  }

  /** Faults: `store_unavailable` where the store's head is not where its log has led. */
  #assertReached(head: Revision, known: Revision): void {
    if (head < known) throw lostChanges();
    if (!(this.#revision >= head)) throw endsEarly(this.id, this.#revision, head);
  }

  async #take(entry: LogEntry): Promise<void> {
    const { by, operations } = bodyOf(entry);
    this.#copy.workspace.archive.changes.noteId(entry.id);
    // Sent, and done here: merged into what programs have written since, it would overlap with itself.
    if (entry.id === this.#unsent.first?.id || this.#unanswered.delete(entry.id)) {
      if (entry.id === this.#unsent.first?.id) this.#unsent.sent(); // sending it again would append it again
      this.#noteUsed(entry.id, operations);
      this.#commands.notePublished(entry.id, by);
      return this.#advance(operations, entry.id);
    }
    this.#notePulled(operations);
    const get = await this.#contents.fetched(operations);
    const isAhead = !this.#unsent.isEmpty || this.#unsent.mixed;
    this.#unsent.mixed = isAhead;
    try {
      const bases = this.#bases.get(entry.id);
      const overlapped = (at: string) => this.#tellOverlap(at, entry, entry.id);
      const how = { overlapped, bases, holdsAnswered: isAhead };
      await this.#copy.apply(entry.id, by, operations, this.state, get, how);
      this.#advance(operations, entry.id);
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
  async #overrule(entry: LogEntry, get: (hash: string) => Promise<Uint8Array>, code: string): Promise<void> {
    const { by, operations } = bodyOf(entry);
    const isScoped = this.#commands.count > 0 || this.#unsent.isExpected;
    const compared = isScoped ? "its paths" : "the whole copy";
    this.#options.warn?.(`revision ${entry.revision} does not apply (${code}); comparing ${compared}`);
    const paths = new RelatedPaths();
    for (const at of pathsOf(operations)) paths.add(at);
    const isTouched = ({ at }: Operation) => !isScoped || paths.has(at);
    const ours = (await this.#copy.unpublished(this.state)).filter(isTouched);
    await this.#repairWith((await this.#copy.unapplied(this.state)).filter(isTouched));
    try {
      await this.#copy.apply(entry.id, by, operations, this.state, get);
      this.#advance(operations, entry.id);
    } catch (error) {
      if (!isDisagreement(error)) throw error;
      this.#isBroken = true; // until it is repaired, its difference from the log is not a change that was made here
      this.#advance(operations, entry.id);
      await this.#repairWith((await this.#copy.unapplied(this.state)).filter(isTouched));
    }
    for (const one of ours) if (!this.state.has(one)) this.#tellOverlap(one.at, entry);
  }

  /** The same over changes that are not sent yet: each operation as far as it can be done. */
  async #takeOver(entry: LogEntry, get: (hash: string) => Promise<Uint8Array>): Promise<void> {
    const { by, operations } = bodyOf(entry);
    for (const operation of operations) {
      const id = this.#copy.workspace.archive.changes.newId();
      try {
        const overlapped = (at: string) => this.#tellOverlap(at, entry, id);
        const how = { overlapped, holdsAnswered: true };
        await this.#copy.apply(id, by, [operation], this.state, get, how);
      } catch (error) {
        if (!isDisagreement(error)) throw error;
      }
    }
    this.#advance(operations, entry.id);
  }

  commandRuns(
    by: By,
    overlapped: (at: string) => void,
    onlyHere: (id: string) => void = () => {},
  ): () => void {
    return this.#commands.add(by, overlapped, onlyHere);
  }

  /** `change`: the one here that replaced what gives way. Its undo restores that. */
  #tellOverlap(at: string, { revision }: LogEntry, change?: string): void {
    this.#commands.tellOverlap(at);
    const restored = change && `; undo ${change} with the path ${at} on this server restores what was here`;
    this.#options.warn?.(
      `${at} was changed here and by revision ${revision} in the same place: that revision stays, the change made here is in the history${restored ?? ""}`,
    );
  }

  /** An object of this workspace: from this machine's archive, or from the store. */
  content(hash: string): Promise<Uint8Array> {
    return this.#contents.get(hash);
  }

  /** Makes the copy what the log says, whatever it is now. */
  async repair(): Promise<void> {
    const operations = await this.#copy.unapplied(this.state);
    for (const { at } of operations) this.#commands.tellOverlap(at);
    await this.#repairWith(operations);
  }

  async #repairWith(operations: readonly Operation[]): Promise<void> {
    this.#notePulled(operations);
    for (const part of entryParts(operations)) await this.#fetch(part.operations);
    this.#isBroken = false;
  }

  async #fetch(operations: readonly Operation[]): Promise<void> {
    if (operations.length === 0) return;
    const get = await this.#contents.fetched(operations);
    const id = this.#copy.workspace.archive.changes.newId();
    await this.#copy.apply(id, { action: replicated, client: "" }, operations, new TreeState(), get);
  }

  /**
   * Undoably removes what the copy holds and the store does not: it has lost changes, or a process has died before it
   * sent them. Others may have written since, so it is for a person to decide what becomes of it.
   */
  async setAside(): Promise<void> {
    const files = await this.#copy.filesIn(await this.#copy.unapplied(this.state));
    const lost = await this.#contents.unknown([...files.values()].flatMap(one => [...one.values()]));
    const paths = [...files.values()].flatMap(one =>
      [...one].flatMap(([at, hash]) => (lost.has(hash) ? [at] : [])),
    );
    if (paths.length === 0) return;
    const operations = [...files].flatMap(([one, inside]) =>
      [...inside.values()].some(hash => lost.has(hash)) ? [one] : [],
    );
    const ids: string[] = [];
    for (const part of entryParts(operations)) {
      const id = this.#copy.workspace.archive.changes.newId();
      const get = await this.#contents.fetched(part.operations);
      const how = { irrevocable: "refuse" } as const;
      await this.#copy.apply(
        id,
        { action: "set_aside", client: "" },
        part.operations,
        new TreeState(),
        get,
        how,
      );
      ids.push(id);
    }
    this.#options.warn?.(
      `${paths.length} files of this directory are not in the store, which has lost changes or never got these: ${someOf(paths)}. The directory is now what the store has; undo ${ids.join(", ")} to get them back`,
    );
  }

  /** Makes the copy what the log says, with later entries. If that takes long, it continues after the answer. */
  async fill(): Promise<void> {
    const operations = await this.#copy.unapplied(this.state);
    const { waitForFiles = 500, info, warn } = this.#options;
    const { copy, state } = { copy: this.#copy, state: this.state };
    const filling = new Filling(operations, { copy, state, info, warn, apply: part => this.#fetch(part) });
    if (operations.length <= waitForFiles) {
      await filling.done;
      return await this.#question.answered(); // however long it takes to apply what is missing
    }
    info?.(`fetching ${operations.length} files; single files can be read meanwhile`);
    this.#filling = filling;
    this.#firstFiles = new FirstFiles(this.#store, this.id, this.#copy, state, this.#revision);
    // Nothing else is done before: what others have published is applied to a whole copy.
    this.#turns
      .take(() => filling.done)
      .then(
        () => {
          this.#filling = undefined;
          this.#firstFiles = undefined;
        },
        error => this.#options.warn?.(`the files could not be fetched: ${errorText(error)}`),
      );
  }

  /** Reads what it was forked from, without touching files. */
  async replayOrigin(origin: Origin | undefined): Promise<void> {
    if (origin !== undefined) await readOrigin(this.#store, origin, this.state);
  }

  /** Reads the log up to a revision without touching files. */
  async replay(until: Revision): Promise<void> {
    this.#replaying = true;
    for await (const entry of entriesUntil(this.#store, this.id, this.#revision, until))
      this.#advance(bodyOf(entry).operations, entry.id);
    this.#replaying = false;
  }

  /** The same for entries that are in the history of this machine: the directory has them already. */
  async replayKnown(until: Revision): Promise<void> {
    for await (const entry of entriesUntil(this.#store, this.id, this.#revision, until)) {
      if (this.#copy.workspace.archive.changes.get(entry.id) === undefined) return;
      this.#advance(bodyOf(entry).operations, entry.id);
    }
  }

  async refresh(effect: "reads" | "writes", files: readonly (readonly string[])[] = []): Promise<void> {
    const filling = this.#filling;
    if (filling !== undefined) {
      if (effect === "reads" && (await this.#firstFiles?.have(filling, files))) return;
      if (filling.stuck !== undefined) throw filling.stuck;
      await filling.done;
    }
    if (effect === "writes" && this.#options.durability !== "local") return this.#question.answered();
    await this.#refreshSoon();
    if (effect === "writes" && this.#reach.cause !== undefined) throw this.#reach.cause;
  }

  async #refreshSoon(): Promise<void> {
    const isStoreLost = Fault.is(this.#reach.cause, "store_unavailable");
    if (isStoreLost || this.#reach.ageMs < (this.#options.trustMs ?? 0)) return;
    const asked = this.#question.answered().catch(error => {
      if (!this.#reach.isLost) throw error;
    });
    await orTooLate(asked, patienceMs, () =>
      this.#isDown(new Fault("store_unavailable", { reason: "unreachable", detail: "no answer" })),
    );
  }

  /** Asks for the revision, and applies what is missing. */
  async #catchUp(): Promise<void> {
    const began = clock();
    const [known, head, wasLost] = [this.#revision, this.#head, this.#reach.isLost];
    try {
      const info = await this.#store.info(this.id);
      if (info === undefined || info.dropped !== undefined)
        throw new Fault("store_unavailable", { reason: "invalid", detail: "the workspace was dropped" });
      this.#growth.note(info.bytes);
      if (info.revision > this.#revision || this.#isBroken) await this.#turns.take(() => this.#pull());
      this.#assertReached(info.revision, known);
      if (wasLost && known > 0) {
        const [last] = await this.#store.entries(this.id, known - 1, 1);
        this.#assertSame(last, head);
      }
      this.#reach.answered(began);
      this.#reach.isUp();
      this.#goOn();
    } catch (error) {
      const fault = faultOf(error, this.root);
      // What this machine cannot take just now, it takes later.
      if (fault instanceof Fault && !isDisagreement(fault) && !this.#closed) this.#reach.isDown(fault);
      throw fault;
    }
  }

  /** Publishes what has waited for the store. */
  #goOn(): void {
    const unpublished = this.#unpublished;
    this.#unpublished = undefined;
    if (unpublished !== undefined) void this.#publishLate(unpublished);
    else if (isOutOfReach(this.#sendFault)) this.#sendSoon();
  }

  async #publishLate(by: By): Promise<void> {
    const isIdle = () => this.#commands.count === 0;
    try {
      await this.sent();
      await this.#turns.take(async () => {
        await this.#publishPendingNow();
        // Without what a command has done that began meanwhile: that is its own change.
        if (isIdle()) await this.#publishChanges(by, { own: isIdle });
      });
      if (isIdle()) return this.#nothingIsLeft();
    } catch (error) {
      this.#notPublished(error);
      if (Fault.is(error, "history_full")) return; // the next command publishes it, if there is room then
    }
    this.#unpublished ??= by;
  }

  #isDown(error: unknown): void {
    if (this.#closed || !Fault.is(error, "store_unavailable")) return;
    if (refusesChanges(error)) this.#reach.refuses(error);
    else this.#reach.isDown(error);
  }

  /** Calls `action` when everything has ended. */
  onClose(action: () => void): void {
    this.#onClose = action;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    this.#unsubscribe();
    try {
      await this.sent();
      if (this.#unpublished === undefined && !this.#unsent.mixed) this.#unsent.forget();
    } catch (error) {
      this.#options.warn?.(
        `answered changes are not in the store (${errorText(error)}); the next start with this directory sends them`,
      );
    }
    this.#closed = true;
    clearTimeout(this.#again);
    this.#reach.stop();
    this.#filling?.stop();
    await this.#turns.take(async () => {});
    this.#onClose();
    this.#onClose = () => {};
  }
}

function someOf(paths: readonly string[]): string {
  return paths.slice(0, mostNamed).join(", ") + (paths.length > mostNamed ? ", …" : "");
}

function pathsOf(operations: readonly Operation[]): string[] {
  return operations.flatMap(one => ("from" in one ? [one.from, one.at] : [one.at]));
}
