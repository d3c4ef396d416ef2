// A search by ripgrep that may begin before it is known whether it is needed. Starting it takes a few milliseconds;
// they are not lost where the search in this process turns out to be the longer way. It holds a turn as long as it
// lives.
import { Fault } from "../fault.ts";
import { turn } from "./concurrency.ts";
import type { RipgrepRun } from "./ripgrep-run.ts";
import type { WorkSlice } from "./work-slice.ts";

const momentMs = 2;
const moments = 5;

export class EarlyStart implements Disposable {
  readonly #launch: (signal: AbortSignal) => Promise<RipgrepRun>;
  readonly #slice: WorkSlice;
  readonly #signal: AbortSignal | undefined;
  #run: Promise<RipgrepRun> | undefined;
  #turn: Disposable | undefined;
  #over: AbortController | undefined;

  constructor(
    launch: (signal: AbortSignal) => Promise<RipgrepRun>,
    slice: WorkSlice,
    signal: AbortSignal | undefined,
  ) {
    this.#launch = launch;
    this.#slice = slice;
    this.#signal = signal;
  }

  get hasBegun(): boolean {
    return this.#run !== undefined;
  }

  /** Starts the run if it has not started, and gives it a moment. Failures are reported when the run is requested. */
  async begin(): Promise<void> {
    if (this.hasBegun) return;
    this.run().catch(() => {});
    await this.#slice.rest();
  }

  /** Tells within moments whether there are many hits, or the run does not start at all. */
  async isAmple(): Promise<boolean> {
    const run = await this.run().catch(() => undefined);
    for (let i = 0; i < moments && run?.isAmple === false; i++)
      await new Promise(resolve => setTimeout(resolve, momentMs));
    this.#slice.check();
    return run?.isAmple ?? true;
  }

  run(): Promise<RipgrepRun> {
    this.#run ??= this.#begun();
    return this.#run;
  }

  async #begun(): Promise<RipgrepRun> {
    this.#over = new AbortController();
    const { signal: over } = this.#over;
    const signal = this.#signal === undefined ? over : AbortSignal.any([this.#signal, over]);
    const held = await turn(this.#slice.left, signal);
    if (signal.aborted) {
      held[Symbol.dispose]();
      throw new Fault("cancelled", {});
    }
    this.#turn = held;
    return await this.#launch(signal);
  }

  [Symbol.dispose](): void {
    this.#over?.abort("over"); // creating an error that no caller reads would take longer
    this.#run?.then(
      run => run.kill(),
      () => {},
    );
    this.#turn?.[Symbol.dispose]();
  }
}
