// Changes of tools with local durability: answered when they are on this machine, and sent to the store behind that, one
// after the other.
import { Fault } from "../fault.ts";
import { Behind } from "../workspace/commit/publication.ts";
import type { Publication, Publish } from "../workspace/commit/publish.ts";
import { attempts } from "./replica-context.ts";
import type { ReplicaParts } from "./replica-parts.ts";
import { errorText, historyFull, isOutOfReach, refusesChanges } from "./store-faults.ts";
import { Turns } from "./turns.ts";

export class AnsweredChanges {
  readonly #parts: ReplicaParts;
  /** Beside what happens in turn. */
  readonly #sending = new Turns();
  /** Why they could not be sent. */
  #sendFault: Fault | undefined;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** See `Replication.write`. */
  async write<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T> {
    const { unsent, turns, growth } = this.#parts.context;
    if (this.#sendFault !== undefined || unsent.isFull) await this.sent();
    if (maxBytes !== undefined && growth.now >= maxBytes) throw historyFull(maxBytes, growth.now);
    return await turns.take(() => this.#writeHere(attempt));
  }

  async #writeHere<T>(attempt: (publish: Publish) => Promise<T>): Promise<T> {
    const { unsent, head } = this.#parts.context;
    if (this.#parts.follower.isBroken) await this.#parts.follower.pull();
    let made: Publication | undefined;
    const result = await attempt(async publication => {
      unsent.expect(head.place);
      made = publication;
    });
    if (made !== undefined) {
      unsent.add(made);
      this.#sendSoon();
    }
    return result;
  }

  /** Sends what the store did not take. */
  goOn(): void {
    if (isOutOfReach(this.#sendFault)) this.#sendSoon();
  }

  #sendSoon(): void {
    const before = this.#sendFault && errorText(this.#sendFault);
    this.sent().catch(error => {
      if (!this.#parts.context.isClosed && errorText(error) !== before)
        this.#parts.context.warn(`changes are not in the store yet: ${errorText(error)}`);
    });
  }

  /** Resolves when everything that was answered is in the store. Faults: `store_unavailable`. Not in turn. */
  sent(): Promise<void> {
    return this.#parts.context.unsent.isEmpty ? Promise.resolve() : this.#sending.take(() => this.#send());
  }

  async #send(): Promise<void> {
    const { unsent, turns } = this.#parts.context;
    try {
      for (let round = 1; !this.#parts.context.isClosed; ) {
        const next = unsent.first;
        if (next === undefined) break;
        try {
          if (unsent.mixed) await turns.take(() => this.#sendDifference(next));
          else await this.#sendNext(next);
        } catch (error) {
          if (!(error instanceof Behind) || round++ >= attempts) throw error;
          await turns.take(() => this.#parts.follower.pullMissed());
        }
      }
      this.#sendFault = undefined;
    } catch (error) {
      if (error instanceof Fault) this.#sendFault = error;
      if (isOutOfReach(error)) this.#parts.context.isDown(error);
      if (refusesChanges(error)) this.#parts.context.tryAgainSoon();
      throw error;
    }
  }

  /** Writes go on while the store is asked. */
  async #sendNext(next: Publication): Promise<void> {
    const { head, unsent, turns } = this.#parts.context;
    const { revision } = head;
    await this.#parts.sender.publish(next);
    await turns.take(async () => {
      // A look at the log may have found it already.
      if (head.revision === revision) head.advance(next.operations, next.id);
      if (unsent.first === next) unsent.sent();
    });
  }

  async #sendDifference({ by }: Publication): Promise<void> {
    await this.#parts.difference.publishNow(by);
    this.#parts.context.unsent.allSent();
  }
}
