// Publishes what the directory holds and the log does not. Everything here happens in turn.
import { Fault } from "../fault.ts";
import type { By } from "../workspace/archive/log.ts";
import { Behind, type OwnPaths } from "../workspace/commit/publication.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { under } from "../workspace/root.ts";
import { entryParts } from "./entry-parts.ts";
import type { EntrySender, PublishedHere } from "./entry-sender.ts";
import type { LogFollower } from "./log-follower.ts";
import { attempts, type ReplicaContext } from "./replica-context.ts";

interface PublishedDifference extends PublishedHere {
  /** Only this. */
  readonly own?: OwnPaths | undefined;
}

export class CopyDifference {
  readonly #context: ReplicaContext;
  readonly #sender: EntrySender;
  readonly #follower: LogFollower;

  constructor(context: ReplicaContext, sender: EntrySender, follower: LogFollower) {
    this.#context = context;
    this.#sender = sender;
    this.#follower = follower;
  }

  /** The id of the first entry, if there is one. */
  async publish(by: By, what: PublishedDifference = {}): Promise<string | undefined> {
    await this.#follower.pull();
    for (let round = 1; ; round++) {
      try {
        return await this.publishNow(by, what);
      } catch (error) {
        if (!(error instanceof Behind) || round >= attempts) throw error;
      }
      await this.#follower.pullMissed();
    }
  }

  /** The same as the log is known here. Rejects with `Behind` where others were faster. */
  async publishNow(by: By, { own, complete, ...how }: PublishedDifference = {}): Promise<string | undefined> {
    const { copy, head, waiting, root } = this.#context;
    let id = how.id && (await this.#sender.sendAgain(how.id, how.maxBytes));
    const isNamed = how.id !== undefined && waiting.used(how.id) === undefined;
    if (!isNamed) await this.#sender.sendUnanswered();
    const sent = waiting.used(how.id);
    const isOwn = ({ at }: Operation) => !sent?.has(at) && (own === undefined || own(under(root, at)));
    const operations = (await copy.files.unpublished(head.state)).filter(isOwn);
    if (operations.length === 0 && complete === undefined) return id;
    for (const part of entryParts(operations)) {
      const isComplete = complete === undefined ? undefined : part.last;
      const free = waiting.used(how.id) === undefined ? how.id : undefined;
      const published = await this.#sender.publishHere(part.operations, by, {
        ...how,
        id: free,
        complete: isComplete,
      });
      if (free !== undefined) waiting.noteUsed(free, part.operations);
      id ??= published;
    }
    return id;
  }

  /**
   * What a program has written into the files of a change goes first, as a change of its own: on every machine, undoing
   * the one leaves the other. Where one command runs, it is that command's.
   */
  async publishBefore({ operations, bases }: Publication, maxBytes?: number): Promise<void> {
    const { copy, head, commands } = this.#context;
    const unpublished = () => copy.files.unpublishedIn(operations, head.state, bases);
    let before = await unpublished();
    // Otherwise, what the store does not take of other files must not stop this change.
    if (before.length > 0 && (await this.#sender.sendUnanswered())) before = await unpublished();
    if (before.length === 0) return;
    const author = commands.soleAuthor;
    for (const part of entryParts(before)) {
      const id = await this.#sender.publishHere(part.operations, author, { maxBytes });
      commands.notePublished(id, author);
    }
  }

  /**
   * Changes of commands that the store did not take when they ended. They come before any other change: one of the same
   * files would take their lines along, without their author.
   */
  async publishWaiting(): Promise<void> {
    const { waiting, commands } = this.#context;
    for (const [id, { by, own, maxBytes }] of waiting.all) {
      try {
        await this.publish(commands.withOthers(by), { maxBytes, own: own?.has, id });
      } catch (error) {
        // What does not fit is not tried again.
        if (!Fault.is(error, "history_full")) throw error;
      }
      if (waiting.used(id) === undefined) commands.tellOnlyHere(id);
      waiting.delete(id);
    }
  }
}
