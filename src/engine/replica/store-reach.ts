// Whether the copy follows the log: the store can be reached and has what it had, and this machine can take what is
// there. While it does not, polyfs keeps retrying, and knows why and how old the copy is.
import { setTimeout } from "node:timers/promises";
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { errorText } from "./store-faults.ts";

const probeMs = 500;

export class StoreReach {
  readonly #ask: () => Promise<void>;
  readonly #warn: ((message: string) => void) | undefined;
  /** When the store last said that nothing was missing. */
  #fresh = clock();
  #stopped = false;
  #probing = false;
  #cause: Fault | undefined;
  /** Why the store takes no changes, where it answers questions. */
  #refusal: Fault | undefined;

  /** `ask` reports its result through `isUp` and `isDown`. */
  constructor(ask: () => Promise<void>, warn: ((message: string) => void) | undefined) {
    this.#ask = ask;
    this.#warn = warn;
  }

  /** Why the copy does not follow the log: `store_unavailable`, or a fault of this machine. */
  get cause(): Fault | undefined {
    return this.#cause;
  }

  get isLost(): boolean {
    return this.#cause !== undefined;
  }

  /** Since the last answer. */
  get ageMs(): number {
    return clock() - this.#fresh;
  }

  /** The same where the copy does not follow the log; otherwise undefined. */
  get staleMs(): number | undefined {
    return this.isLost ? this.ageMs : undefined;
  }

  /** A question that was asked at this time has been answered. */
  answered(asked: number): void {
    this.#fresh = asked;
  }

  /** The store has taken a change, or would have. That says nothing about what it has lost, or what this machine cannot take. */
  answers(): void {
    if (this.#refusal !== undefined) this.#warn?.("the store takes changes again");
    this.#refusal = undefined;
    const isOther = this.#cause !== undefined && !Fault.is(this.#cause, "store_unavailable");
    if (!isOther && reasonOf(this.#cause) !== "damaged") this.isUp();
  }

  isUp(): void {
    const cause = this.#cause;
    this.#cause = undefined;
    if (cause === undefined) return;
    const isStore = Fault.is(cause, "store_unavailable");
    this.#warn?.(isStore ? "the store can be reached again" : "this copy is up to date again");
  }

  isDown(fault: Fault): void {
    if (this.#stopped) return;
    const before = this.#cause;
    this.#cause = fault;
    if (before?.code === fault.code && reasonOf(before) === reasonOf(fault)) return;
    this.#warn?.(
      Fault.is(fault, "store_unavailable")
        ? `the store cannot be used (${errorText(fault)}); reads continue`
        : `what others have changed cannot be written here (${errorText(fault)}); reads continue, and polyfs tries again`,
    );
    if (!this.#probing) void this.#probe();
  }

  /** The store answers, and takes no change. Whether it can be asked is for the next question to find out. */
  refuses(fault: Fault): void {
    const before = this.#refusal;
    this.#refusal = fault;
    if (reasonOf(before) !== reasonOf(fault))
      this.#warn?.(`the store takes no changes (${errorText(fault)}); reads continue`);
  }

  stop(): void {
    this.#stopped = true;
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    while (this.isLost && !this.#stopped) {
      await setTimeout(probeMs, undefined, { ref: false });
      if (this.isLost && !this.#stopped) await this.#ask().catch(() => {});
    }
    this.#probing = false;
  }
}

function reasonOf(fault: Fault | undefined): string | undefined {
  return Fault.is(fault, "store_unavailable") ? fault.data.reason : undefined;
}
