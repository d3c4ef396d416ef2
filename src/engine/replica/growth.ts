// How much a workspace holds in the store, and how fast that grows.
import { clock } from "../clock.ts";

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

const hourMs = 3_600_000;
/** One sample is kept for each of these. */
const sampleMs = 60_000;

export class Growth {
  readonly #samples: Sample[] = [];
  now = 0;

  note(bytes: number): void {
    this.now = bytes;
    const at = clock();
    const last = this.#samples.at(-1);
    if (last !== undefined && at - last.at < sampleMs) return;
    this.#samples.push({ at, bytes });
    while ((this.#samples[1]?.at ?? at) <= at - hourMs) this.#samples.shift();
  }

  /** Over the last hour, or since the start where that is later. */
  get perHour(): number {
    const [first] = this.#samples;
    if (first === undefined) return 0;
    const elapsed = Math.max(clock() - first.at, sampleMs);
    return Math.round(((this.now - first.bytes) * hourMs) / elapsed);
  }
}
