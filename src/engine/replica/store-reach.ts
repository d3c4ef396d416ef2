// Whether the store can be reached, and how old the local copy is. While it cannot be reached, polyfs keeps retrying.
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";

const probeMs = 500;

export class StoreReach {
  readonly #ask: () => Promise<void>;
  readonly #warn: ((message: string) => void) | undefined;
  /** When the store last said that nothing was missing. */
  #fresh = clock();
  #stopped = false;
  isLost = false;

  /** `ask` reports its result through `isUp` and `isDown`. */
  constructor(ask: () => Promise<void>, warn: ((message: string) => void) | undefined) {
    this.#ask = ask;
    this.#warn = warn;
  }

  /** Since the last answer. */
  get ageMs(): number {
    return clock() - this.#fresh;
  }

  /** The same where the store cannot be reached; otherwise undefined. */
  get staleMs(): number | undefined {
    return this.isLost ? this.ageMs : undefined;
  }

  /** A question that was asked at this time has been answered. */
  answered(asked: number): void {
    this.#fresh = asked;
  }

  isUp(): void {
    if (this.isLost) this.#warn?.("the store can be reached again");
    this.isLost = false;
  }

  isDown(error: unknown): void {
    if (this.isLost || this.#stopped || !Fault.is(error, "store_unavailable")) return;
    this.isLost = true;
    this.#warn?.(`the store cannot be used (${error.data.reason}: ${error.data.detail}); reads continue`);
    void this.#probe();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #probe(): Promise<void> {
    while (this.isLost && !this.#stopped) {
      await setTimeout(probeMs, undefined, { ref: false });
      if (this.isLost && !this.#stopped) await this.#ask().catch(() => {});
    }
  }
}
