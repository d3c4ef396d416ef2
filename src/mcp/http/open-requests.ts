// The requests in progress: tracks disconnects, ended grants, and the number per caller.
import type { ServerResponse } from "node:http";
import type { Principal } from "../auth/principal.ts";
import { Refusal } from "./refusal.ts";

/** Requests of one caller that are running, waiting, or not read yet. */
const mostOfOne = 256;

export class OpenRequest {
  /** The scheduling key: the caller or, if callers are not identified, the connection. */
  readonly line: string;
  readonly #response: ServerResponse;
  readonly #onEndless: (request: OpenRequest) => void;
  #controller: AbortController | undefined;
  readonly #onAbort: (() => void)[] = [];
  /** The client has gone away, its grant has ended, or the server ends. */
  aborted = false;

  constructor(line: string, response: ServerResponse, onEndless: (request: OpenRequest) => void) {
    this.line = line;
    this.#response = response;
    this.#onEndless = onEndless;
  }

  /** Created on first access: creating one costs a third of a small call. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    this.aborted = true;
    this.#controller?.abort();
    for (const listener of this.#onAbort.splice(0)) listener();
  }

  /** Calls `listener` when it is aborted, which it is not yet. */
  onAbort(listener: () => void): void {
    this.#onAbort.push(listener);
  }

  /** It ends when its client no longer wants it. */
  endless(): void {
    this.#onEndless(this);
  }

  /** Calls `listener` when the answer is sent or the client is gone. */
  onEnd(listener: () => void): void {
    if (this.#response.closed) listener();
    else this.#response.once("close", listener);
  }
}

export class OpenRequests {
  readonly #open = new Set<OpenRequest>();
  /** Those that end by themselves. */
  readonly #finite = new Set<OpenRequest>();
  readonly #lines = new Map<string, number>();
  #idle: (() => void)[] = [];

  /** Counts a request until its answer is sent. Throws if there are too many, or the client has left meanwhile. */
  enter(response: ServerResponse, principal: Principal, line: string): OpenRequest {
    // It would be counted forever: a response closes once.
    if (response.closed) throw new Refusal(499, "The client has closed the connection");
    const before = this.#lines.get(line) ?? 0;
    if (before >= mostOfOne) {
      throw new Refusal(429, `Too many requests at once: up to ${mostOfOne}`, {
        headers: { "retry-after": "1" },
      });
    }
    this.#lines.set(line, before + 1);
    const request = new OpenRequest(line, response, one => this.#finish(one));
    const unwatch = principal.onEnd(() => request.abort());
    this.#open.add(request);
    this.#finite.add(request);
    response.once("close", () => {
      unwatch();
      // Not after an answer: aborting a finished call costs more than a small call.
      if (!response.writableFinished) request.abort();
      const now = (this.#lines.get(line) ?? 1) - 1;
      if (now === 0) this.#lines.delete(line);
      else this.#lines.set(line, now);
      this.#open.delete(request);
      this.#finish(request);
    });
    return request;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Resolves when all finite requests have ended. */
  async idle(): Promise<void> {
    if (this.#finite.size > 0) await new Promise<void>(resolve => this.#idle.push(resolve));
  }

  abort(): void {
    for (const request of this.#open) request.abort();
  }

  #finish(request: OpenRequest): void {
    this.#finite.delete(request);
    if (this.#finite.size === 0) for (const wake of this.#idle.splice(0)) wake();
  }
}
