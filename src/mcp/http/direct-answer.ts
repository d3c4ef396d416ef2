// Writes the response to a call that bypasses the SDK: a JSON object or, in a session and after a notification, an event
// stream. The format matches the SDK's.
import type { ServerResponse } from "node:http";
import { jsonPieces } from "../../engine/text/json-pieces.ts";
import { type Frame, frameLength, wholeText } from "../jsonrpc.ts";
import { drained } from "./respond.ts";

const large = 65_536;

interface DirectAnswerOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** The session, which makes every answer a stream. */
  readonly session?: string | undefined;
  readonly keepAliveMs: number;
}

export class DirectAnswer implements Disposable {
  readonly #response: ServerResponse;
  readonly #options: DirectAnswerOptions;
  readonly #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, options: DirectAnswerOptions) {
    this.#response = response;
    this.#options = options;
    this.#timer = setInterval(() => this.#write(": keepalive\n\n"), options.keepAliveMs);
  }

  notify(frame: Frame): void {
    this.#write(eventOf(wholeText(frame)));
  }

  /** Ends the response, with no message if there is no frame. A stream always has status 200. */
  async end(frame: Frame | undefined, status: number): Promise<void> {
    clearInterval(this.#timer);
    const response = this.#response;
    if (response.destroyed) return;
    const streams = response.headersSent || this.#options.session !== undefined;
    if (frame !== undefined && frameLength(frame) >= large) return await this.#endInPieces(frame, streams);
    const text = frame === undefined ? "" : wholeText(frame);
    const body = streams && frame !== undefined ? eventOf(text) : text;
    // As one text of known length it goes out together with the head, in one write.
    if (streams || frame === undefined) this.#begin(body);
    else
      response.writeHead(status, {
        ...jsonType,
        "content-length": Buffer.byteLength(body),
        ...this.#options.headers,
      });
    response.end(body);
  }

  async #endInPieces(frame: Frame, streams: boolean): Promise<void> {
    const response = this.#response;
    if (streams) this.#write(eventStart);
    else response.writeHead(200, { ...jsonType, ...this.#options.headers });
    for (const part of frame)
      for (const piece of typeof part === "string" ? [part] : jsonPieces(part.text)) {
        // A piece is good only until the next one is made.
        const taken = response.write(typeof piece === "string" ? piece : Buffer.from(piece));
        if (!taken && !(await drained(response))) return;
      }
    response.end(streams ? eventEnd : undefined);
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#begin();
    this.#response.write(text);
  }

  /** `body` is all that follows, if that is known. */
  #begin(body?: string): void {
    if (this.#response.headersSent) return;
    const { session, headers } = this.#options;
    this.#response.writeHead(200, {
      ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
      "cache-control": "no-cache, no-transform",
      connection: "keep-alive",
      "content-type": "text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
      "x-accel-buffering": "no",
      ...headers,
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const jsonType = { "content-type": "application/json" };
const eventStart = "event: message\ndata: ";
const eventEnd = "\n\n";

function eventOf(text: string): string {
  return eventStart + text + eventEnd;
}
