// Passes a command's output to a listener: one chunk at a time, with backpressure, and no longer than there is
// output.
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
  #listen: OutputListener | undefined;
  readonly #failed: () => void;
  readonly #closed: Promise<true>;
  /** Chunks that the listener has not handled yet. */
  #queue: Promise<void> | undefined;
  #chunks = 0;
  #failure: unknown;
  #complaint = "";

  /** `failed` is called when the listener fails: further output would be lost. */
  constructor(child: ChildProcess, listen: OutputListener, failed: () => void) {
    this.#child = child;
    this.#listen = listen;
    this.#failed = failed;
    this.#closed = once(child, "close").then(() => true);
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk, "stdout"));
    child.stderr?.on("data", (chunk: Buffer) => this.#hear(chunk, "stderr"));
  }

  /** The beginning of standard error. */
  get complaint(): string {
    return this.#complaint;
  }

  /**
   * Resolves when all output was delivered, or the remaining holder of the pipe has been silent. Throws what the
   * listener threw.
   */
  async end(): Promise<void> {
    for (let i = 0, heard = -1; i < maxSilences && heard !== this.#chunks; i++) {
      heard = this.#chunks;
      await this.#queue;
      if (await Promise.race([this.#closed, setTimeout(silenceMs, false)])) break;
      // Delivers what arrived while the event loop was busy.
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
          ? this.#listen?.(chunk, stream)
          : this.#queue.then(() => this.#listen?.(chunk, stream));
      if (taken !== undefined) this.#waitFor(taken, stream);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Reading pauses in between, so memory stays bounded. */
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

  /**
   * The pipe stays open and its data is discarded: closing it would kill a server that was left running. What is to be
   * answered must not stay in memory for as long.
   */
  #turnAway(): void {
    this.#listen = undefined;
    for (const stream of this.#child.stdio) {
      if (!stream || stream.destroyed || !("resume" in stream)) continue;
      stream.removeAllListeners("data");
      stream.resume();
      if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    }
  }
}
