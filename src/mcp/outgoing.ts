// Requests that we send to the client (legacy era only: the modern one has no such channel), and their answers.
import { type Frame, type Id, isRecord, requestFrame } from "./jsonrpc.ts";

interface PendingRequest {
  readonly timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Outgoing {
  readonly #send: (frame: Frame) => void;
  readonly #waiting = new Map<Id, PendingRequest>();
  #count = 0;
  #closed = false;

  constructor(send: (frame: Frame) => void) {
    this.#send = send;
  }

  /** Sends a request to the client. Rejects with its error, on timeout, and when it disconnects. */
  request(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error("the client is gone"));
    const id = String(++this.#count);
    return new Promise((resolve, reject) => {
      const giveUp = () => this.#take(id)?.reject(new Error(`no answer within ${timeoutMs} ms`));
      this.#waiting.set(id, { timer: setTimeout(giveUp, timeoutMs).unref(), resolve, reject });
      this.#send(requestFrame(id, method, params));
    });
  }

  /** Takes an answer; a late or unexpected one is dropped. */
  answered(id: Id, result: unknown, error: unknown): void {
    const waiting = this.#take(id);
    if (error === undefined) waiting?.resolve(result);
    else
      waiting?.reject(
        new Error(isRecord(error) ? String(error.message) : "the client answered with an error"),
      );
  }

  close(): void {
    this.#closed = true;
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(new Error("the client is gone"));
  }

  #take(id: Id): PendingRequest | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting !== undefined) clearTimeout(waiting.timer);
    return waiting;
  }
}
