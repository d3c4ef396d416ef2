// What a command writes, on its way to a listener: one chunk after the other, no faster than the listener takes
// them, and not for longer than somebody has something to say.
import type { Buffer } from "node:buffer";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { OutputListener, OutputStream } from "./stream.ts";

/** A child that keeps the output open is listened to until it was silent for this long, … */
const silenceMs = 40;
/** … and this many times at most. */
const maxSilences = 25;

export class OutputPump {
  readonly #child: ChildProcess;
  readonly #listen: OutputListener;
  readonly #failed: () => void;
  readonly #closed: Promise<true>;
  /** What the listener has not yet dealt with. */
  #queue: Promise<void> | undefined;
  #chunks = 0;
  #failure: unknown;
  #complaint = "";

  /** `failed` is called when the listener has failed: what is written would be lost. */
  constructor(child: ChildProcess, listen: OutputListener, failed: () => void) {
    this.#child = child;
    this.#listen = listen;
    this.#failed = failed;
    this.#closed = once(child, "close").then(() => true);
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk, "stdout"));
    child.stderr?.on("data", (chunk: Buffer) => this.#hear(chunk, "stderr"));
  }

  /** The beginning of what was written, where that is a complaint. */
  get complaint(): string {
    return this.#complaint;
  }

  /** When all has been heard, or what still holds the output open has been silent. Throws what the listener threw. */
  async end(): Promise<void> {
    for (let i = 0, heard = -1; i < maxSilences && heard !== this.#chunks; i++) {
      heard = this.#chunks;
      await this.#queue;
      if (await Promise.race([this.#closed, setTimeout(silenceMs, false)])) break;
      // What has come while the loop was busy is delivered before this goes on.
      await setImmediate();
    }
    await this.#queue;
    this.#turnAway();
    if (this.#failure !== undefined) throw this.#failure;
  }

  #hear(chunk: Buffer, stream: OutputStream): void {
    this.#chunks++;
    if (stream === "stderr" && this.#chunks === 1) this.#complaint = chunk.toString("utf8", 0, 1000);
    try {
      const taken =
        this.#queue === undefined
          ? this.#listen(chunk, stream)
          : this.#queue.then(() => this.#listen(chunk, stream));
      if (taken !== undefined) this.#waitFor(taken, stream);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Nothing more is read meanwhile, so memory does not grow with what is written. */
  #waitFor(taken: Promise<void>, stream: OutputStream): void {
    this.#child[stream]?.pause();
    const queue = taken
      .catch(error => this.#fail(error))
      .then(() => {
        if (this.#queue !== queue) return;
        this.#queue = undefined;
        this.#child.stdout?.resume();
        this.#child.stderr?.resume();
      });
    this.#queue = queue;
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#failed();
  }

  /** Who still writes writes to nobody: closing the pipe would kill a server that was left to run. */
  #turnAway(): void {
    for (const stream of this.#child.stdio) {
      if (!stream || stream.destroyed || !("resume" in stream)) continue;
      stream.removeAllListeners("data");
      stream.resume();
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    }
  }
}
