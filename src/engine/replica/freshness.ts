// How old the copy is: a read asks for the revision first, and applies what is missing.
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { faultOf } from "../workspace/errno.ts";
import { isDisagreement } from "./local-copy.ts";
import type { LogFollower } from "./log-follower.ts";
import type { ReplicaContext } from "./replica-context.ts";
import type { ReplicaStart } from "./replica-start.ts";
import { orTooLate } from "./too-late.ts";
import { SharedQuestion } from "./turns.ts";

/** How long a read waits for a store that does not answer. Afterwards reads do not wait until it is back. */
const patienceMs = 1500;

export class Freshness {
  readonly #context: ReplicaContext;
  readonly #follower: LogFollower;
  readonly #start: ReplicaStart;
  /** The store has answered: what waits for it can be sent. */
  readonly #goOn: () => void;
  readonly #question = new SharedQuestion(() => this.#catchUp());

  constructor(context: ReplicaContext, follower: LogFollower, start: ReplicaStart, goOn: () => void) {
    this.#context = context;
    this.#follower = follower;
    this.#start = start;
    this.#goOn = goOn;
  }

  /** See `Replication.refresh`. */
  async refresh(effect: "reads" | "writes", files: readonly (readonly string[])[] = []): Promise<void> {
    const { options, reach } = this.#context;
    const filling = this.#start.filling;
    if (filling !== undefined) {
      if (effect === "reads" && (await this.#start.firstFiles?.have(filling, files))) return;
      if (filling.stuck !== undefined) throw filling.stuck;
      await filling.done;
    }
    if (effect === "writes" && options.durability !== "local") return this.ask();
    await this.#refreshSoon();
    if (effect === "writes" && reach.cause !== undefined) throw reach.cause;
  }

  /** Asks for the revision, and applies what is missing. */
  ask(): Promise<void> {
    return this.#question.answered();
  }

  async #refreshSoon(): Promise<void> {
    const { options, reach } = this.#context;
    const isStoreLost = Fault.is(reach.cause, "store_unavailable");
    if (isStoreLost || reach.ageMs < (options.trustMs ?? 0)) return;
    const asked = this.ask().catch(error => {
      if (!reach.isLost) throw error;
    });
    await orTooLate(asked, patienceMs, () =>
      this.#context.isDown(new Fault("store_unavailable", { reason: "unreachable", detail: "no answer" })),
    );
  }

  async #catchUp(): Promise<void> {
    const { store, id, root, head, reach, turns, growth } = this.#context;
    const began = clock();
    const [{ revision: known, id: last }, wasLost] = [head.place, reach.isLost];
    try {
      const info = await store.info(id);
      if (info === undefined || info.dropped !== undefined)
        throw new Fault("store_unavailable", { reason: "invalid", detail: "the workspace was dropped" });
      growth.note(info.bytes);
      if (info.revision > head.revision || this.#follower.isBroken)
        await turns.take(() => this.#follower.pull());
      this.#follower.assertReached(info.revision, known);
      if (info.last !== undefined && info.revision === known)
        this.#follower.assertSame({ id: info.last }, last);
      if (wasLost && known > 0) {
        const [entry] = await store.entries(id, known - 1, 1);
        this.#follower.assertSame(entry, last);
      }
      reach.answered(began);
      reach.isUp();
      this.#goOn();
    } catch (error) {
      const fault = faultOf(error, root);
      // What this machine cannot take just now, it takes later.
      if (fault instanceof Fault && !isDisagreement(fault) && !this.#context.isClosed) reach.isDown(fault);
      throw fault;
    }
  }
}
