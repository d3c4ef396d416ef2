// The requests in progress: tracks disconnects, ended grants, and the number per caller.
import type { ServerResponse } from "node:http";
import type { Principal } from "../auth/principal.ts";
import { Refusal } from "./refusal.ts";

/** Requests of one caller that are running, waiting, or not read yet. */
const mostOfOne = 256;

interface OpenRequest {
  readonly line: string;
  readonly signal: AbortSignal;
  /** It ends when its client does not want it any more. */
  endless(): void;
  /** Calls `listener` when the answer is sent or the client is gone. */
  onEnd(listener: () => void): void;
}

export class OpenRequests {
  readonly #open = new Set<AbortController>();
  /** Those that end by themselves. */
  readonly #finite = new Set<AbortController>();
  readonly #lines = new Map<string, number>();
  #idle: (() => void)[] = [];

  /** Counts a request until its answer is sent. Throws if there are too many. */
  enter(response: ServerResponse, principal: Principal, line: string): OpenRequest {
    const before = this.#lines.get(line) ?? 0;
    if (before >= mostOfOne) {
      throw new Refusal(429, `Too many requests at once: up to ${mostOfOne}`, {
        headers: { "retry-after": "1" },
      });
    }
    this.#lines.set(line, before + 1);
    const gone = new AbortController();
    const abort = () => gone.abort();
    const unwatch = principal.onEnd(abort);
    this.#open.add(gone);
    this.#finite.add(gone);
    response.once("close", () => {
      unwatch();
      // Not after an answer: aborting a finished call costs more than a small call.
      if (!response.writableFinished) abort();
      const now = (this.#lines.get(line) ?? 1) - 1;
      if (now === 0) this.#lines.delete(line);
      else this.#lines.set(line, now);
      this.#open.delete(gone);
      this.#finish(gone);
    });
    return {
      line,
      signal: gone.signal,
      endless: () => this.#finish(gone),
      onEnd: listener => {
        if (response.closed) listener();
        else response.once("close", listener);
      },
    };
  }

  get count(): number {
    return this.#open.size;
  }

  /** Resolves when all finite requests have ended. */
  async idle(): Promise<void> {
    if (this.#finite.size > 0) await new Promise<void>(resolve => this.#idle.push(resolve));
  }

  abort(): void {
    for (const gone of this.#open) gone.abort();
  }

  #finish(gone: AbortController): void {
    this.#finite.delete(gone);
    if (this.#finite.size === 0) for (const wake of this.#idle.splice(0)) wake();
  }
}
