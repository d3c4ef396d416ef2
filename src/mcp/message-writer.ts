// Writes messages to a stream, one per line. Messages sent in one turn go out in one write. A large message is
// written in pieces, each made when the stream has taken the previous one, so little of it is in memory; later
// messages wait behind it. `pending` is the number of unread bytes; the reader of requests uses it for backpressure.
import type { Writable } from "node:stream";
import { memoryBudget } from "../engine/memory-budget.ts";
import { jsonPieces, longestBorrowed } from "../engine/text/json-pieces.ts";
import { type Frame, frameLength, wholeText } from "./jsonrpc.ts";

const large = 32_768;

interface MessageWriterOptions {
  /**
   * That of one of the process's own streams, if its public `write` was replaced. When it calls back the system has the
   * bytes, and their memory is free.
   */
  readonly write?: Writable["write"] | undefined;
  /** Called before messages leave. */
  readonly before?: (() => void) | undefined;
}

export class MessageWriter {
  readonly #stream: Writable;
  readonly #write: Writable["write"];
  #batch = "";
  #scheduled = false;
  #gone = false;
  /** Messages that are being written, or wait behind one that is. */
  readonly #waiting: Frame[] = [];
  #pieces: Generator<string | Buffer, void, undefined> | undefined;
  /** Callbacks for when everything is written. */
  readonly #behind: (() => void)[] = [];
  #listener = () => {};
  readonly #reuses: boolean;
  readonly #before: () => void;
  #spare = Buffer.alloc(0);

  constructor(stream: Writable, onGone: () => void, { write, before = () => {} }: MessageWriterOptions = {}) {
    this.#stream = stream;
    this.#write = write ?? stream.write.bind(stream);
    this.#reuses = write !== undefined;
    this.#before = before;
    stream.on("error", () => {
      if (this.#gone) return;
      this.#gone = true;
      for (const frame of this.#waiting.splice(0)) memoryBudget.answerRead(frameLength(frame));
      onGone();
    });
    stream.on("drain", () => this.#listener());
  }

  /** Whether the client reads no more. */
  get isGone(): boolean {
    return this.#gone;
  }

  /** How much is waiting to be read by the client, in bytes or nearly so. */
  get pending(): number {
    let waiting = 0;
    for (const frame of this.#waiting) waiting += frameLength(frame);
    return this.#stream.writableLength + this.#batch.length + waiting;
  }

  send(frame: Frame): void {
    if (this.#gone) return;
    if (this.#pieces !== undefined) {
      this.#before();
      this.#wait(frame);
    } else if (frameLength(frame) < large) {
      this.#batch += `${wholeText(frame)}\n`;
      if (this.#batch.length >= large) this.#flush();
      else this.#schedule();
    } else {
      this.#flush();
      this.#before();
      this.#wait(frame);
      this.#pieces = pieces(this.#waiting);
      this.#pump();
    }
  }

  #wait(frame: Frame): void {
    this.#waiting.push(frame);
    memoryBudget.answer(frameLength(frame));
  }

  /** Calls back when the stream has taken all pending bytes. */
  onDrain(listener: () => void): void {
    this.#listener = listener;
  }

  /** Resolves when everything is written, or the reader is gone. */
  async finished(): Promise<void> {
    this.#flush();
    if (this.#gone) return;
    await new Promise<void>(resolve => {
      this.#stream.once("error", () => resolve());
      const end = () => this.#write("", () => resolve());
      if (this.#pieces === undefined) end();
      else this.#behind.push(end);
    });
  }

  /** Writes the next pending piece; again when the stream has taken it. */
  #pump(): void {
    if (this.#pieces === undefined || this.#gone) return;
    const { done, value } = this.#pieces.next();
    if (!done) {
      this.#write(typeof value === "string" ? value : this.#copied(value), error => {
        if (!error) this.#pump();
      });
      return;
    }
    this.#pieces = undefined;
    for (const next of this.#behind.splice(0)) next();
    this.#listener();
  }

  /** A piece in its own memory: reused if the stream is known to be done with the previous one. */
  #copied(piece: Buffer): Buffer {
    if (piece.length > longestBorrowed) return piece;
    if (!this.#reuses) return Buffer.from(piece);
    if (this.#spare.length < piece.length) this.#spare = Buffer.allocUnsafeSlow(piece.length);
    piece.copy(this.#spare);
    return this.#spare.subarray(0, piece.length);
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
    this.#before();
    this.#write(batch);
  }
}

/** The messages of a list, in pieces; the list may grow in between. */
function* pieces(waiting: Frame[]): Generator<string | Buffer, void, undefined> {
  for (let frame = waiting[0]; frame !== undefined; frame = waiting[0]) {
    if (frameLength(frame) < large) yield wholeText(frame);
    else {
      for (const part of frame) {
        if (typeof part !== "string") yield* jsonPieces(part.text);
        else yield part.length < large ? part : Buffer.from(part);
      }
    }
    yield "\n";
    waiting.shift();
    memoryBudget.answerRead(frameLength(frame));
  }
}
