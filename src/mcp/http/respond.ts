// Writes the SDK's response to the client, with backpressure, and with keep-alive comments if it takes long. A client
// that does not read for a minute is disconnected.
import type { ServerResponse } from "node:http";

const stalledMs = 60_000;

interface RespondOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the client takes a stream. */
  readonly streams: boolean;
  readonly keepAliveMs: number;
}

export async function respond(
  response: ServerResponse,
  answer: Promise<Response>,
  { headers, streams, keepAliveMs }: RespondOptions,
): Promise<void> {
  const pace = streams ? new KeepAlive(response, headers, keepAliveMs) : undefined;
  let given: Response;
  try {
    given = await answer;
  } finally {
    pace?.stop();
  }
  if (response.destroyed) return void (await given.body?.cancel());
  if (pace?.begun) return await continueStream(response, given);
  response.writeHead(given.status, { ...Object.fromEntries(given.headers), ...headers });
  // A stream without an event yet must still be seen to be open.
  response.flushHeaders();
  await copy(given, response);
  response.end();
}

/** Makes a stream of an answer that does not come. */
class KeepAlive {
  begun = false;
  readonly #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, everyMs: number) {
    this.#timer = setInterval(() => {
      if (response.destroyed) return;
      if (!this.begun) {
        this.begun = true;
        response.writeHead(200, {
          "content-type": "text/event-stream",
          "cache-control": "no-cache, no-transform",
          "x-accel-buffering": "no",
          ...headers,
        });
      }
      response.write(": keepalive\n\n");
    }, everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function continueStream(response: ServerResponse, given: Response): Promise<void> {
  if (given.headers.get("content-type")?.startsWith("text/event-stream")) await copy(given, response);
  else {
    const message = await given.text();
    if (message !== "") response.write(`event: message\ndata: ${message}\n\n`);
  }
  response.end();
}

async function copy({ body }: Response, response: ServerResponse): Promise<void> {
  if (body === null) return;
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  response.once("close", stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || response.destroyed) return;
      if (!response.write(value) && !(await drained(response))) return;
    }
  } finally {
    response.off("close", stop);
  }
}

/** Whether the client went on reading. */
export async function drained(response: ServerResponse): Promise<boolean> {
  return await new Promise<boolean>(resolve => {
    const settle = (goesOn: boolean) => {
      clearTimeout(timer);
      response.off("drain", go).off("close", stop);
      resolve(goesOn);
    };
    const go = () => settle(true);
    const stop = () => settle(false);
    const timer = setTimeout(() => {
      response.destroy();
      stop();
    }, stalledMs);
    response.once("drain", go).once("close", stop);
  });
}
