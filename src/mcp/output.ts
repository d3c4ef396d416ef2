// Writes messages to a stream, a line each. What is sent without waiting in between goes out in one write; the
// parts of a large message go out as they are, so that none of it is copied to make it one string. The stream
// queues what the client is slow to read: `pending` tells how much, and the reader of requests waits by it.
import type { Writable } from "node:stream";
import type { Frame } from "./jsonrpc.ts";

const large = 32_768;

export class Output {
  readonly #stream: Writable;
  readonly #write: Writable["write"];
  #batch = "";
  #scheduled = false;
  #gone = false;

  /** `write` is the stream's own, for a stream whose `write` has been taken away from everybody else. */
  constructor(stream: Writable, onGone: () => void, write: Writable["write"] = stream.write.bind(stream)) {
    this.#stream = stream;
    this.#write = write;
    stream.on("error", () => {
      if (this.#gone) return;
      this.#gone = true;
      onGone();
    });
  }

  /** How much is waiting to be read by the client, in bytes or nearly so. */
  get pending(): number {
    return this.#stream.writableLength + this.#batch.length;
  }

  send(frame: Frame): void {
    if (this.#gone) return;
    if (frame.every(part => part.length < large)) {
      for (const part of frame) this.#batch += part;
      this.#batch += "\n";
      if (this.#batch.length >= large) this.#flush();
      else this.#schedule();
      return;
    }
    this.#stream.cork();
    this.#flush();
    for (const part of frame) this.#write(Buffer.from(part));
    this.#write("\n");
    this.#stream.uncork();
  }

  /** Calls back when the stream has taken what was waiting. */
  onDrain(listener: () => void): void {
    this.#stream.on("drain", listener);
  }

  /** Settles when everything is written, or nobody is there to read it. */
  async finished(): Promise<void> {
    this.#flush();
    if (this.#gone) return;
    await new Promise<void>(resolve => {
      this.#stream.once("error", () => resolve());
      this.#write("", () => resolve());
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#batch === "" || this.#gone) return;
    const batch = this.#batch;
    this.#batch = "";
    this.#write(batch);
  }
}
