// Publishes what commands change: when they end, or when the store can be used again.
import { Fault } from "../fault.ts";
import type { By } from "../workspace/archive/log.ts";
import type { OwnChange, OwnPaths } from "../workspace/commit/publication.ts";
import type { AnsweredChanges } from "./answered-changes.ts";
import { type CommandHere, severalAuthors, unknownAuthor } from "./commands-here.ts";
import type { CopyDifference } from "./copy-difference.ts";
import { isOfStore, type ReplicaContext } from "./replica-context.ts";
import { errorText } from "./store-faults.ts";
import type { PendingChange } from "./waiting-changes.ts";

export class CommandChanges {
  readonly #context: ReplicaContext;
  readonly #difference: CopyDifference;
  readonly #answered: AnsweredChanges;
  /** Commands have changed files while the store could not be reached. */
  #unpublished: By | undefined;

  constructor(context: ReplicaContext, difference: CopyDifference, answered: AnsweredChanges) {
    this.#context = context;
    this.#difference = difference;
    this.#answered = answered;
  }

  /** See `Replication.publishChanges`. */
  async publish(by: By, maxBytes?: number, change?: OwnChange): Promise<string | undefined> {
    const { commands, turns, waiting } = this.#context;
    const command = commands.of(by);
    if (command !== undefined && change !== undefined) command.isSeparate = change.own !== undefined;
    const { id } = change ?? {};
    const own = waiting.follow(change?.own);
    try {
      await this.#answered.sent();
      const made = await turns.take(async () => {
        await this.#difference.publishWaiting();
        if (change === undefined && command?.isSeparate) return await this.#publishRest(command, maxBytes);
        const all = { maxBytes, own: own?.has, id };
        const published = await this.#difference.publish(commands.withOthers(by), all);
        if (own === undefined) this.#nothingIsLeft();
        return published;
      });
      const known = id !== undefined && waiting.forgetUsed(id) ? id : (made ?? command?.published);
      if (id !== undefined && known === undefined) commands.tellOnlyHere(id);
      return known;
    } catch (error) {
      // What does not fit is not tried again: the next command publishes it, if there is room then.
      if (!Fault.is(error, "history_full")) this.#publishLater(id, { by, own, maxBytes });
      else if (id !== undefined && !waiting.forgetUsed(id)) commands.tellOnlyHere(id);
      this.#notPublished(error);
      throw error;
    } finally {
      waiting.unfollow(own);
    }
  }

  /**
   * The rest is the work of commands that still run, and published with that. But where others have changed a file since,
   * it may as well be this one's: so the answer waits for that, and it is published without an author.
   */
  async #publishRest(command: CommandHere, maxBytes: number | undefined): Promise<string | undefined> {
    const { commands } = this.#context;
    const isAlone = () => commands.count === 1;
    const author = isAlone() ? command.by : severalAuthors;
    const pulled: OwnPaths = path => command.pulled.has(path);
    const made = await this.#difference.publish(author, { maxBytes, own: pulled });
    if (author === severalAuthors && made !== undefined && commands.count === 2)
      for (const one of commands) one.published ??= made;
    if (!isAlone()) return made;
    // It was there before the command, or a background command has made it meanwhile.
    await this.#difference.publish(unknownAuthor, { maxBytes, own: isAlone });
    if (isAlone()) this.#nothingIsLeft();
    return made;
  }

  #notPublished(error: unknown): void {
    if (isOfStore(error)) this.#context.tryAgainSoon();
    this.#context.isDown(error);
  }

  #nothingIsLeft(): void {
    const { unsent, options } = this.#context;
    this.#unpublished = undefined;
    unsent.commandsWait = false;
    if (options.durability === "local") return; // a change may just be happening here that is sent later
    unsent.mixed = false;
    unsent.forget();
  }

  /** The next start does it if this process ends before. */
  #publishLater(id: string | undefined, change: PendingChange): void {
    const { unsent, head, waiting } = this.#context;
    unsent.commandsWait = true;
    try {
      unsent.expect(head.place);
    } catch (error) {
      this.#context.warn(`the next start will not send the changes of commands: ${errorText(error)}`);
    }
    if (id !== undefined) waiting.set(id, change);
    const { by } = change;
    const earlier = this.#unpublished;
    const isOnly = earlier === undefined || earlier.connection === by.connection;
    this.#unpublished = isOnly ? by : unknownAuthor;
  }

  /** Publishes what has waited for the store, behind the caller. False if nothing has. */
  goOn(): boolean {
    const unpublished = this.#unpublished;
    this.#unpublished = undefined;
    if (unpublished !== undefined) void this.#publishLate(unpublished);
    return unpublished !== undefined;
  }

  async #publishLate(by: By): Promise<void> {
    const { commands, turns, unsent } = this.#context;
    const isIdle = () => commands.count === 0;
    /** A command that has ended meanwhile may have published everything. */
    const isDone = () => this.#context.isClosed || !unsent.commandsWait;
    try {
      await this.#answered.sent();
      await turns.take(async () => {
        if (isDone()) return;
        await this.#difference.publishWaiting();
        // Without what a command has done that began meanwhile: that is its own change.
        if (isIdle()) await this.#difference.publish(by, { own: isIdle });
      });
      if (isDone()) return;
      if (isIdle()) return this.#nothingIsLeft();
    } catch (error) {
      this.#notPublished(error);
      if (Fault.is(error, "history_full")) return; // the next command publishes it, if there is room then
    }
    this.#unpublished ??= by;
  }
}
