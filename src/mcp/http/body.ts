// The body of a request: bounded per request and in total, and parsed once. A body over the limit is refused as soon
// as that is known.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { JsonShape } from "../json-shape.ts";
import { maxBatch, ParseError } from "../jsonrpc.ts";
import { Refusal } from "./refusal.ts";

export interface Body {
  readonly message: unknown;
  readonly bytes: number;
}

/** How many bodies of the largest size may be on their way at once. */
const atOnce = 4;

export class Bodies {
  readonly #limit: number;
  /** Bytes that are held, of all requests. */
  #held = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  async read(request: IncomingMessage): Promise<Body> {
    if (Number(request.headers["content-length"]) > this.#limit) throw this.#tooLarge();
    const chunks: Buffer[] = [];
    const shape = new JsonShape();
    let bytes = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#held += chunk.length;
        if (bytes > this.#limit) throw this.#tooLarge();
        if (this.#held > this.#limit * atOnce) {
          throw new Refusal(503, "Too much is being sent at once; try again", {
            headers: { "retry-after": "1", connection: "close" },
          });
        }
        const problem = shape.take(chunk);
        if (problem !== undefined) throw unreadable(problem, { connection: "close" });
        chunks.push(chunk);
      }
      return { message: parse(Buffer.concat(chunks, bytes)), bytes };
    } finally {
      this.#held -= bytes;
    }
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
