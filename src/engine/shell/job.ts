// One background command. Its output is kept in a ring buffer, both streams in order of arrival; a reader that was
// away too long learns how much it missed.
import { clock } from "../clock.ts";
import { wholeCharacters } from "./capture.ts";
import { Command, type CommandOptions } from "./command.ts";
import { Ring } from "./ring.ts";
import type { WardenExit } from "./warden.ts";

export interface JobOptions extends CommandOptions {
  /** Default: no bound but the owner's life. */
  readonly timeoutMs?: number;
  /** Called once: when it has ended, or could not be started. */
  readonly onEnd?: () => void;
}

/** How long output must pause before a waiting reader is answered, and the longest wait for such a pause, in ms. */
const quiet = 300;
const longestSettling = 1500;

/** What stopped a job, if it did not end by itself. */
export type Stopped = "timeout" | "request" | "disk_full" | undefined;

export interface JobState {
  readonly id: string;
  readonly command: string;
  readonly started: Date;
  /** Absent while it runs. */
  readonly exit?: WardenExit & { readonly stopped: Stopped };
  /** All bytes that it has written, both streams in the order in which they came. */
  readonly bytes: number;
}

export interface JobOutput {
  readonly text: string;
  /** Offset of `text`: later than requested if the requested part is no longer kept. */
  readonly offset: number;
  /** Offset to continue from. */
  readonly next: number;
  readonly state: JobState;
}

export interface OutputOptions {
  /** How long to wait for output beyond the offset, and for what follows it at once. Default: not at all. */
  readonly waitMs?: number;
  /** The most bytes to return. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}

export class Job {
  readonly #id: string;
  readonly #line: string;
  readonly #started = new Date();
  readonly #ring: Ring;
  readonly #readers = new Set<() => void>();
  #command: Command | undefined;
  #stopped: Stopped;
  #exit: JobState["exit"];

  private constructor(id: string, line: string, outputBytes: number) {
    this.#id = id;
    this.#line = line;
    this.#ring = new Ring(outputBytes);
  }

  static async start(id: string, line: string, options: JobOptions, outputBytes: number): Promise<Job> {
    const job = new Job(id, line, outputBytes);
    const command = await Command.start(line, { ...options, merged: true }, chunk => {
      job.#ring.push(chunk);
      job.#wake();
    });
    job.#command = command;
    const timer =
      options.timeoutMs === undefined
        ? undefined
        : setTimeout(() => job.#end("timeout", 2000), options.timeoutMs);
    const finish = (exit: WardenExit) => {
      clearTimeout(timer);
      job.#exit = { ...exit, stopped: command.ranOutOfSpace ? "disk_full" : job.#stopped };
      job.#wake();
      options.onEnd?.();
    };
    // A sandbox that failed to begin has said why on the command's own output.
    command.done.then(finish, () => finish({ exitCode: 126, signal: null }));
    return job;
  }

  state(): JobState {
    const state = { id: this.#id, command: this.#line, started: this.#started, bytes: this.#ring.total };
    return this.#exit === undefined ? state : { ...state, exit: this.#exit };
  }

  async output(from: number, { waitMs = 0, limit, signal }: OutputOptions): Promise<JobOutput> {
    if (waitMs > 0) await this.#wait(from, { waitMs, limit, ...(signal && { signal }) });
    const offset = Math.min(Math.max(from, this.#ring.first), this.#ring.total);
    const bytes = this.#ring.read(offset, limit);
    // The rest of a character may still arrive; if it does not, the incomplete one is shown with a mark.
    const whole = wholeCharacters(bytes);
    const length =
      whole > 0 && (this.#exit === undefined || offset + bytes.length < this.#ring.total)
        ? whole
        : bytes.length;
    return { text: bytes.toString("utf8", 0, length), offset, next: offset + length, state: this.state() };
  }

  /** Output that comes in pieces, and the end that follows the last one, are one answer. */
  async #wait(from: number, { waitMs = 0, limit, signal }: OutputOptions): Promise<void> {
    const end = clock() + waitMs;
    await this.#until(() => this.#ring.total > from, waitMs, signal);
    const settled = Math.min(end, clock() + longestSettling);
    for (let seen = -1; seen !== this.#ring.total && clock() < settled; ) {
      seen = this.#ring.total;
      if (seen - from >= limit) return;
      await this.#until(() => this.#ring.total > seen, Math.min(quiet, settled - clock()), signal);
    }
  }

  async stop(graceMs: number): Promise<JobState> {
    await this.#end("request", graceMs);
    await this.#until(() => false, 5000);
    return this.state();
  }

  async #end(reason: Stopped, graceMs: number): Promise<void> {
    if (this.#exit !== undefined || this.#command === undefined) return;
    if (!this.#command.hasExited) this.#stopped ??= reason;
    await this.#command.stop(graceMs);
  }

  /** Waits until `enough`, the end, the timeout, or cancellation. */
  async #until(enough: () => boolean, ms: number, signal?: AbortSignal): Promise<void> {
    if (enough() || this.#exit !== undefined || signal?.aborted) return;
    await new Promise<void>(resolve => {
      const wake = () => {
        if (enough() || this.#exit !== undefined) done();
      };
      const done = () => {
        clearTimeout(timer);
        this.#readers.delete(wake);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#readers.add(wake);
      signal?.addEventListener("abort", done);
    });
  }

  #wake(): void {
    for (const wake of this.#readers) wake();
  }
}
