// Writes the response to a call that bypasses the SDK: a JSON object or, in a session and after a notification, an event
// stream. The format matches the SDK's.
import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
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
    this.#write(eventStart + wholeText(frame) + eventEnd);
  }

  /** Ends the response, with no message if there is no frame. A stream always has status 200. */
  async end(frame: Frame | undefined, status: number): Promise<void> {
    clearInterval(this.#timer);
    const response = this.#response;
    if (response.destroyed) return;
    const streams = response.headersSent || this.#options.session !== undefined;
    if (frame !== undefined && frameLength(frame) >= large) return await this.#endInPieces(frame, streams);
    const text = frame === undefined ? "" : wholeText(frame);
    const body = streams && frame !== undefined ? eventStart + text + eventEnd : text;
    const bytes = Buffer.byteLength(body);
    // As one text of known length it goes out together with the head, in one write.
    if (streams || frame === undefined) this.#begin(bytes);
    else response.writeHead(status, this.#headers({ ...jsonType, "content-length": bytes }));
    response.end(body, bytes === body.length ? "latin1" : "utf8"); // Node copies ASCII quicker than it encodes it
  }

  async #endInPieces(frame: Frame, streams: boolean): Promise<void> {
    const response = this.#response;
    if (streams) this.#write(eventStart);
    else response.writeHead(200, this.#headers({ ...jsonType }));
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

  /** `bytes` is the length of all that follows, if that is known. */
  #begin(bytes?: number): void {
    if (this.#response.headersSent) return;
    const { session } = this.#options;
    const all: OutgoingHttpHeaders = { ...streamType };
    if (bytes !== undefined) all["content-length"] = bytes;
    if (session !== undefined) all["mcp-session-id"] = session;
    this.#response.writeHead(200, this.#headers(all));
  }

  #headers(own: OutgoingHttpHeaders): OutgoingHttpHeaders {
    return Object.assign(own, this.#options.headers);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

const jsonType = { "content-type": "application/json" };
const streamType = {
  "cache-control": "no-cache, no-transform",
  connection: "keep-alive",
  "content-type": "text/event-stream",
  "x-accel-buffering": "no",
};
const eventStart = "event: message\ndata: ";
const eventEnd = "\n\n";
