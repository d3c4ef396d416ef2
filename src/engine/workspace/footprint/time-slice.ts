// Keeps a long loop from blocking the event loop: after some milliseconds of work it lets everything else run.
import { setImmediate } from "node:timers/promises";
import { clock } from "../../clock.ts";

const sliceMs = 8;

export class TimeSlice {
  #began = clock();

  /** Whether it is time to call `turn`. Asking is cheap. */
  get isOver(): boolean {
    return clock() - this.#began > sliceMs;
  }

  /** Lets the event loop turn once. */
  async turn(): Promise<void> {
    await setImmediate();
    this.#began = clock();
  }
}
