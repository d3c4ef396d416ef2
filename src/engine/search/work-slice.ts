// Long work on one thread: lets the event loop in every few milliseconds, so that pings are answered and
// cancellations arrive, and knows when time is up.
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";
import { nextTurn } from "../turn.ts";

const stretchMs = 8;

export interface WorkLimits {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export class WorkSlice {
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  #pauseAt: number;
  #calls = 0;

  constructor({ signal, timeoutMs = Number.POSITIVE_INFINITY }: WorkLimits) {
    this.#signal = signal;
    const now = clock();
    this.#deadline = now + timeoutMs;
    this.#pauseAt = now + stretchMs;
    this.check();
  }

  get isOver(): boolean {
    return clock() >= this.#deadline;
  }

  /** Milliseconds that are left. */
  get left(): number {
    return this.#deadline - clock();
  }

  /** True when it is time to `rest`. Cheap enough to ask for every entry. */
  get isDue(): boolean {
    return (++this.#calls & 31) === 0 && this.isDueNow;
  }

  /** The same for less frequent checks. */
  get isDueNow(): boolean {
    return clock() >= this.#pauseAt;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.check();
    this.#pauseAt = clock() + stretchMs;
  }

  check(): void {
    if (this.#signal?.aborted) throw new Fault("cancelled", {});
  }
}
