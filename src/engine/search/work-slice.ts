// Long work on one thread: lets the event loop in every few milliseconds, so that pings are answered and
// cancellations arrive, and knows when time is up.
import { clock } from "../clock.ts";
import { Fault } from "../fault.ts";

const stretchMs = 8;

/** Paused work. One resumes in each turn of the event loop, so that many slices do not add up. */
const resting: (() => void)[] = [];

function turn(): void {
  resting.shift()?.();
  if (resting.length > 0) setImmediate(turn);
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (resting.push(resolve) === 1) setImmediate(turn);
  });
}

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
