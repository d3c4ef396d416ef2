// Sends one body after the other to a collector. A body that the collector cannot accept is retried a few times and
// then dropped, which is logged once until a later one arrives. Calls never wait for this.
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { version } from "../../version.ts";
import type { ExportTarget } from "./settings.ts";

const compress = promisify(gzip);
const attempts = 4;
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** What is read of an answer before the connection is closed. */
const mostAnswered = 64 * 1024;
const worthAnotherTry = new Set([408, 429, 502, 503, 504]);

interface CollectorReply {
  /** Zero where there was none. */
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly problem: string;
}

export class Sender {
  readonly #target: ExportTarget;
  readonly #warn: (problem: string) => void;
  readonly #agent: HttpAgent;
  #failed = false;
  /** Set when the process ends: no pauses any more. */
  #closing = false;
  #wake = () => {};

  constructor(target: ExportTarget, warn: (problem: string) => void) {
    this.#target = target;
    this.#warn = warn;
    const options = { keepAlive: true, maxSockets: 1 };
    this.#agent = target.url.protocol === "https:" ? new HttpsAgent(options) : new HttpAgent(options);
  }

  /** Resolves when the body has arrived or was given up. Never rejects. */
  async send(body: string): Promise<void> {
    const bytes = this.#target.gzip ? await compress(body) : Buffer.from(body);
    for (let attempt = 1; ; attempt++) {
      const { status, retryAfter, problem } = await this.#post(bytes);
      if (status >= 200 && status < 300) {
        this.#failed = false;
        return;
      }
      const again = status === 0 || worthAnotherTry.has(status);
      if (!again || attempt >= attempts || this.#closing) return this.#giveUp(problem);
      await this.#pause(pauseMs(attempt, retryAfter));
    }
  }

  /** No more pauses: what is under way has its last try. */
  close(): void {
    this.#closing = true;
    this.#wake();
  }

  /** Lets go of the connection. */
  end(): void {
    this.#agent.destroy();
  }

  #post(bytes: Buffer): Promise<CollectorReply> {
    const { url, headers, timeoutMs, gzip: gzipped } = this.#target;
    const request = url.protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise(resolve => {
      const failed = (error: unknown) =>
        resolve({ status: 0, retryAfter: undefined, problem: error instanceof Error ? error.message : "" });
      try {
        const sent = request(url, {
          method: "POST",
          agent: this.#agent,
          signal: AbortSignal.timeout(timeoutMs),
          headers: {
            "user-agent": `polyfs/${version}`,
            ...headers,
            "content-type": "application/json",
            "content-length": bytes.length,
            ...(gzipped && { "content-encoding": "gzip" }),
          },
        });
        sent.on("error", failed);
        // A collector that hangs must not keep a process alive that has nothing else to do.
        sent.on("socket", socket => socket.unref());
        sent.on("response", (response: IncomingMessage) => {
          const answered = () =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfter: response.headers["retry-after"],
              problem: `status ${response.statusCode}`,
            });
          response.on("error", failed).on("end", answered);
          let left = mostAnswered;
          response.on("data", (chunk: Buffer) => {
            left -= chunk.length;
            if (left >= 0) return;
            answered(); // its status counts; the rest is not read
            response.destroy();
          });
        });
        sent.end(bytes);
      } catch (error) {
        failed(error);
      }
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #giveUp(problem: string): void {
    if (!this.#failed) this.#warn(`telemetry could not be sent to ${this.#target.url.host}: ${problem}`);
    this.#failed = true;
  }
}

function pauseMs(attempt: number, retryAfter: string | undefined): number {
  const asked = Number(retryAfter) * 1000;
  const ms = asked > 0 ? asked : firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
  return Math.min(ms, longestPauseMs);
}
