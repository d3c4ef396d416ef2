// Keeps a long loop from blocking the event loop: after some milliseconds of work it lets everything else run.
import { clock } from "../../clock.ts";
import { nextTurn } from "../../turn.ts";

const sliceMs = 8;

export class TimeSlice {
  #began = clock();

  /** Whether it is time to call `turn`. Asking is cheap. */
  get isOver(): boolean {
    return clock() - this.#began > sliceMs;
  }

  /** Lets the event loop turn once. */
  async turn(): Promise<void> {
    await nextTurn();
    this.#began = clock();
  }
}

/**
 * Does something for each of many, and lets everything else run in between. A single one is done at once, however slow
 * the machine: calls that come one after the other keep their order.
 */
export async function inSlices<T>(all: readonly T[], action: (one: T) => unknown): Promise<void> {
  const slice = new TimeSlice();
  let isFirst = true;
  for (const one of all) {
    if (!isFirst && slice.isOver) await slice.turn();
    isFirst = false;
    action(one);
  }
}

/** Work that pauses now and then. */
export type Steps<T> = Generator<void, T, undefined>;

/** Does such work at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same, and everything else runs in between. */
export async function gently<T>(steps: Steps<T>): Promise<T> {
  const slice = new TimeSlice();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (slice.isOver) await slice.turn();
  }
}
