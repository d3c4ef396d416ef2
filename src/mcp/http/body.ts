// The body of a request: bounded per request and in total, until the request is answered, and parsed once. A body over
// the limit is refused as soon as that is known. Where all bodies together are over theirs, callers that hold more than
// an equal share are refused: one that sends slowly must not keep others out.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { JsonShape } from "../json-shape.ts";
import { maxBatch, ParseError } from "../jsonrpc.ts";
import { Refusal } from "./refusal.ts";

export interface Body {
  readonly message: unknown;
  readonly bytes: number;
}

/** How many bodies of the largest size there may be at once. A call takes several times the memory of its body. */
const atOnce = 2;
/** From here on a body counts until its request is answered, because the call holds its content. */
const leastHeld = 1024 * 1024;

export class Bodies {
  readonly #limit: number;
  /** Bytes that are held, of all requests, and by caller. */
  #held = 0;
  readonly #byCaller = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  async read(request: IncomingMessage, response: ServerResponse, caller: string): Promise<Body> {
    const length = Number(request.headers["content-length"]);
    if (length > this.#limit) throw this.#tooLarge();
    const chunks: Buffer[] = [];
    const shape = new JsonShape();
    let bytes = 0;
    const release = () => this.#hold(caller, -bytes);
    try {
      const take = (chunk: Buffer) => {
        bytes += chunk.length;
        this.#hold(caller, chunk.length);
        if (bytes > this.#limit) throw this.#tooLarge();
        if (this.#isOverShare(caller)) {
          throw new Refusal(503, "Too much is being sent at once; try again", {
            headers: { "retry-after": "1", connection: "close" },
          });
        }
        const problem = shape.take(chunk);
        if (problem !== undefined) throw unreadable(problem, { connection: "close" });
        chunks.push(chunk);
      };
      // A small body arrives together with its head. To take it at once costs a fraction of an iterator.
      const whole: Buffer | null = request.readableLength === length ? request.read() : null;
      if (whole !== null) {
        take(whole);
        request.resume(); // to its end
        return { message: parse(whole), bytes };
      }
      // A refused request stays open: its connection is needed for the answer.
      for await (const chunk of request.iterator({ destroyOnReturn: false })) take(chunk);
      return { message: parse(Buffer.concat(chunks, bytes)), bytes };
    } finally {
      if (bytes < leastHeld || response.closed) release();
      else response.once("close", release);
    }
  }

  #hold(caller: string, bytes: number): void {
    this.#held += bytes;
    const now = (this.#byCaller.get(caller) ?? 0) + bytes;
    if (now === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, now);
  }

  #isOverShare(caller: string): boolean {
    const most = this.#limit * atOnce;
    return this.#held > most && (this.#byCaller.get(caller) ?? 0) > most / this.#byCaller.size;
  }

  #tooLarge(): Refusal {
    return new Refusal(413, `Payload too large: a request may have up to ${this.#limit} bytes`, {
      headers: { connection: "close" },
    });
  }
}

function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw unreadable("not valid UTF-8");
  let message: unknown;
  try {
    message = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw unreadable("not valid JSON");
  }
  if (Array.isArray(message) && message.length > maxBatch)
    throw unreadable(`a batch of more than ${maxBatch} messages`);
  return message;
}

function unreadable(problem: string, headers: Readonly<Record<string, string>> = {}): Refusal {
  return new Refusal(400, `Parse error: the body is ${problem}`, { code: ParseError, headers });
}
