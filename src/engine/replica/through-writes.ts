// Changes of tools that are answered when they are in the store: staged and compared here, appended, then done here.
import { setTimeout } from "node:timers/promises";
import { Fault } from "../fault.ts";
import { Behind } from "../workspace/commit/publication.ts";
import type { Publication, Publish } from "../workspace/commit/publish.ts";
import { without } from "./publication-of.ts";
import { attempts, isOfStore } from "./replica-context.ts";
import type { ReplicaParts } from "./replica-parts.ts";

export class ThroughWrites {
  readonly #parts: ReplicaParts;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** See `Replication.write`. In turn. */
  async write<T>(attempt: (publish: Publish) => Promise<T>, maxBytes?: number): Promise<T> {
    const { head, commands, root } = this.#parts.context;
    if (this.#parts.follower.isBroken) await this.#parts.follower.pull();
    await this.#parts.difference.publishWaiting().catch(error => {
      if (isOfStore(error)) throw error; // which would not take this change either
    });
    for (let round = 1; ; round++) {
      const published: Publication[] = [];
      try {
        const result = await attempt(async publication => {
          // A program has changed a file since the first was sent. What comes out differently is the program's.
          const rest = published.length > 0 ? this.#ofOthers(without(publication, published)) : publication;
          if (rest !== publication && rest.operations.length === 0) return;
          if (published.length === 0) await this.#parts.difference.publishBefore(rest, maxBytes);
          this.#parts.follower.note(rest);
          await this.#parts.sender.publish(rest, undefined, maxBytes, head.revision + published.length);
          published.push(rest);
          commands.notePublished(rest.id, rest.by);
        });
        for (const one of published) this.#parts.follower.done(one);
        return result;
      } catch (error) {
        if (published.length > 0) throw await this.#notApplied(published, error);
        if (!(error instanceof Behind)) throw error;
        if (round >= attempts) throw new Fault("changed_meanwhile", { path: root });
      }
      await this.#parts.follower.pullMissed();
      if (round > 2) await setTimeout(Math.random() * Math.min(200, 10 * round)); // a hot log: do not all hurry
    }
  }

  #ofOthers(publication: Publication): Publication {
    return { ...publication, id: this.#parts.context.newId(), by: this.#parts.context.commands.soleAuthor };
  }

  /**
   * For changes that are in the log, but whose commit failed here. A caller that took the failure for a refusal would
   * make the changes a second time. The changes come with the log: now, or the next time it is read.
   */
  async #notApplied(published: readonly Publication[], cause: unknown): Promise<Fault> {
    await this.#parts.follower.pull().catch(() => void this.#parts.context.ask().catch(() => {}));
    const paths = published.flatMap(({ operations }) => operations.map(({ at }) => at));
    return new Fault("not_applied", { paths: [...new Set(paths)] }, { cause });
  }
}
